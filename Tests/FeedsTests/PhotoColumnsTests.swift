import EngineModel
import ProviderKit
import Storage
import TestSupport
import Testing

@testable import Feeds

/// The columns of photos in the feed cache.
@Suite struct PhotoColumnsTests {
    private let tables: FeedTables

    init() throws {
        tables = FeedTables(
            database: try .inMemory([FeedStore.format]), account: AccountID(stored: "service_ada"))
    }

    @Test func `every property of a photo is stored`() throws {
        let remote = RemotePhoto(
            .filled(id: "p"), images: [.small: "https://example.org/s"], note: "n")
        _ = try tables.photos.upsert(remote)
        #expect(try tables.photos.photo(PhotoID("p"))?.remote == remote)
        // Unknown properties replace known ones.
        let bare = RemotePhoto(Photo(id: PhotoID("p")))
        #expect(try tables.photos.upsert(bare)?.isOtherLike == true)
        #expect(try tables.photos.photo(PhotoID("p"))?.remote == bare)
    }

    @Test func `a photo that is received again has not changed`() throws {
        var photo = Photo.filled(id: "p")
        photo.focus = FocalPoint(x: 1.0 / 3, y: -0.1234567)
        _ = try tables.photos.upsert(RemotePhoto(photo))
        let change = try tables.photos.upsert(RemotePhoto(photo))
        #expect(change == nil)
    }

    @Test func `the size of a photo contains every text`() throws {
        let photo = Photo.filled(id: "p")
        var bytes = 256 + 1
        for field in PhotoField.described {
            if case .text(_, let get, _) = field.value { bytes += get(photo)?.utf8.count ?? 0 }
        }
        _ = try tables.photos.upsert(RemotePhoto(photo))
        #expect(try tables.bytes() == bytes)
    }
}
