import FoundationEssentials
import Glibc
import ProviderKit
import Storage
import System
import TestSupport
import Testing

@testable import LocalProvider

/// Folders of file systems that do not announce changes.
@Suite(.timeLimit(.minutes(10))) struct UnreportedFoldersTests {
    /// Returns a folder on a network file system, after the first scan, without events.
    private func withoutEvents(
        _ photos: [String] = ["a.jpg"], fault: (@Sendable ([UInt8]) -> Int32)? = nil
    ) async throws -> PhotosFixture {
        let directory = try TemporaryDirectory()
        let device = try #require(FileStatus(directory.path)).identity.device
        let files = FileThreads(port: FileSystemPort(fault: fault, remoteDevices: { [device] }))
        let folder = try PhotosFixture(directory, photos: photos, files: files)
        try await folder.ready()
        folder.session.folder.watcher.stop()
        return folder
    }

    @Test func `changed folders of a network file system are scanned at refreshes`() async throws {
        let calls = Observed<[String]>([])
        let folder = try await withoutEvents(["x/a.jpg", "y/b.jpg", "y/z/c.jpg"]) { path in
            calls.append(String(decoding: path, as: UTF8.self))
            return 0
        }
        let notices = try await folder.events.wait { $0.compactMap(\.notices).first }
        // The limits of the kernel concern all programs.
        let limit = folder.session.folder.watcher.exceededLimit
        #expect(
            notices.first?.contains(limit ?? "4 folders on network or FUSE file systems") == true)
        let session = folder.session
        #expect(session.hasUnreportedFolders)
        func rest() async {
            for name in ["", "x", "y", "y/z", "y/new"] {
                PhotosFixture.touch(folder.path(name), seconds: 1_000_000)
            }
            await session.refreshUnreported()
        }
        await rest()
        try folder.add("y/d.jpg", seconds: 2_000_000)
        try folder.add("y/new/e.jpg", seconds: 3_000_000)
        try FileManager.default.removeItem(atPath: folder.path("x"))
        let before = calls.value.count
        await session.refreshUnreported()
        #expect(try await folder.titles() == ["e", "d", "c", "b"])
        // Files of unchanged folders are not looked up.
        #expect(!calls.value.dropFirst(before).contains { $0.hasSuffix("c.jpg") })
        await rest()
        let after = calls.value.count
        await session.refreshUnreported()
        #expect(!calls.value.dropFirst(after).contains { $0.hasSuffix(".jpg") })
        try FileManager.default.removeItem(atPath: folder.path("y/z"))
        await session.refreshUnreported()
        #expect(try await folder.titles() == ["e", "d", "b"])
        try folder.overwrite("y/.nomedia", [])
        await session.refreshUnreported()
        #expect(try await folder.titles() == [])
        unlink(folder.path("y/.nomedia"))
        await session.refreshUnreported()
        #expect(try await folder.titles() == ["e", "d", "b"])
    }

    @Test func `the page cache of the index is small again after a large refresh`() async throws {
        let folder = try await withoutEvents()
        func cacheSize() async throws -> Int64? {
            try await folder.session.folder.store.run { try $0.integer("PRAGMA cache_size") }
        }
        let before = try await cacheSize()
        let count = FolderScan.filesInTransaction.lowerBound + 1
        for number in 0..<count { try folder.add("x/\(number).jpg", seconds: 2_000_000) }
        await folder.session.refreshUnreported()
        #expect(try await folder.photos().count == count + 1)
        #expect(try await cacheSize() == before)
    }

    @Test func `a file that is being written at a refresh is shown by a later one`() async throws {
        let folder = try await withoutEvents()
        let file = Array(folder.path("b.jpg").utf8)
        try PhotosFixture.write([], to: file)
        PhotosFixture.touch(folder.root, seconds: 1_000_000)
        await folder.session.refreshUnreported()
        #expect(try await folder.titles() == ["a"])
        try PhotosFixture.write(PhotosFixture.jpeg, to: file)
        await folder.session.refreshUnreported()
        #expect(try await folder.titles() == ["b", "a"])
    }

    @Test func `a network file system is refreshed while all of it is hidden`() async throws {
        let folder = try await withoutEvents()
        try folder.overwrite(".nomedia", [])
        await folder.session.refreshUnreported()
        #expect(try await folder.titles() == [])
        #expect(folder.session.hasUnreportedFolders)
        unlink(folder.path(".nomedia"))
        await folder.session.refreshUnreported()
        #expect(try await folder.titles() == ["a"])
    }

    @Test func `a local folder is not refreshed`() async throws {
        let files = FileThreads(port: FileSystemPort(remoteDevices: { [] }))
        let folder = try PhotosFixture(photos: ["a.jpg"], files: files)
        try await folder.ready()
        let isReported = folder.session.folder.watcher.exceededLimit == nil
        #expect(folder.session.hasUnreportedFolders != isReported)
    }
}
