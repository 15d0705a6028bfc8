import Foundation
import NextcloudSimulator
import ProviderKit
import Synchronization
import TestSupport
import Testing
import WebService

@testable import NextcloudProvider

/// Tests of the session at simulated servers of each version.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct SessionTests {
    @Test(arguments: Version.allCases)
    func `every source has its photos in order at each version`(version: Version) async throws {
        let fixture = try SimulatedSession(version, path: "/nextcloud", photoCount: 250)
        let (server, session) = (fixture.server, fixture.session)
        #expect(try await fixture.walk("all") == server.photos)
        let liked = [7, 80, 240].map { server.photos[$0] }
        for id in liked.shuffled() { #expect(try await session.setLiked(id, true) == nil) }
        #expect(server.likes(of: "ada") == Set(liked))
        #expect(try await fixture.walk("likes") == liked)
        server.addAlbum("Alps & sea: 2026", Array(server.photos.prefix(30)))
        server.addAlbum("Trip (bob)", Array(server.photos.suffix(3)), isShared: true)
        let sources = try await session.sources()
        #expect(
            sources.map(\.id.text) == [
                "all", "likes", "memories", "album:Alps & sea: 2026", "shared:Trip (bob)",
            ])
        #expect((sources[3].count, sources[3].cover?.text) == (30, server.photos[0]))
        #expect(try await fixture.walk("album:Alps & sea: 2026") == Array(server.photos.prefix(30)))
        #expect(try await fixture.walk("shared:Trip (bob)") == Array(server.photos.suffix(3)))
        #expect(try await session.setLiked(liked[0], false) == nil)
        #expect(server.likes(of: "ada") == Set(liked.dropFirst()))
    }

    @Test(arguments: [Version.v31, .v28, .v27], [true, false])
    func `photos with one time are neither repeated nor skipped`(
        version: Version, isDated: Bool
    ) async throws {
        let (fixture, server) = try SimulatedSession(version, photoCount: 0).withServer
        let base = Moment(1_750_000_000)
        server.publish(1300) { number, file in
            // 700 photos have one time, the others have 6 in each second.
            file.modified = number < 700 ? base : base + (number - 1000) / 6
            file.taken = version == .v27 || !isDated ? nil : file.modified
        }
        let found = try await fixture.walk("all")
        #expect(found.count == 1300 && found == server.photos)
    }

    @Test func `files without metadata are merged by their time`() async throws {
        let (fixture, server) = try SimulatedSession(photoCount: 0).withServer
        let base = Moment(1_750_000_000)
        func addOld(_ server: SimulatedNextcloud) {
            server.publish(500) { number, file in
                (file.modified, file.taken) = (base + 10_000 + number, base + -number * 50)
            }
        }
        // 500 old photos were uploaded after 390 of 500 new files that have no metadata.
        addOld(server)
        server.publish(500) { number, file in
            file.modified = base + -number * 40
            file.taken = number < 390 ? nil : base + -number * 30
        }
        #expect(try await fixture.walk("all") == server.photos)
        server.version = .v28
        let other = try SimulatedSession(.v28, photoCount: 0)
        addOld(other.server)
        #expect(try await other.walk("all") == other.server.photos)
    }

    @Test func `a walk is not disturbed by photos that arrive or disappear`() async throws {
        let fixture = try SimulatedSession(photoCount: 400)
        let before = fixture.server.photos
        var count = 0
        let found = try await fixture.walk("all") { server in
            count += 1
            server.publish()
            server.delete(before[count])
        }
        #expect(found.filter(before.contains) == before)
        #expect(Set(found).count == found.count)
        #expect(fixture.session.hasStablePageTokens)
    }

    /// Expects that a walk has the photos and favourites of the server.
    ///
    /// - Parameters:
    ///   - fixture: The session, whose photos take two pages.
    ///   - change: The change since the last walk.
    ///   - isRead: True if the walk reads the files; false if it requests only the favourites of each page.
    /// - Throws: The error of a page.
    private func expectPages(
        _ fixture: SimulatedSession, _ change: String, reads isRead: Bool
    ) async throws {
        let before = fixture.bytes
        let likes = fixture.server.likes(of: "ada")
        let photos = try await fixture.session.walk("all").map(\.photo)
        #expect(photos.map(\.id.text) == fixture.server.photos, "\(change)")
        #expect(
            Set(photos.filter(\.isLiked).map(\.id.text))
                == likes.intersection(fixture.server.photos),
            "\(change)")
        let bytes = fixture.bytes - before
        #expect(isRead ? bytes > 20_000 : bytes < 6_000, "\(change): \(bytes)")
    }

    @Test(arguments: [Version.v27, .v31])
    func `the pages of unchanged files are not read again, but their favourites are`(
        version: Version
    ) async throws {
        let now = Mutex(Timestamp.now)
        let (fixture, server) = try SimulatedSession(
            version, photoCount: 130, now: { now.withLock { $0 } }
        ).withServer
        for id in server.photos where version.hasMetadata {
            server.change(id) { $0.taken = $0.modified }
        }
        try await expectPages(fixture, "first", reads: true)
        #expect(fixture.bytes > (version.hasMetadata ? 100_000 : 70_000))
        try await expectPages(fixture, "none", reads: false)
        let ids = server.photos
        for isLiked in [true, false] {
            for id in [ids[3], ids[120]] { try await fixture.session.setLiked(id, isLiked) }
            try await expectPages(fixture, "likes", reads: false)
        }
        server.publish()
        try await expectPages(fixture, "added", reads: true)
        server.delete(ids[120])
        try await expectPages(fixture, "deleted", reads: true)
        server.change(ids[7]) { $0.path = "Photos/other.jpg" }
        try await expectPages(fixture, "moved", reads: true)
        try await expectPages(fixture, "none", reads: false)
        now.withLock { $0 = $0 + .seconds(3600) }
        try await expectPages(fixture, "an hour later", reads: true)
    }

    @Test func `a run of hidden photos takes few requests, and fewer if no file changed`()
        async throws
    {
        let (fixture, server) = try SimulatedSession(photoCount: 0).withServer
        let base = Moment(1_750_000_000)
        server.publish(1000) { number, file in
            (file.path, file.modified) = ("Hidden/\(number).jpg", base + number)
            file.taken = file.modified
        }
        let shown = server.publish { ($0.modified, $0.taken) = (base + -1, base + -1) }
        server.hide("Hidden")
        #expect(try await fixture.walk("all") == ["\(shown.id)"])
        let count = server.requests().count
        #expect(count < 12)
        #expect(try await fixture.walk("all") == ["\(shown.id)"])
        #expect(server.requests().count < count + 4)
        // A page that ends in the run is kept as well.
        let search = PhotoSearch(
            client: try fixture.makeClient(), kind: .all, mode: .full,
            filter: FileFilter(folders: ["Hidden/"]), maximumLimit: 100)
        let (page, isFinal) = try await search.page(after: .top)
        #expect(page.photos.isEmpty && page.next != nil && isFinal)
    }

    @Test func `a page with files that the server has not read is read again`() async throws {
        let fixture = try SimulatedSession(photoCount: 30)
        try await expectPages(fixture, "first", reads: true)
        // The server reads the metadata later, which changes no ETag.
        fixture.server.change(fixture.server.photos[2]) { $0.taken = $0.modified + -86_400 }
        try await expectPages(fixture, "read", reads: true)
    }

    @Test func `memories are the photos of today in earlier years`() async throws {
        let (fixture, server) = try SimulatedSession(photoCount: 3).withServer
        let today = CalendarDate(local: .now)
        func taken(_ years: Int, _ seconds: Int) -> String {
            let day = Moment(year: today.year - years, month: today.month, day: today.day)
            return "\(server.publish { $0.taken = day + seconds }.id)"
        }
        let late = taken(1, 86_399)
        let early = taken(1, 0)
        let old = taken(12, 40_000)
        _ = (taken(1, -1), taken(2, 86_400), taken(0, 100))
        // The date of a file is no capture date.
        server.publish {
            $0.modified = Moment(year: today.year - 3, month: today.month, day: today.day)
            $0.taken = nil
        }
        #expect(try await fixture.walk("memories") == [late, early, old])
        // These versions cannot search for capture dates.
        for version in [Version.v27, .v29] {
            let other = try SimulatedSession(version, photoCount: 130)
            #expect(try await other.walk("memories").isEmpty)
        }
    }

    @Test func `a photo has its properties, and its place only if the user wants that`()
        async throws
    {
        for shows in [false, true] {
            let fixture = try SimulatedSession(
                path: "/cloud", photoCount: 0,
                settings: ProviderSettings(["ShowLocation": "\(shows)"]))
            let file = fixture.server.publish {
                $0.path = "Photos/2026 Été/Fog <1>.jpg"
                ($0.latitude, $0.longitude) = (46.5, 7.9)
                $0.taken = Moment(1_750_000_000)
            }
            let remote = try await fixture.session.fetchPhoto("\(file.id)")
            let photo = remote.photo
            #expect(photo.created == Timestamp(secondsSince1970: 1_750_000_000))
            let modified = Timestamp(secondsSince1970: Int64(file.modified.secondsSince1970))
            #expect(photo.updated == modified)
            #expect((photo.width, photo.height) == (640, 480))
            #expect([photo.title, photo.camera] == ["Fog <1>", "FUJIFILM X-T5"])
            #expect(
                [photo.blurHash, photo.mediaType] == ["LEHV6nWB2yk8pyo0adR*.7kCMdnj", "image/jpeg"])
            #expect(photo.url == "\(fixture.server.url)/index.php/f/\(file.id)")
            #expect(photo.latitude == (shows ? 46.5 : nil))
            #expect(!photo.isLiked && remote.hasLikeState)
            let thumb = try #require(remote.images[.thumb])
            #expect(thumb.hasPrefix("\(fixture.server.url)/index.php/core/preview?fileId="))
            #expect(thumb.contains("&x=256&y=256&a=1"))
            #expect(fixture.session.downloadAddress(remote) == remote.images[.full])
            // The addresses are those of images.
            for url in Set(remote.images.values) {
                let response = try await fixture.session.imageClient.send(HTTPRequest(.get, url))
                #expect(
                    response.status == 200 && response.body.starts(with: [0xff, 0xd8]), "\(url)")
            }
        }
    }

    @Test func `other formats are drawn by the server, and files without image are left out`()
        async throws
    {
        let fixture = try SimulatedSession(photoCount: 0)
        let raw = fixture.server.publish { $0.mediaType = "image/heic" }
        let plain = fixture.server.publish { $0.hasPreview = false }
        fixture.server.publish { $0.mediaType = "image/svg+xml" }
        fixture.server.publish { $0.mediaType = "video/mp4" }
        fixture.server.publish { ($0.mediaType, $0.hasPreview) = ("image/x-dcraw", false) }
        let page = try await fixture.session.page("all")
        #expect(page.photos.map(\.photo.id.text) == ["\(plain.id)", "\(raw.id)"])
        #expect(page.photos[0].images.keys.sorted { $0.rawValue < $1.rawValue } == [.full])
        #expect(page.photos[1].photo.mediaType == nil)
        #expect(page.photos[1].images[.full]?.contains("&x=4096&") == true)
        #expect(
            fixture.session.downloadAddress(page.photos[1])?.contains("/remote.php/dav/files/ada/")
                == true)
    }

    @Test func `the profile has the name, the page and the avatar of the user`() async throws {
        let fixture = try SimulatedSession(path: "/cloud")
        fixture.server.addUser("ada") {
            ($0.displayName, $0.biography) = ("Ada Lovelace", "One.\nTwo.")
        }
        let profile = try await fixture.session.profile()
        #expect((profile.username, profile.userID, profile.location) == ("ada", "ada", "Bergen"))
        #expect([profile.name, profile.bio] == ["Ada Lovelace", "One.\nTwo."])
        #expect(profile.url == "\(fixture.server.url)/index.php/u/ada")
        let avatar = try await fixture.session.imageClient.send(
            HTTPRequest(.get, profile.avatarURL))
        #expect(avatar.status == 200)
    }

    @Test func `a like of a missing, protected or moved photo`() async throws {
        let fixture = try SimulatedSession()
        let (server, session) = (fixture.server, fixture.session)
        for id in ["1", "x", "007", "-5", ""] {
            await #expect(throws: ProviderError.self) { try await session.setLiked(id, true) }
        }
        let id = server.photos[3]
        server.change(id) { $0.isProtected = true }
        await expectThrown(ProviderError.refused) { try await session.setLiked(id, true) }
        server.change(id) { ($0.isProtected, $0.path) = (false, "Elsewhere/100% new & old.jpg") }
        try await session.setLiked(id, true)
        #expect(server.likes(of: "ada") == [id])
        #expect(server.likes(of: "bob") == [])
    }
}
