import Accounts
import ProviderKit
import Storage
import TestSupport
import Testing

@testable import Feeds

/// The columns of photos in the feed cache.
@Suite struct PhotoColumnsTests {
    private let account = AccountID(stored: "service_ada")
    private let now = Timestamp(secondsSince1970: 1_700_000_000)

    private func columns(_ database: Database) throws -> [String] {
        var names: [String] = []
        try database.query("PRAGMA table_info(photo)") { row throws(StorageError) in
            names.append(row.text(1))
        }
        return names
    }

    @Test func `every property of a photo is stored`() throws {
        let database = try Database(path: ":memory:", durability: .process)
        try FeedStore.migrate(database)
        let tables = FeedTables(database: database, account: account)
        let remote = RemotePhoto(
            .filled(id: "p"), images: [.small: "https://example.org/s"], note: "n")
        _ = try tables.photos.upsert(remote, now: now)
        #expect(try tables.photos.photo(PhotoID("p"))?.remote == remote)
        // Unknown properties replace known ones.
        let bare = RemotePhoto(Photo(id: PhotoID("p")))
        #expect(try tables.photos.upsert(bare, now: now)?.isOtherLike == true)
        #expect(try tables.photos.photo(PhotoID("p"))?.remote == bare)
    }

    @Test func `a cache without the columns of some properties gets them and counts their bytes`()
        throws
    {
        let database = try Database(path: ":memory:", durability: .process)
        try database.migrate(FeedStore.migrations)
        let before = try columns(database)
        try database.execute(
            """
            INSERT INTO photo (account, id, title, is_liked, note)
                VALUES ('service_ada', 'p', 'One', 1, '');
            """)
        try FeedStore.migrate(database)
        let added = try columns(database).filter { !before.contains($0) }
        #expect(
            added == [
                "camera", "album", "latitude", "longitude", "text", "lens", "exposure_time",
                "aperture", "iso", "license", "license_url", "is_animated", "is_measured",
            ])
        let tables = FeedTables(database: database, account: account)
        #expect(try tables.photos.photo(PhotoID("p"))?.photo.title == "One")
        #expect(try tables.bytes() == 256 + 4)
        var remote = try #require(try tables.photos.photo(PhotoID("p"))?.remote)
        remote.photo.camera = "Four"
        remote.photo.latitude = 1
        _ = try tables.photos.upsert(remote, now: now)
        #expect(try tables.bytes() == 256 + 4 + 4)
        _ = try tables.photos.upsert(RemotePhoto(.filled(id: "q")), now: now)
        try tables.photos.remove(PhotoID("p"))
        try tables.photos.remove(PhotoID("q"))
        #expect(try tables.bytes() == 0)
        // A second time has no effect.
        try FeedStore.migrate(database)
        #expect(try columns(database) == before + added)
    }

    @Test func `the size of a photo contains every text`() throws {
        let database = try Database(path: ":memory:", durability: .process)
        try FeedStore.migrate(database)
        let tables = FeedTables(database: database, account: account)
        let photo = Photo.filled(id: "p")
        var bytes = 256 + 1
        for field in PhotoField.described {
            if case .text(_, let get, _) = field.value { bytes += get(photo)?.utf8.count ?? 0 }
        }
        _ = try tables.photos.upsert(RemotePhoto(photo), now: now)
        #expect(try tables.bytes() == bytes)
    }
}
