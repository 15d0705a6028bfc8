import FoundationEssentials
import Glibc
import ProviderKit
import Storage
import Synchronization
import TestSupport
import Testing

@testable import LocalProvider

/// Many likes, and files that cannot be read.
extension LikedFileTests {
    private func likeAll(_ fixture: PhotosFixture) async throws {
        let session = fixture.session
        let ids = try await fixture.photos(pageSize: 1000).map(\.id)
        for id in ids { _ = try await session.setLiked(id, true) }
    }

    @Test func `more likes than are read at a time survive another folder and a move`()
        async throws
    {
        let folder = try await PhotosFixture.scanned((0..<1300).map { "\($0).jpg" })
        try await likeAll(folder)
        let likes = folder.session.folder.likes
        #expect(likes.count(of: "ada") == 1300)
        folder.session.close()
        let other = folder.directory.appending("other")
        PhotosFixture.makeFolder(other)
        #expect(folder.provider.setPicturesFolder(Array(other.utf8)))
        let there = try PhotosFixture.session("ada", of: folder.provider)
        _ = try await there.refresh(PhotosFixture.all)
        await there.folder.reconcileLikes(nil)
        #expect(likes.count(of: "ada") == 0)
        there.close()
        #expect(folder.provider.setPicturesFolder(Array(folder.root.utf8)))
        let read = likes.digests.reads.load(ordering: .relaxed)
        let back = try PhotosFixture.session("ada", of: folder.provider)
        _ = try await back.refresh(PhotosFixture.all)
        await back.folder.reconcileLikes(nil)
        #expect(likes.count(of: "ada") == 1300)
        #expect(likes.digests.reads.load(ordering: .relaxed) == read)
        back.close()

        // All files are moved, and the cache is deleted.
        let again = try await change(
            folder, .wiped,
            [
                {
                    PhotosFixture.makeFolder(folder.path("moved"))
                    for index in 0..<1300 {
                        try PhotosFixture.check(
                            rename(
                                folder.path("\(index).jpg"),
                                folder.path("moved/\((index + 1) % 1300)-.jpg")))
                    }
                }
            ])
        #expect(again.session.folder.likes.count(of: "ada") == 1300)
    }

    @Test func `files that cannot be read do not end the search`() async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg", "b.jpg"])
        try await folder.like("a")
        let again = try await change(
            folder, .wiped,
            [{ try PhotosFixture.check(rename(folder.path("a.jpg"), folder.path("z.jpg"))) }])
        #expect(try await liked(again) == ["z"])
        let likes = again.session.folder.likes
        let search = UnreadableSearch(folder: again.session.folder)
        // Every record is gone, and no file can be read.
        try await likes.forgetLocations()
        try FileManager.default.removeItem(atPath: again.cache)
        await likes.reconcile(nil, search) { _, _ in }
        _ = try await again.session.refresh(PhotosFixture.all)
    }

    /// A folder whose files cannot be read.
    private struct UnreadableSearch: PictureSearch {
        let folder: PictureFolder

        func inspect<Value: Sendable>(
            _ body: @escaping @Sendable (PictureIndex) throws -> Value
        ) async throws -> Value {
            try await folder.inspect(body)
        }
        func store(_ contents: [Int64: FileDigest]) async {}
        func digest(_ path: RelativePath, _ reader: DigestReader) async -> FileDigest? { nil }
    }
}
