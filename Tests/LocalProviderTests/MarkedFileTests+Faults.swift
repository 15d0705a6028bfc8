import Glibc
import Synchronization
import System
import TestSupport
import Testing

@testable import LocalProvider

/// Files that change or fail during a scan.
extension MarkedFileTests {
    /// The number of file system calls since ``start()``.
    private final class CallCount: Sendable {
        private let count = Atomic(Int.min)

        func start() { count.store(0, ordering: .relaxed) }

        func next() -> Int { count.add(1, ordering: .relaxed).newValue }
    }

    /// Creates a folder with the photos `a.jpg`, which is liked, and `b.jpg`.
    ///
    /// - Parameters:
    ///   - calls: Counts the file system calls for `name`.
    ///   - moment: The number of the call before which `action` runs.
    ///   - name: The name of a file.
    ///   - action: Receives the path of the file, and returns the error of the call.
    /// - Returns: The folder.
    /// - Throws: See ``PhotosFixture/init(_:root:cache:photos:images:files:clock:calendar:showsLocation:)``.
    private func folder(
        _ calls: CallCount, _ moment: Int, _ name: String,
        _ action: @escaping @Sendable ([UInt8]) -> Int32
    ) async throws -> PhotosFixture {
        let directory = try TemporaryDirectory()
        let path = Array(directory.appending("home/Pictures/\(name)").utf8)
        let port = FileSystemPort(fault: { called in
            called == path && calls.next() == moment ? action(path) : 0
        })
        let folder = try PhotosFixture(
            directory, photos: ["a.jpg", "b.jpg"], files: FileThreads(port: port))
        try await folder.register()
        try await folder.ready()
        try folder.overwrite("a.jpg", jpeg("2026:05:01 10:00:00", [1]))
        try await scan(folder)
        try await folder.like("a")
        return folder
    }

    @Test(arguments: 1...4)
    func `a photo that is replaced during a scan is not liked`(moment: Int) async throws {
        let calls = CallCount()
        let folder = try await folder(calls, moment, "a.jpg") { path in
            _ = withCPath(path) { unlink($0) }
            try? PhotosFixture.write(PhotosFixture.jpeg + [9], to: path)
            return 0
        }
        calls.start()
        PhotosFixture.touch(folder.path("a.jpg"), seconds: 5_000_000)
        for _ in 1...3 { try await scan(folder) }
        try #require(calls.next() > moment)
        #expect(try await liked(folder) == [])
    }

    @Test(arguments: 1...6)
    func `a like follows a photo that cannot be read once`(moment: Int) async throws {
        let calls = CallCount()
        let folder = try await folder(calls, moment, "d.jpg") { _ in EIO }
        calls.start()
        unlink(folder.path("a.jpg"))
        let photo = jpeg("2026:05:01 10:00:00", [1])
        let comment: [UInt8] = [0xff, 0xfe, 0, 4, 0x41, 0x42]
        try folder.overwrite("d.jpg", photo.prefix(2) + comment + photo.dropFirst(2))
        for _ in 1...2 { try await scan(folder) }
        #expect(try await liked(folder) == ["d"])
    }

    /// File systems give the inode numbers of deleted files to new ones.
    @Test func `a like moves to an earlier copy if its inode number is reused`() async throws {
        let folder = try await copies()
        try await folder.like("a")
        let again = try await change(folder, .running) {
            let other = folder.directory.appending("tmp/other")
            link(folder.path("a.jpg"), other)
            unlink(folder.path("a.jpg"))
            try PhotosFixture.write(PhotosFixture.jpeg + [2], to: other)
            link(other, folder.path("a.jpg"))
        }
        #expect(try await liked(again) == ["b"])
    }
}
