import Glibc
import ProviderKit
import TestSupport
import Testing

@testable import LocalProvider

/// Changes of liked photos around the loss of the index.
extension MarkedFileTests {
    enum Change: CaseIterable {
        case moved
        /// Copied, and the original is deleted.
        case copied
        /// Replaced by a file with other image data.
        case replaced
    }

    /// A folder with the liked photo `a.jpg`, and another photo, and the ID of the first one.
    func likedPhoto() async throws -> (PhotosFixture, PhotoID) {
        let folder = try await PhotosFixture.scanned(["b.jpg"])
        try folder.overwrite("a.jpg", jpeg("2024:05:06 10:00:00", [1]))
        try await scan(folder)
        try await folder.like("a")
        return (folder, try await folder.id("a"))
    }

    private func deleteIndex(_ fixture: PhotosFixture) {
        for suffix in ["", "-wal", "-shm"] { unlink("\(fixture.cache)/index.sqlite\(suffix)") }
    }

    /// The metadata of a photo that is moved or copied is edited as well, which changes the size.
    @Test(arguments: [true, false], Change.allCases)
    func `a photo changed without index stays liked`(isRunning: Bool, change: Change) async throws {
        let (folder, id) = try await likedPhoto()
        func apply() throws {
            let edited = jpeg("2024:05:06 10:00:00+01:00", [1])
            switch change {
            case .moved:
                try folder.move("a.jpg", to: "m.jpg")
                try folder.overwrite("m.jpg", edited)
            case .copied:
                // No scan ends between the two changes.
                let staged = folder.directory.appending("tmp/copy")
                try PhotosFixture.write(edited, to: staged)
                try check(rename(staged, folder.path("m.jpg")))
                unlink(folder.path("a.jpg"))
            case .replaced:
                try folder.add("a.jpg", seconds: 5_000_000, bytes: PhotosFixture.jpeg + [9])
            }
        }
        var again = folder
        if isRunning {
            deleteIndex(folder)
            try apply()
        } else {
            again = try await self.change(folder, .wiped, apply)
        }
        let title = change == .replaced ? "a" : "m"
        try await poll { try await again.titles(.likes) == [title] }
        try await scan(again)
        #expect(try await likedIDs(again) == [title: [id]])
    }

    @Test func `a photo edited and moved after a loss of the index keeps its like`() async throws {
        let (folder, id) = try await likedPhoto()
        deleteIndex(folder)
        try folder.overwrite("a.jpg", PhotosFixture.jpeg + [9])
        try folder.move("a.jpg", to: "m.jpg")
        try await poll { try await folder.titles(.likes) == ["m"] }
        #expect(try await folder.id("m") == id)
    }

    @Test func `a photo replaced after the loss of the index keeps its like`() async throws {
        let (folder, id) = try await likedPhoto()
        try folder.overwrite("c.jpg", jpeg("2024:05:06 10:00:00", [1]))
        try await scan(folder)
        deleteIndex(folder)
        try folder.add("a.jpg", seconds: 5_000_000, bytes: PhotosFixture.jpeg + [9])
        try await poll { try await folder.titles(.likes) == ["a"] }
        try await scan(folder)
        #expect(try await likedIDs(folder) == ["a": [id]])
    }

    @Test func `a photo that is a backup when the index is rebuilt keeps its like`() async throws {
        let (folder, id) = try await likedPhoto()
        deleteIndex(folder)
        try folder.move("a.jpg", to: "a.jpg~")
        try await poll { try await folder.titles() == ["b"] }
        try await scan(folder)
        try folder.add("a.jpg", seconds: 5_000_000, bytes: PhotosFixture.jpeg + [9])
        unlink(folder.path("a.jpg~"))
        try await poll { try await folder.titles(.likes) == ["a"] }
        #expect(try await folder.id("a") == id)
    }
}
