import Foundation
import ImmichSimulator
import ProviderKit
import TestSupport
import Testing
import Translation
import WebService

@testable import ImmichProvider

/// Tests of the session at simulated servers of each version.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct SessionTests {
    @Test(arguments: Version.allCases)
    func `every source has its photos at each version`(version: Version) async throws {
        let (fixture, server) = try SimulatedSession(version).withServer
        let photos = server.photos
        server.publish { $0.kind = "VIDEO" }
        server.publish { $0.owner = "bob" }
        let archived = server.publish { $0.isOnTimeline = false }
        let found = server.publish { $0.description = "a red bicycle" }
        let album = server.addAlbum("Alps", Array(photos[3..<40]))
        let shared = server.addAlbum("From Bob", [photos[1]]) { $0.isShared = true }
        let person = server.addPerson("Lin", [photos[5], photos[2]])
        server.addPerson("", [photos[6]])
        try await fixture.session.setLiked(photos[7], true)

        #expect(try await fixture.walk("all") == [found.id] + photos)
        #expect(try await fixture.walk("likes") == [photos[7]])
        #expect(try await fixture.walk("album:\(album.id)") == Array(photos[3..<40]))
        #expect(try await fixture.walk("album:\(shared.id)") == [photos[1]])
        #expect(try await fixture.walk("person:\(person.id)") == [photos[2], photos[5]])
        #expect(try await fixture.walk("search:red bicycle") == [found.id])
        #expect(!photos.contains(archived.id))

        let sources = try await fixture.session.sources()
        #expect(
            sources.map(\.id.text) == [
                "all", "likes", "memories", "album:\(album.id)", "album:\(shared.id)",
                "person:\(person.id)",
            ])
        #expect(sources.map(\.title.english).suffix(3) == ["Alps", "From Bob", "Lin"])
        #expect((sources[3].count, sources[3].cover) == (37, PhotoID(photos[3])))
        for source in sources { #expect(fixture.session.accepts(source.id)) }
    }

    @Test(arguments: Version.allCases)
    func `memories are the photos of today in earlier years`(version: Version) async throws {
        let (fixture, server) = try SimulatedSession(version, now: { .now }).withServer
        let today = CalendarDate(local: .now).text.dropFirst(4)
        let year = CalendarDate(local: .now).year
        let (old, recent) = (server.photos[9], server.photos[8])
        server.addMemory("\(year - 5)\(today)", [old])
        server.addMemory("\(year - 1)\(today)", [recent])
        server.addMemory("\(year - 1)-02-30", [server.photos[4]])
        #expect(try await fixture.walk("memories") == [recent, old])
    }

    @Test func `an update of the server between two calls does not change the photos`() async throws
    {
        let (fixture, server) = try SimulatedSession(.v1_117).withServer
        let album = server.addAlbum("Alps", server.photos)
        let source = "album:\(album.id)"
        let expected = server.photos
        for version in [Version.v1_117, .v1_133, .v2, .v3] {
            server.version = version
            #expect(try await !fixture.session.page(source).photos.isEmpty)
            #expect(try await fixture.walk(source) == expected)
            #expect(try await fixture.walk("all") == expected)
            #expect(try await fixture.session.fetchPhoto(expected[0]).photo.width == 640)
        }

        // A server that skips version 2.
        let other = try SimulatedSession(.v1_133)
        let skipped = other.server.addAlbum("Alps", other.server.photos)
        #expect(try await other.walk("album:\(skipped.id)") == other.server.photos)
        other.server.version = .v3
        #expect(try await other.walk("album:\(skipped.id)") == other.server.photos)
    }

    @Test(arguments: Version.allCases)
    func `a photo has its properties at each version`(version: Version) async throws {
        let fixture = try SimulatedSession(version, photoCount: 0)
        let asset = fixture.server.publish {
            ($0.created, $0.orientation) = (Moment(1_790_000_000), 6)
            ($0.fileName, $0.description) = ("Fog in the Alps.v2.JPG", "A valley\nin fog")
        }
        let remote = try await fixture.session.fetchPhoto(asset.id)
        let photo = remote.photo
        #expect(photo.created == Timestamp(secondsSince1970: 1_790_000_000))
        #expect([photo.title, photo.description] == ["Fog in the Alps.v2", "A valley\nin fog"])
        let color = ModelMapping.averageColor(thumbHash: try #require(asset.thumbHash))
        #expect((photo.color, photo.mediaType) == (color, "image/jpeg"))
        #expect((photo.width, photo.height) == (480, 640))
        #expect((photo.isLiked, remote.hasLikeState) == (false, true))
        #expect(photo.url == "\(fixture.server.url)/photos/\(asset.id)")
        #expect([photo.camera, photo.lens] == ["FUJIFILM X-T5", "XF23mmF1.4 R LM WR"])
        #expect((photo.exposureTime, photo.aperture, photo.iso) == (0.004, 5.6, 400))
        #expect(try await fixture.session.page("all").photos == [remote])
    }

    @Test(arguments: [nil, "false", "true"])
    func `photos have a place only if the user allows it`(setting: String?) async throws {
        var settings = ProviderSettings()
        settings["ShowLocation"] = setting
        let fixture = try SimulatedSession(photoCount: 0, settings: settings)
        let asset = fixture.server.publish { ($0.latitude, $0.longitude) = (46.5, 7.9) }
        let photo = try await fixture.session.fetchPhoto(asset.id).photo
        #expect(photo.latitude == (setting == "true" ? 46.5 : nil))
        #expect(photo.longitude == (setting == "true" ? 7.9 : nil))
        #expect(fixture.session.cacheVariant == (setting == "true" ? "location" : ""))
    }

    @Test(arguments: Version.allCases)
    func `images of each size and the original can be fetched`(version: Version) async throws {
        let (fixture, server) = try SimulatedSession(version, photoCount: 2).withServer
        let heic = server.publish { ($0.mediaType, $0.fileName) = ("image/heic", "IMG.HEIC") }
        let raw = server.publish { ($0.mediaType, $0.fileName) = ("image/x-canon-cr3", "IMG.CR3") }
        for id in server.photos {
            let photo = try await fixture.session.fetchPhoto(id)
            for size in [ImageSize.thumb, .regular, .full] {
                try await fixture.expectImage(try #require(photo.images[size]))
            }
            let original = try #require(fixture.session.downloadAddress(photo))
            #expect(original.hasSuffix("/api/assets/\(id)/original"))
            try await fixture.expectImage(original)
            #expect((photo.photo.mediaType == nil) == [heic.id, raw.id].contains(id))
        }
        try await fixture.expectImage(try await fixture.session.profile().avatarURL)
    }

    @Test func `likes of photos of other users and of missing photos are refused`() async throws {
        let fixture = try SimulatedSession()
        let photo = fixture.server.photos[0]
        try await fixture.session.setLiked(photo, true)
        #expect(fixture.server.likes(of: "ada") == [photo])
        #expect(try await fixture.session.fetchPhoto(photo).photo.isLiked)
        try await fixture.session.setLiked(photo, false)
        #expect(fixture.server.likes(of: "ada") == [])
        let foreign = fixture.server.publish { $0.owner = "bob" }
        for id in [foreign.id, "no-such-photo"] {
            await expectThrown(ProviderError.notFound) {
                try await fixture.session.setLiked(id, true)
            }
        }
        fixture.server.fail("PUT /api/assets", .textStatus(400, ""))
        let reason = await expectThrown(ProviderError.refused) {
            try await fixture.session.setLiked(photo, true)
        }
        #expect(reason?.english.contains("asset.update") == true)
    }

    @Test(arguments: [
        ("all", "asset.read"), ("likes", "asset.read"), ("memories", "memory.read"),
        ("search:a", "asset.read"), ("photo", "asset.read"), ("like", "asset.update"),
        ("profile", "user.read"), ("thumb", "asset.view"), ("download", "asset.download"),
        ("full", "asset.download"),
    ])
    func `an error names the missing permission`(call: String, permission: String) async throws {
        let all: Set = [
            "asset.read", "asset.view", "asset.download", "asset.update", "album.read",
            "person.read", "memory.read", "user.read", "userProfileImage.read",
        ]
        let fixture = try SimulatedSession(permissions: all)
        let id = PhotoID(fixture.server.photos[0])
        let photo = try await fixture.session.fetchPhoto(id)
        fixture.server.setPermissions(all.subtracting([permission]), of: fixture.key)
        let text = await expectThrown(ProviderError.denied) {
            switch call {
            case "photo": _ = try await fixture.session.fetchPhoto(id)
            case "like": _ = try await fixture.session.setLiked(id, true)
            case "profile": _ = try await fixture.session.profile()
            case "thumb": try await fixture.expectImage(photo.images[.thumb] ?? "")
            case "full": try await fixture.expectImage(photo.images[.full] ?? "")
            case "download":
                try await fixture.expectImage(fixture.session.downloadAddress(photo) ?? "")
            default: _ = try await fixture.session.page(call)
            }
        }
        #expect(text?.contains("lacks the permission \(permission);") == true)
    }

    @Test func `sources without permission are left out, and notices name the permissions`()
        async throws
    {
        let fixture = try SimulatedSession(permissions: ["asset.read"])
        fixture.server.addAlbum("Alps", [])
        #expect(try await fixture.session.sources().map(\.id.text) == ["all", "likes", "memories"])
        let notices = await fixture.session.finalNotices().last ?? []
        #expect(
            ["album.read", "person.read", "stack.read"].elementsEqual(notices) {
                $1.contains("lacks the permission \($0)")
            })
        #expect(try await fixture.walk("all") == fixture.server.photos)
    }

    @Test(arguments: Version.allCases)
    func `an album has the photos of all owners at each version`(version: Version) async throws {
        let (fixture, server) = try SimulatedSession(version, photoCount: 5).withServer
        let own = server.photos
        let foreign = (0..<130).map { number in
            server.publish {
                ($0.owner, $0.created) = ("bob", Moment(1_700_000_000 + number * 86_400))
            }.id
        }
        let mixed = server.addAlbum("Mixed", [own[1], own[3]] + foreign) { $0.isShared = true }
        let other = server.addAlbum("Bob", Array(foreign.prefix(10))) { $0.isShared = true }
        let photos = try await fixture.session.walk("album:\(mixed.id)")
        #expect(photos.map(\.photo.id.text) == [own[1], own[3]] + foreign.reversed())
        #expect(try await fixture.walk("album:\(other.id)") == foreign.prefix(10).reversed())
        #expect(photos.map(\.photo.author).prefix(3) == [nil, nil, "Bob"])
        // A photo of the user is the same in each source.
        #expect(try await fixture.session.page("all").photos[1] == photos[0])
        #expect(try await fixture.session.fetchPhoto(own[1]) == photos[0])
        try await fixture.expectImage(try #require(photos[5].images[.regular]))
        if version.rawValue.hasPrefix("1.") || version == .v2 {
            #expect(server.requests("GET /api/albums/*").count == 2)
        }
    }

    @Test(arguments: [Version.v2, .v3, .v3_2])
    func `only the primary photo of a stack is shown`(version: Version) async throws {
        let (fixture, server) = try SimulatedSession(version, photoCount: 3).withServer
        let plain = server.photos
        let burst = (0..<5).map { number in server.publish { $0.fileName = "\(number).jpg" }.id }
        let (raw, jpeg) = (
            server.publish { $0.mediaType = "image/x-canon-cr3" }.id, server.publish().id
        )
        server.addStack([burst[2]] + burst)
        server.addStack([jpeg, raw])
        let shown = [jpeg, burst[2]]
        #expect(try await fixture.walk("all") == shown + plain)
        let album = server.addAlbum("Burst", burst + [raw])
        #expect(try await fixture.walk("album:\(album.id)") == [raw, burst[2]])
        // A favourite is shown although it is not the primary photo.
        try await fixture.session.setLiked(burst[0], true)
        #expect(try await fixture.walk("likes") == [burst[0]])
    }

    @Test(arguments: [Version.v2, .v3, .v3_1, .v3_2])
    func `an album and a person have one photo of a stack on several pages`(version: Version)
        async throws
    {
        let (fixture, server) = try SimulatedSession(version, photoCount: 0).withServer
        let burst = (0..<30).map { _ in server.publish().id }
        server.addStack([burst[2]] + burst)
        let album = server.addAlbum("Burst", burst)
        let person = server.addPerson("Lin", burst)
        for source in ["album:\(album.id)", "person:\(person.id)"] {
            for _ in 0..<2 { #expect(try await fixture.walk(source).count == 1) }
        }
        // The primary photo does not show the person.
        let other = server.addPerson("Kim", Array(burst.suffix(5)))
        #expect(try await fixture.walk("person:\(other.id)") == [burst[29]])
    }

    @Test(arguments: [Version.v1_117, .v1_133, .v2, .v3, .v3_2])
    func `only the primary photo of a stack of a partner is shown`(version: Version) async throws {
        let (fixture, server) = try SimulatedSession(version, photoCount: 3).withServer
        server.share("bob", with: "ada")
        let own = server.photos
        func photo(_ seconds: Int) -> String {
            server.publish { ($0.owner, $0.created) = ("bob", Moment(1_700_000_000 + seconds)) }.id
        }
        let (alone, other) = (photo(90 * 86_400), photo(0))
        let burst = (1...30).map(photo)
        server.addStack([burst[2]] + burst)
        #expect(try await fixture.walk("all") == own + [alone, burst[2], other])
        #expect(server.requests("GET /api/timeline/bucket").count == 2)
        // A refresh shows a new photo at once.
        let new = photo(91 * 86_400)
        #expect(try await fixture.session.page("all").photos.map(\.photo.id.text)[3] == new)
        server.removeStacks()
        #expect(try await fixture.walk("all").count == 36)
    }

    @Test(
        arguments: ["GET /api/stacks", "GET /api/timeline/bucket"] as [RequestPattern],
        [(400, "{}"), (404, "{}"), (404, "404 page not found"), (500, "{}"), (503, "")])
    func `a failure of the stacks shows none of their other photos`(
        pattern: RequestPattern, failure: (status: Int, body: String)
    ) async throws {
        let time = Observed(Timestamp.now)
        let fault = Fault.textStatus(failure.status, failure.body)
        let fixture = try SimulatedSession(photoCount: 3, now: { time.value })
        fixture.addStacks()
        let shown = try await fixture.walk("all")
        #expect(shown.count == 5)
        time.update { $0 = $0 + .seconds(61) }
        fixture.server.fail(pattern, fault)
        #expect(try await fixture.walk("all") == shown)
        // Only a server that does not have the request shows all photos.
        let other = try SimulatedSession(photoCount: 3)
        other.addStacks()
        other.server.fail(pattern, fault)
        if failure.status < 500, failure.body == "{}" {
            #expect(try await other.walk("all").count == 9)
        } else {
            await expectThrown(ProviderError.failed) { try await other.walk("all") }
        }
    }

    @Test func `photos of partners have their names, and can be left out`() async throws {
        for setting in [nil, "true", "false"] {
            var settings = ProviderSettings()
            settings["Partners"] = setting
            let (fixture, server) = try SimulatedSession(photoCount: 30, settings: settings)
                .withServer
            server.share("bob", with: "ada")
            let own = server.photos
            let partner = (0..<30).map { _ in server.publish { $0.owner = "bob" }.id }
            let photos = try await fixture.session.walk("all")
            let expected = setting == "false" ? own : partner.reversed() + own
            #expect(photos.map(\.photo.id.text) == expected)
            #expect(photos.first?.photo.author == (setting == "false" ? nil : "Bob"))
            #expect(photos.last?.photo.author == nil)
            #expect(fixture.session.cacheVariant == (setting == "false" ? "own" : ""))
            // An album of several users is shown in full.
            let album = server.addAlbum("Both", [own[0], partner[0]])
            #expect(try await fixture.walk("album:\(album.id)").count == 2)
        }
    }

    @Test func `an update between two calls does not affect likes`() async throws {
        let fixture = try SimulatedSession(.v3_2)
        let photo = fixture.server.photos[0]
        try await fixture.session.setLiked(photo, true)
        fixture.server.version = .v4
        try await fixture.session.setLiked(photo, false)
        #expect(fixture.server.likes(of: "ada") == [])
        #expect(
            fixture.server.requests().filter { $0.path == "/api/assets" }.map(\.method)
                == ["PUT", "PUT", "PATCH"])
    }

    @Test func `an update between two calls does not affect memories and walks`() async throws {
        let (fixture, server) = try SimulatedSession(.v3_0, now: { .now }).withServer
        let today = CalendarDate(local: .now).text.dropFirst(4)
        let year = CalendarDate(local: .now).year
        server.addMemory("\(year - 1)\(today)", [server.photos[8]])
        for version in [Version.v3_0, .v3, .v3_2, .v4] {
            server.version = version
            #expect(try await fixture.walk("memories") == [server.photos[8]])
        }
        // The page token of an older version, and that of a newer one.
        let other = try SimulatedSession(.v3, photoCount: 45)
        var pages = [try await other.session.page("all")]
        for version in [Version.v3_2, .v3] {
            other.server.version = version
            pages.append(try await other.session.page("all", from: pages.last?.next))
        }
        #expect(pages.flatMap(\.photos).map(\.photo.id.text) == other.server.photos)
        // A cursor, which an older version does not have.
        let older = try SimulatedSession(.v3)
        for token in ["cursor:after-page-2", "before:1700000000/cursor:after-page-2"] {
            await #expect(throws: ProviderError.staleCursor) {
                try await older.session.page("all", from: token)
            }
        }
    }

    @Test(
        arguments: [Version.v1_133, .v2, .v3, .v3_1, .v3_2], ["all", "likes", "person", "album"])
    func `a walk has all photos although photos of earlier pages leave the source`(
        version: Version, kind: String
    ) async throws {
        let (fixture, server) = try SimulatedSession(version, photoCount: 0).withServer
        for number in 0..<250 {
            // Three photos a second, and one second with more photos than a page.
            let second = 100..<130 ~= number ? 33 : number / 3
            server.publish { $0.created = Moment(1_700_000_000 - second) }
        }
        try await expectWalk(through: kind, of: fixture)
    }

    @Test(arguments: [Version.v2, .v3, .v3_2], ["all", "likes", "album"])
    func `a walk through many photos of one second has all although earlier ones leave the source`(
        version: Version, kind: String
    ) async throws {
        let fixture = try SimulatedSession(version, photoCount: 0)
        fixture.server.photosPerPage = 1000
        for number in 0..<1_130 {
            let second = 20..<1_120 ~= number ? 20 : number
            fixture.server.publish { $0.created = Moment(1_700_000_000 - second) }
        }
        try await expectWalk(through: kind, of: fixture)
    }

    @Test(arguments: [Version.v2, .v3, .v3_2])
    func `a photo with a date after the year 9999 hides no others`(version: Version) async throws {
        let fixture = try SimulatedSession(version, photoCount: 250)
        fixture.server.photosPerPage = 1000
        // 10000-01-01.
        fixture.server.publish { $0.created = Moment(253_402_300_800) }
        #expect(try await fixture.walk("all") == fixture.server.photos)
    }

    /// Walks through a source with all photos. After each page, three photos of the earlier pages leave the source.
    private func expectWalk(through kind: String, of fixture: SimulatedSession) async throws {
        let server = fixture.server
        let photos = server.photos
        if kind == "likes" { server.addLikes(photos, of: "ada") }
        let source =
            switch kind {
            case "person": "person:\(server.addPerson("Lin", photos).id)"
            case "album": "album:\(server.addAlbum("Alps", photos).id)"
            default: kind
            }
        #expect(fixture.session.hasStablePageTokens(in: SourceID(source)))
        var found: [String] = []
        var token: String?
        repeat {
            let page = try await fixture.session.page(source, from: token)
            found += page.photos.map(\.photo.id.text)
            token = page.next
            let rest = Set(kind == "likes" ? Array(server.likes(of: "ada")) : server.photos)
            for photo in found.filter(rest.contains).suffix(3) {
                if kind == "likes" {
                    try await fixture.session.setLiked(photo, false)
                } else {
                    server.delete(photo)
                }
            }
        } while token != nil
        #expect(found == photos)
    }

    @Test func `a server without search by content reports that`() async throws {
        let fixture = try SimulatedSession()
        fixture.server.searchesByContent = false
        await expectThrown(ProviderError.notSupported) {
            try await fixture.session.page("search:fog")
        }
    }
}

extension SimulatedSession {
    /// Adds a stack of five photos of the user, and one of a partner.
    fileprivate func addStacks() {
        server.share("bob", with: "ada")
        for owner in ["ada", "bob"] {
            server.addStack((0..<5).map { _ in server.publish { $0.owner = owner }.id })
        }
    }

    /// Fetches an image with the client of the session.
    fileprivate func expectImage(_ address: String) async throws {
        let image = try await session.imageClient.downloadImage(address)
        #expect(image.status == 200, "\(address)")
        #expect(image.start == [0xff, 0xd8])
    }
}
