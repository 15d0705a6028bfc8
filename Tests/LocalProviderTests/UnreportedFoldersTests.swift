import FoundationEssentials
import Glibc
import ProviderKit
import System
import TestSupport
import Testing

@testable import LocalProvider

/// Folders of file systems that do not announce changes.
@Suite(.timeLimit(.minutes(10))) struct UnreportedFoldersTests {
    @Test func `changed folders of a network file system are scanned at each refresh of a watch`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let device = try #require(FileStatus(directory.path)).identity.device
        let calls = Observed<[String]>([])
        let files = FileThreads(
            port: FileSystemPort(
                fault: { path in
                    calls.append(String(decoding: path, as: UTF8.self))
                    return 0
                }, remoteDevices: { [device] }))
        let names = ["x/a.jpg", "y/b.jpg", "y/z/c.jpg"]
        let folder = try PhotosFixture(directory, photos: names, files: files)
        try await folder.ready()
        let notices = try await folder.events.wait { events -> [String]? in
            events.compactMap { if case .notices(let texts) = $0 { texts } else { nil } }.first
        }
        // The limits of the kernel concern all programs.
        let limit = folder.session.folder.watcher.exceededLimit
        #expect(
            notices.first?.contains(limit ?? "4 folders on network or FUSE file systems") == true)
        let session = folder.session
        #expect(session.hasUnreportedFolders)
        // Without events.
        session.folder.watcher.stop()
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
        try PhotosFixture.write([], to: Array(folder.path("y/.nomedia").utf8))
        await session.refreshUnreported()
        #expect(try await folder.titles() == [])
        unlink(folder.path("y/.nomedia"))
        await session.refreshUnreported()
        #expect(try await folder.titles() == ["e", "d", "b"])
    }

    /// Returns a folder with one photo on a network file system.
    private func withoutEvents() async throws -> PhotosFixture {
        let directory = try TemporaryDirectory()
        let device = try #require(FileStatus(directory.path)).identity.device
        let files = FileThreads(port: FileSystemPort(remoteDevices: { [device] }))
        let folder = try PhotosFixture(directory, photos: ["a.jpg"], files: files)
        try await folder.ready()
        // Without events.
        folder.session.folder.watcher.stop()
        return folder
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

    @Test func `a network file system is refreshed while all its folders are hidden`()
        async throws
    {
        let folder = try await withoutEvents()
        try PhotosFixture.write([], to: Array(folder.path(".nomedia").utf8))
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
