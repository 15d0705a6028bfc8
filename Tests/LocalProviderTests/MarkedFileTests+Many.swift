import ProviderKit
import Synchronization
import TestSupport
import Testing

@testable import LocalProvider

/// Many likes, and files that cannot be read.
extension MarkedFileTests {
    private func likeAll(_ fixture: PhotosFixture) async throws {
        let session = fixture.session
        let ids = try await fixture.photos(pageSize: 1000).map(\.id)
        for id in ids { _ = try await session.setLiked(id, true) }
    }

    @Test func `many likes survive another folder and a move`() async throws {
        let folder = try await PhotosFixture.scanned((0..<1300).map { "\($0).jpg" })
        try await likeAll(folder)
        let marks = folder.session.folder.marks
        #expect(marks.count(of: "ada") == 1300)
        folder.session.close()
        let other = folder.directory.appending("other")
        PhotosFixture.makeFolder(other)
        #expect(folder.provider.setPicturesFolder(Array(other.utf8)))
        let there = try PhotosFixture.session("ada", of: folder.provider)
        _ = try await there.refresh(.all)
        #expect(marks.count(of: "ada") == 0)
        there.close()
        #expect(folder.provider.setPicturesFolder(Array(folder.root.utf8)))
        let read = marks.digests.reads.load(ordering: .relaxed)
        let back = try PhotosFixture.session("ada", of: folder.provider)
        _ = try await back.refresh(.all)
        #expect(marks.count(of: "ada") == 1300)
        #expect(marks.digests.reads.load(ordering: .relaxed) == read)
        back.close()

        // All files are moved, and the cache is deleted.
        let again = try await change(folder, .wiped) {
            PhotosFixture.makeFolder(folder.path("moved"))
            for index in 0..<1300 {
                try folder.move("\(index).jpg", to: "moved/\((index + 1) % 1300)-.jpg")
            }
        }
        #expect(again.session.folder.marks.count(of: "ada") == 1300)
    }
}
