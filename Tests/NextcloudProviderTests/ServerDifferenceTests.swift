import Foundation
import NextcloudSimulator
import ProviderKit
import TestSupport
import Testing

@testable import NextcloudProvider

/// Tests of behaviour that the manual of the service does not describe, such as faults of some versions.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct ServerDifferenceTests {
    /// Fetches an image with the client of the session.
    private func status(_ address: String, _ fixture: SimulatedSession) async throws -> Int {
        try await fixture.session.imageClient.downloadImage(address).status
    }

    private func notices(_ fixture: SimulatedSession) async -> [String] {
        fixture.session.close()
        var notices: [String] = []
        for await case .notices(let sentences) in fixture.session.events { notices = sentences }
        return notices
    }

    @Test func `an edited file has other addresses of every size and of the download`() async throws
    {
        let fixture = try SimulatedSession(photoCount: 1)
        let id = fixture.server.photos[0]
        let before = try await fixture.session.fetchPhoto(PhotoID(id))
        fixture.server.change(id) { $0.modified = $0.modified + 60 }
        let after = try await fixture.session.fetchPhoto(PhotoID(id))
        for size in before.images.keys { #expect(before.images[size] != after.images[size]) }
        #expect(
            fixture.session.downloadAddress(before) != fixture.session.downloadAddress(after))
        for url in after.images.values { #expect(try await status(url, fixture) == 200) }
    }

    @Test func `a moved file is found by its ID, and a deleted one is not`() async throws {
        let fixture = try SimulatedSession(photoCount: 2)
        let ids = fixture.server.photos
        var originals: [String] = []
        for id in ids {
            let photo = try await fixture.session.fetchPhoto(PhotoID(id))
            originals.append(try #require(fixture.session.downloadAddress(photo)))
        }
        fixture.server.change(ids[0]) { $0.path = "Archive/100% new & old.jpg" }
        fixture.server.delete(ids[1])
        #expect(try await status(originals[0], fixture) == 200)
        #expect(try await status(originals[1], fixture) == 404)
    }

    @Test func `version 29 has all sources by the times of files`() async throws {
        let fixture = try SimulatedSession(.v29, photoCount: 130)
        #expect(try await fixture.walk("all") == fixture.server.photos)
        let liked = fixture.server.photos[90]
        _ = try await fixture.session.setLiked(PhotoID(liked), true)
        #expect(try await fixture.walk("likes") == [liked])
        #expect(try await fixture.walk("memories").isEmpty)
    }

    @Test
    func `photos of other users in an album can be viewed, and only their owner can like them`()
        async throws
    {
        let fixture = try SimulatedSession(path: "/cloud", photoCount: 3)
        let server = fixture.server
        let other = server.publish {
            $0.owner = "bob"
            $0.path = "Trip/Bob & sea.jpg"
        }
        let id = "\(other.id)"
        server.addAlbum("Trip (bob)", [id, server.photos[0]], isShared: true)
        let page = try await fixture.session.page("shared:Trip (bob)")
        #expect(page.photos.map(\.photo.id.text) == [id, server.photos[0]])
        let photo = page.photos[0]
        #expect(photo.photo.title == "Bob & sea")
        for url in Set(photo.images.values) + [fixture.session.downloadAddress(photo) ?? ""] {
            #expect(try await status(url, fixture) == 200, "\(url)")
        }
        #expect(try await fixture.session.fetchPhoto(PhotoID(id)) == photo)
        let reason = await expectThrown(ProviderError.refused) {
            _ = try await fixture.session.setLiked(PhotoID(id), true)
        }
        #expect(reason?.contains("Only the owner") == true)
    }

    @Test func `an album has the titles and paths of the user's own files`() async throws {
        let fixture = try SimulatedSession(photoCount: 205)
        let server = fixture.server
        server.addAlbum("Alps", server.photos)
        let own = try await fixture.session.walk("all")
        let listed = try await fixture.session.walk("album:Alps")
        #expect(listed == own)
        #expect(own.allSatisfy { $0.photo.title != nil && $0.note.contains("/dav/files/ada/") })
    }

    @Test func `the original replaces a preview that the server does not draw`() async throws {
        let fixture = try SimulatedSession(photoCount: 0)
        let large = fixture.server.publish { $0.isTooLargeForPreview = true }
        let raw = fixture.server.publish {
            $0.mediaType = "image/x-dcraw"
            $0.isTooLargeForPreview = true
        }
        let photo = try await fixture.session.fetchPhoto(PhotoID("\(large.id)"))
        for url in photo.images.values { #expect(try await status(url, fixture) == 200, "\(url)") }
        let other = try await fixture.session.fetchPhoto(PhotoID("\(raw.id)"))
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
        for number in 0..<700 {
            fixture.server.publish {
                $0.modified = base
                $0.taken = version == .v27 || number % 7 == 0 ? nil : base
            }
        }
        let search = PhotoSearch(
            client: try fixture.makeClient(), source: .all,
            mode: version == .v31 ? .full : version == .v28 ? .withoutConditions : .fileTimes,
            maximumLimit: 400)
        var found: [String] = []
        var position = PhotoPosition.top
        while true {
            let page = try await search.page(after: position)
            found += page.photos.map(\.photo.id.text)
            guard let next = page.next else { break }
            position = try #require(PhotoPosition(next))
        }
        #expect(found == fixture.server.photos)
    }
}
