import Foundation
import NextcloudSimulator
import ProviderKit
import Synchronization
import TestSupport
import Testing
import WebService
import XML

@testable import NextcloudProvider

/// Tests of behaviour that the manual of the service does not describe, such as faults of some versions.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct ServerDifferenceTests {
    /// Fetches an image with the client of the session.
    private func status(_ address: String, _ fixture: SimulatedSession) async throws -> Int {
        try await fixture.session.imageClient.downloadImage(address).status
    }

    private func notices(_ fixture: SimulatedSession) async -> [String] {
        await fixture.session.finalNotices().last ?? []
    }

    /// A document of an error.
    private func davError(_ status: Int) -> Fault {
        .reply(
            Reply(
                status, headers: [("Content-Type", "application/xml; charset=utf-8")],
                body: Array("<d:error xmlns:d=\"DAV:\"/>".utf8)))
    }

    @Test func `an edited file has other addresses of every size and of the download`() async throws
    {
        let fixture = try SimulatedSession(photoCount: 1)
        let id = fixture.server.photos[0]
        let before = try await fixture.session.fetchPhoto(id)
        fixture.server.change(id) { $0.modified = $0.modified + 60 }
        let after = try await fixture.session.fetchPhoto(id)
        for size in before.images.keys { #expect(before.images[size] != after.images[size]) }
        #expect(fixture.session.downloadAddress(before) != fixture.session.downloadAddress(after))
        for url in after.images.values { #expect(try await status(url, fixture) == 200) }
    }

    @Test func `a moved file is found by its ID, and a deleted one is not`() async throws {
        let fixture = try SimulatedSession(photoCount: 2)
        let ids = fixture.server.photos
        var originals: [String] = []
        for id in ids {
            let photo = try await fixture.session.fetchPhoto(id)
            originals.append(try #require(fixture.session.downloadAddress(photo)))
        }
        fixture.server.change(ids[0]) { $0.path = "Archive/100% new & old.jpg" }
        fixture.server.delete(ids[1])
        #expect(try await status(originals[0], fixture) == 200)
        #expect(try await status(originals[1], fixture) == 404)
    }

    @Test
    func `photos of other users in an album can be viewed, and only their owner can like them`()
        async throws
    {
        let (fixture, server) = try SimulatedSession(path: "/cloud", photoCount: 3).withServer
        let other = server.publish { ($0.owner, $0.path) = ("bob", "Trip/Bob & sea.jpg") }
        let id = "\(other.id)"
        server.addAlbum("Trip (bob)", [id, server.photos[0]], isShared: true)
        // The app shows the album; the file is not in the files of the user.
        let page = try await fixture.session.page("shared:Trip (bob)")
        #expect(
            page.photos[0].photo.url
                == "\(server.url)/index.php/apps/photos/sharedalbums/Trip%20(bob)")
        #expect(page.photos.map(\.photo.id.text) == [id, server.photos[0]])
        let photo = page.photos[0]
        #expect(photo.photo.title == "Bob & sea")
        for url in Set(photo.images.values) + [fixture.session.downloadAddress(photo) ?? ""] {
            #expect(try await status(url, fixture) == 200, "\(url)")
        }
        #expect(try await fixture.session.fetchPhoto(id) == photo)
        let reason = await expectThrown(ProviderError.refused) {
            try await fixture.session.setLiked(id, true)
        }
        #expect(reason?.contains("Only the owner") == true)
    }

    @Test func `a photo that entered the user's files is missing after it was deleted`()
        async throws
    {
        let fixture = try SimulatedSession(photoCount: 1)
        let server = fixture.server
        let id = "\(server.publish { $0.owner = "bob" }.id)"
        server.addAlbum("Trip (bob)", [id], isShared: true)
        #expect(try await fixture.walk("shared:Trip (bob)") == [id])
        server.change(id) { $0.owner = "ada" }
        #expect(try await fixture.walk("all").contains(id))
        server.delete(id)
        await expectThrown(ProviderError.notFound) {
            _ = try await fixture.session.setLiked(PhotoID(id), true)
        }
    }

    @Test func `a photo that left the user's files is found in a shared album`() async throws {
        let fixture = try SimulatedSession(photoCount: 2)
        let server = fixture.server
        let id = server.photos[0]
        #expect(try await fixture.walk("all").contains(id))
        server.change(id) { $0.owner = "bob" }
        server.addAlbum("Trip (bob)", [id], isShared: true)
        let listed = try await fixture.session.page("shared:Trip (bob)").photos
        #expect(listed.map(\.photo.id.text) == [id])
        #expect(try await fixture.session.fetchPhoto(PhotoID(id)) == listed.first)
        await expectThrown(ProviderError.refused) {
            _ = try await fixture.session.setLiked(PhotoID(id), true)
        }
    }

    @Test(arguments: [Version.v31, .v35])
    func `an album has the titles and paths of the user's own files`(version: Version) async throws
    {
        let (fixture, server) = try SimulatedSession(version, photoCount: 205).withServer
        server.change(server.photos[3]) { $0.path = "Photos/2026 Été (1)/Wölfe & [Bären].jpg" }
        server.addAlbum("Alps", server.photos)
        let own = try await fixture.session.walk("all")
        let listed = try await fixture.session.walk("album:Alps")
        #expect(listed == own)
        #expect(own.allSatisfy { $0.photo.title != nil && $0.note.contains("/dav/files/ada/") })
    }

    @Test func `a large album is listed once for all its pages`() async throws {
        let (fixture, server) = try SimulatedSession(.v35, photoCount: 0).withServer
        for number in 0..<1300 { server.publish { $0.taken = Moment(1_750_000_000 + number) } }
        server.addAlbum("Big", server.photos)
        #expect(try await fixture.walk("album:Big") == server.photos)
        #expect(server.requests("PROPFIND /remote.php/dav/photos/ada/albums/Big").count == 1)
        #expect(server.requests("SEARCH /remote.php/dav/").isEmpty)
        // The next walk reads the album again.
        server.delete(server.photos[0])
        #expect(try await fixture.walk("album:Big") == server.photos)
    }

    @Test func `each failing album fails alone, and its list keeps what is known`() async throws {
        let fixture = try SimulatedSession(photoCount: 3)
        let (server, session) = (fixture.server, fixture.session)
        let other = server.publish { $0.owner = "bob" }
        server.addAlbum("Alps", [server.photos[0]])
        server.addAlbum("Trip (bob)", ["\(other.id)"], isShared: true)
        server.addAlbum("Wood (bob)", ["\(other.id)"], isShared: true)
        server.albumFailures = ["sharedalbums/Trip (bob)": 500]
        #expect(try await session.fetchPhoto("\(other.id)").photo.title != nil)
        #expect(try await session.sources().count == 6)
        for status in [404, 500] {
            let now = Observed(Timestamp.now)
            let fixture = try SimulatedSession(photoCount: 1, now: { now.value })
            let (server, session) = (fixture.server, fixture.session)
            server.addAlbum("Alps", server.photos)
            server.addAlbum("Trip (bob)", server.photos, isShared: true)
            let before = try await session.sources()
            server.albumFailures = ["albums": status]
            now.update { $0 = $0 + .seconds(61) }
            #expect(try await Set(session.sources(keeping: before)) == Set(before))
            #expect(await notices(fixture).count == 1)
        }
        // A server without the app Photos has no albums, without a notice.
        let plain = try SimulatedSession(photoCount: 1)
        plain.server.albumFailures = ["albums": 404, "sharedalbums": 404]
        #expect(try await plain.session.sources().count == 3)
        #expect(await notices(plain).isEmpty)
    }

    @Test func `a deleted photo causes no search of albums`() async throws {
        let (fixture, server) = try SimulatedSession(photoCount: 2).withServer
        server.addAlbum("Alps", [server.photos[0]])
        let photo = try await fixture.session.fetchPhoto(server.photos[1])
        server.delete(photo.photo.id.text)
        await expectThrown(ProviderError.notFound) {
            try await fixture.session.setLiked(photo.photo.id, true)
        }
        await expectThrown(ProviderError.notFound) {
            try await fixture.session.fetchPhoto(photo.photo.id)
        }
        let listed = server.photos[0]
        #expect(try await fixture.walk("all") == [listed])
        server.delete(listed)
        await expectThrown(ProviderError.notFound) { try await fixture.session.fetchPhoto(listed) }
        for url in Set(photo.images.values) { #expect(try await status(url, fixture) == 404) }
        #expect(server.requests().allSatisfy { !$0.path.contains("/dav/photos/") })
    }

    @Test func `a deleted photo that only the cache knows causes no search of albums`() async throws
    {
        let fixture = try SimulatedSession(path: "/cloud", photoCount: 2)
        let (server, session) = (fixture.server, fixture.session)
        let ids = server.photos
        server.addAlbum("Alps", [ids[1]])
        let original = "/remote.php/dav/files/ada/photos/a.jpg?fileId=\(ids[0])"
        server.delete(ids[0])
        await expectThrown(ProviderError.notFound) {
            try await session.fetchPhoto(PhotoID(ids[0]), note: "/cloud" + original)
        }
        #expect(try await status(server.url + original, fixture) == 404)
        #expect(server.requests().allSatisfy { !$0.path.contains("/dav/photos/") })
        // Photos of an album that are in the files.
        #expect(try await fixture.walk("album:Alps") == [ids[1]])
        server.delete(ids[1])
        let before = server.requests().count { $0.path.contains("/dav/photos/") }
        await expectThrown(ProviderError.notFound) { try await session.fetchPhoto(ids[1]) }
        #expect(server.requests().count { $0.path.contains("/dav/photos/") } == before)
    }

    @Test func `hidden folders, their photos and the trash of a camera are not shown`() async throws
    {
        let (fixture, server) = try SimulatedSession(photoCount: 2).withServer
        let shown = server.photos
        for path in [
            ".thumbnails/a.jpg", "Photos/.hidden/b.jpg", "Photos/.trashed-1789-c.jpg",
            "Private/d.jpg", "Private/Deep/e.jpg", "Chats/f.jpg",
        ] { server.publish { $0.path = path } }
        server.hide("Private")
        server.publish { ($0.path, $0.mediaType) = ("Chats/.noimage", "text/plain") }
        let other = server.publish { $0.path = "Privateer/g.jpg" }
        #expect(try await fixture.walk("all") == ["\(other.id)"] + shown)
    }

    @Test func `the photos of more than a thousand hidden folders are not shown`() async throws {
        let (fixture, server) = try SimulatedSession(photoCount: 2).withServer
        let shown = server.photos
        for number in 0..<1010 {
            server.hide("Apps/\(number)")
            server.publish { $0.path = "Apps/\(number)/a.jpg" }
        }
        #expect(try await fixture.walk("all") == shown)
    }

    @Test func `a folder that becomes hidden is hidden by the next refresh`() async throws {
        let now = Mutex(Timestamp.now)
        let (fixture, server) = try SimulatedSession(photoCount: 2, now: { now.withLock { $0 } })
            .withServer
        let shown = server.photos
        let other = server.publish { $0.path = "Private/a.jpg" }
        for id in server.photos { server.change(id) { $0.taken = $0.modified } }
        #expect(try await fixture.walk("all") == ["\(other.id)"] + shown)
        let rule = server.hide("Private")
        for seconds in [30, 31] {
            now.withLock { $0 = $0 + .seconds(seconds) }
            #expect(try await fixture.walk("all") == shown)
        }
        server.delete("\(rule.id)")
        #expect(try await fixture.walk("all") == ["\(other.id)"] + shown)
    }

    @Test(arguments: [400, 422, 501])
    func `a refresh without the list of the hidden folders fails, and the next one reads it`(
        status: Int
    ) async throws {
        let (fixture, server) = try SimulatedSession(photoCount: 2).withServer
        let shown = server.photos
        server.publish { $0.path = "Private/a.jpg" }
        server.hide("Private")
        server.fail("SEARCH /remote.php/dav/", davError(status), times: 1)
        await #expect(throws: ProviderError.self) { try await fixture.walk("all") }
        #expect(try await fixture.walk("all") == shown)
    }

    @Test func `files that the user excludes are not shown`() async throws {
        let fixture = try SimulatedSession(
            photoCount: 2, settings: ProviderSettings(["Exclude": "Scans; Work/**/draft-*"]))
        let server = fixture.server
        let shown = server.photos
        for path in ["Scans/a.jpg", "Old/Scans/2020/b.jpg", "Work/X/draft-c.jpg"] {
            server.publish { $0.path = path }
        }
        let other = server.publish { $0.path = "Work/d.jpg" }
        #expect(try await fixture.walk("all") == ["\(other.id)"] + shown)
        #expect(fixture.session.cacheVariant != "")
    }

    @Test func `the folders of the app Photos are shown if the server states them`() async throws {
        let (fixture, server) = try SimulatedSession(photoCount: 2).withServer
        let photos = server.photos
        let camera = server.publish { $0.path = "Camera & Co/a.jpg" }
        let scan = server.publish { $0.path = "Scans/b.jpg" }
        server.sourceFolders = ["/Photos", "/Camera & Co"]
        #expect(try await fixture.walk("all") == ["\(camera.id)"] + photos)
        try await fixture.session.setLiked("\(scan.id)", true)
        #expect(try await fixture.walk("likes") == ["\(scan.id)"])
        // One that does not exist shows no other folder.
        let incomplete = try SimulatedSession(photoCount: 2)
        incomplete.server.publish { $0.path = "Scans/b.jpg" }
        incomplete.server.sourceFolders = ["/Missing", "/Photos"]
        #expect(try await incomplete.walk("all") == photos)
        // A folder that does not exist hides nothing.
        for folders in [["/Missing"], ["/"], []] {
            let fixture = try SimulatedSession(photoCount: 2)
            fixture.server.sourceFolders = folders
            #expect(try await fixture.walk("all") == fixture.server.photos)
        }
    }

    @Test(arguments: [["/Photos"], ["/Photos", "/Camera"]], [400, 404, 500])
    func `a failed search neither shows files outside the source folders nor drops a folder`(
        folders: [String], status: Int
    ) async throws {
        // The server has not read the third file, so that each walk searches again.
        let (fixture, server) = try SimulatedSession(photoCount: 3).withServer
        for path in ["Camera/a.jpg", "Documents/b.jpg"] { server.publish { $0.path = path } }
        server.sourceFolders = folders
        let expected = try await fixture.walk("all")
        #expect(expected.count == folders.count + 2)
        server.fail("SEARCH /remote.php/dav/", davError(status), times: 1)
        server.fail("PROPFIND /remote.php/dav/files/ada/Camera/", davError(503), times: 1)
        if let found = try? await fixture.walk("all") { #expect(found == expected) }
        #expect(try await fixture.walk("all") == expected)
    }

    @Test(arguments: [200, 403, 429])
    func `a page without the source folders is an error, and the next refresh reads them`(
        status: Int
    ) async throws {
        let (fixture, server) = try SimulatedSession(photoCount: 2).withServer
        let photos = server.photos
        server.publish { $0.path = "Documents/a.jpg" }
        server.sourceFolders = ["/Photos"]
        let page = Reply(status, html: "<html>Wait</html>")
        server.fail("GET /index.php/apps/photos/", .reply(page), times: 1)
        await #expect(throws: ProviderError.self) { try await fixture.walk("all") }
        #expect(try await fixture.walk("all") == photos)
    }

    @Test(arguments: [302, 401])
    func `a gateway that protects only pages hides no photos`(status: Int) async throws {
        let fixture = try SimulatedSession(photoCount: 2)
        let page = Reply(status, html: "<html>Log in</html>")
        fixture.server.fail("GET /index.php/apps/photos/", .reply(page))
        #expect(try await fixture.walk("all") == fixture.server.photos)
    }

    @Test func `a refresh after a change of the files reads the source folders`() async throws {
        let (fixture, server) = try SimulatedSession(photoCount: 2).withServer
        let photos = server.photos
        let camera = server.publish { $0.path = "Camera/a.jpg" }
        server.sourceFolders = ["/Photos"]
        #expect(try await fixture.walk("all") == photos)
        server.sourceFolders = ["/Camera"]
        let other = server.publish { $0.path = "Camera/b.jpg" }
        #expect(try await fixture.walk("all") == ["\(other.id)", "\(camera.id)"])
    }

    @Test func `long paths do not end a feed`() async throws {
        let fixture = try SimulatedSession(photoCount: 250)
        let folder = String(repeating: "\u{6f22}", count: 73) + "/"
        let long = fixture.server.publish {
            $0.path = String(repeating: folder, count: 6) + "a.jpg"
        }
        // The limits of the server.
        let name = String(repeating: "\u{6f22}", count: 246) + ".jpg"
        let longest = fixture.server.publish {
            $0.path = String(repeating: folder, count: 50) + name
        }
        let photos = try await fixture.session.walk("all")
        #expect(photos.map(\.photo.id.text) == fixture.server.photos)
        #expect(photos.prefix(2).map(\.photo.id.text) == ["\(longest.id)", "\(long.id)"])
        for photo in photos.prefix(2) {
            for url in Set(photo.images.values) { #expect(try await status(url, fixture) == 200) }
        }
        await expectThrown(ProviderError.refused) {
            try await fixture.session.setLiked("\(longest.id)", true)
        }
    }

    @Test func `a capture time is that of the camera's clock in the local time zone`() async {
        await #expect(processExitsWith: .success) {
            setenv("TZ", "PST8PDT,M3.2.0,M11.1.0", 1)
            tzset()
            func created(_ taken: Int64, modified: String) -> Int64? {
                let text = document(
                    path: "/remote.php/dav/files/ada/a.jpg",
                    """
                    <d:getlastmodified>\(modified)</d:getlastmodified>
                    <nc:metadata-photos-original_date_time>\(taken)</nc:metadata-photos-original_date_time>
                    """)
                let status = (try? XMLDocument.parse(Array(text.utf8))).flatMap { MultiStatus($0) }
                let record = status?.responses.first.flatMap(FileRecord.init)
                #expect(record?.seconds == taken)
                return record?.created?.secondsSince1970
            }
            let file = "Sun, 15 Jun 2025 15:06:40 GMT"
            // 23:59:59 on the clock of the camera, in summer. The macro does not evaluate arithmetic in an exit test.
            #expect(created(1_750_031_999, modified: file) == 1_750_057_199)
            // The time of the file.
            #expect(created(1_750_000_000, modified: file) == 1_750_000_000)
            #expect(created(0, modified: file) == nil)
            #expect(created(-1, modified: file) == nil)
        }
    }

    @Test func `a photo whose capture date is zero is shown with the time of its file`()
        async throws
    {
        let fixture = try SimulatedSession(photoCount: 2)
        let file = fixture.server.publish { $0.taken = Moment(0) }
        let photos = try await fixture.session.walk("all")
        #expect(photos.map(\.photo.id.text) == fixture.server.photos)
        #expect(
            photos.last?.photo.created?.secondsSince1970 == Int64(file.modified.secondsSince1970))
        #expect(try await fixture.walk("memories").isEmpty)
    }

    @Test func `a file above the limit of previews has one address`() async throws {
        let fixture = try SimulatedSession(photoCount: 0)
        let large = fixture.server.publish {
            ($0.sizeBytes, $0.isTooLargeForPreview) = (60 << 20, true)
        }
        let photo = try await fixture.session.fetchPhoto("\(large.id)")
        #expect(photo.images.keys.map(\.self) == [.full])
        #expect(try await status(try #require(photo.images[.full]), fixture) == 200)
    }

    @Test func `requests of an account continue one session of the server`() async throws {
        let fixture = try SimulatedSession(path: "/cloud", photoCount: 30)
        _ = try await fixture.walk("all")
        _ = try await fixture.session.sources()
        _ = try await fixture.session.profile()
        #expect(fixture.server.sessions == 1)
        #expect(fixture.server.requests().allSatisfy { $0["Cookie"]?.contains("deleted") != true })
    }

    @Test func `a cookie of a gateway does not make the server refuse the session`() async throws {
        let fixture = try SimulatedSession(photoCount: 3)
        // Without cookies, the server sends the same-site cookies as well.
        fixture.server.fail(
            "PROPFIND /remote.php/dav/files/ada/",
            .reply(Reply(502, headers: [("Set-Cookie", "route=a")])), times: 1)
        #expect(try await fixture.walk("all") == fixture.server.photos)
        #expect(fixture.server.requests().last?["Cookie"]?.contains("route=a") == true)
    }

    @Test func `maintenance, an upgrade and a disabled account end by themselves`() async throws {
        let fixture = try SimulatedSession(photoCount: 3)
        let (server, session) = (fixture.server, fixture.session)
        let photo = try await session.fetchPhoto(server.photos[0])
        let thumb = try #require(photo.images[.thumb])
        func expectFailures(
            _ text: String, of calls: [String] = ["page", "profile", "like", "image"]
        ) async {
            for call in calls {
                let reason = await expectThrown(ProviderError.failed) {
                    switch call {
                    case "page": _ = try await session.page("all")
                    case "profile": _ = try await session.profile()
                    case "like": _ = try await session.setLiked(photo.photo.id, true)
                    default: _ = try await session.imageClient.downloadImage(thumb)
                    }
                }
                #expect(reason?.contains(text) == true, "\(call): \(reason ?? "")")
            }
        }
        server.isInMaintenance = true
        await expectFailures("is in maintenance mode")
        server.isInMaintenance = false
        server.needsUpgrade = true
        await expectFailures("is being upgraded")
        server.needsUpgrade = false
        server.addUser("ada") { $0.isDisabled = true }
        await expectFailures("is disabled", of: ["page", "profile"])
        server.addUser("ada")
        #expect(try await session.page("all").photos.count == 3)
    }

    @Test func `the original replaces a preview that the server does not draw`() async throws {
        let fixture = try SimulatedSession(photoCount: 0)
        let large = fixture.server.publish { $0.isTooLargeForPreview = true }
        let raw = fixture.server.publish {
            ($0.mediaType, $0.isTooLargeForPreview) = ("image/x-dcraw", true)
        }
        let photo = try await fixture.session.fetchPhoto("\(large.id)")
        for url in photo.images.values { #expect(try await status(url, fixture) == 200, "\(url)") }
        let other = try await fixture.session.fetchPhoto("\(raw.id)")
        #expect(try await status(try #require(other.images[.thumb]), fixture) == 404)
    }

    @Test func `HEIF photos without previews are listed, and other formats are counted`()
        async throws
    {
        let fixture = try SimulatedSession(photoCount: 0)
        let photos = ["image/heic", "image/heif"].map { type in
            "\(fixture.server.publish { ($0.mediaType, $0.hasPreview) = (type, false) }.id)"
        }
        for type in ["image/x-dcraw", "image/tiff"] {
            fixture.server.publish { ($0.mediaType, $0.hasPreview) = (type, false) }
        }
        for _ in 0..<2 {
            let page = try await fixture.session.page("all")
            #expect(page.photos.map(\.photo.id.text) == photos.reversed())
            #expect(page.photos[0].photo.mediaType == "image/heif")
            #expect(page.photos[0].images[.full] == fixture.session.downloadAddress(page.photos[0]))
        }
        #expect(await notices(fixture).map { $0.prefix(9) } == ["2 images "])
    }

    @Test(arguments: [Version.v31, .v28, .v27])
    func `more photos with one time than results are neither skipped nor repeated`(
        version: Version
    ) async throws {
        let fixture = try SimulatedSession(version, photoCount: 3)
        let base = Moment(1_750_000_000)
        fixture.server.publish(700) { number, file in
            file.modified = base
            file.taken = version == .v27 || number % 7 == 0 ? nil : base
        }
        let search = PhotoSearch(
            client: try fixture.makeClient(), kind: .all,
            mode: version == .v31 ? .full : version == .v28 ? .withoutConditions : .fileTimes,
            maximumLimit: 400)
        var found: [String] = []
        var position = PhotoPosition.top
        while true {
            let page = try await search.page(after: position).page
            found += page.photos.map(\.photo.id.text)
            guard let next = page.next else { break }
            position = try #require(PhotoPosition(next))
        }
        #expect(found == fixture.server.photos)
    }
}
