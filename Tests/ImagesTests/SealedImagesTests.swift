import EngineModel
import Glibc
import TestSupport
import Testing

@testable import Images

/// Copies of images for clients, which no client can modify.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct SealedImagesTests {
    private let directory: TemporaryDirectory
    private let clock = ManualClock()
    private let images: SealedImages

    init() throws {
        directory = try TemporaryDirectory()
        images = SealedImages(clock: clock, limits: (bytes: (300, 200), count: (4, 3)))
    }

    private func source(_ name: String, _ contents: String) throws -> Int32 {
        let path = try directory.write(contents, to: name)
        return open(path, O_RDONLY | O_CLOEXEC)
    }

    private func copy(
        _ name: String, _ contents: String, for client: String = "a"
    ) async throws -> Int32 {
        try await images.copy(of: source(name, contents), for: client)
    }

    private func contents(_ descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 1000)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes[..<max(0, count)], as: UTF8.self)
    }

    @Test func `a copy cannot be modified, not even by reopening it`() async throws {
        let descriptor = try await copy("image", "contents")
        defer { close(descriptor) }
        #expect(contents(descriptor) == "contents")
        #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
        #expect(fcntl(descriptor, F_GETFL) & O_ACCMODE == O_RDONLY)
        fchmod(descriptor, 0o666)
        for flags in [O_WRONLY, O_RDWR, O_RDWR | O_TRUNC] {
            let writable = open("/proc/self/fd/\(descriptor)", flags | O_CLOEXEC)
            guard writable >= 0 else { continue }
            #expect(write(writable, "x", 1) == -1)
            #expect(ftruncate(writable, 0) == -1)
            #expect(ftruncate(writable, 100) == -1)
            let memory = mmap(nil, 8, PROT_READ | PROT_WRITE, MAP_SHARED, writable, 0)
            #expect(memory == MAP_FAILED)
            close(writable)
        }
        #expect(contents(descriptor) == "contents")
        #expect(contents(try source("other", "contents")) == "contents")
    }

    @Test func `each call has a copy of its own, with the contents at that time`() async throws {
        let first = try await copy("image", "before")
        let second = try await copy("image", "after!")
        defer { for descriptor in [first, second] { close(descriptor) } }
        #expect(images.count == 2)
        #expect(contents(first) == "before")
        #expect(contents(second) == "after!")
        #expect(lseek(first, 5, SEEK_SET) == 5)
        #expect(lseek(second, 0, SEEK_CUR) == 0)
    }

    @Test func `a client that removes permissions does not affect others`() async throws {
        let original = try directory.write("contents", to: "image")
        let first = try await images.copy(of: open(original, O_RDONLY), for: "a")
        fchmod(first, 0)
        let second = try await images.copy(of: open(original, O_RDONLY), for: "b")
        defer { for descriptor in [first, second] { close(descriptor) } }
        #expect(contents(second) == "contents")
    }

    @Test func `the size and number of copies are limited per client and in total`() async throws {
        let text = String(repeating: "x", count: 100)
        var open = [try await copy("1", text), try await copy("2", text)]
        await #expect(throws: EngineError.tooManyImages) { try await copy("3", "y") }
        open.append(try await copy("3", String(repeating: "x", count: 60), for: "b"))
        open.append(try await copy("4", "z", for: "b"))
        await #expect(throws: EngineError.tooManyImages) { try await copy("5", "y", for: "c") }
        // A closed copy makes room at once.
        close(open.removeFirst())
        open.append(try await copy("6", "y", for: "a"))
        #expect(images.count == 4)
        for descriptor in open { close(descriptor) }
    }

    @Test func `copies that no client has open are released`() async throws {
        let descriptor = try await copy("image", "contents")
        #expect(images.count == 1)
        _ = try await clock.sleepers.elements(2)
        clock.advance(by: .seconds(20))
        let now = clock.now
        try await clock.sleepers.wait { $0.contains { $0 > now } ? true : nil }
        #expect(images.count == 1)
        close(descriptor)
        clock.advance(by: .seconds(60))
        try await poll { images.count == 0 }
    }

    @Test func `an image that is too large is refused`() async throws {
        let descriptor = try source("image", "")
        #expect(truncate(directory.appending("image"), off_t(65 << 20)) == 0)
        let error = await #expect(throws: EngineError.self) {
            try await images.copy(of: descriptor, for: "a")
        }
        guard case .tooLarge = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `a file that cannot be read fails, and is closed`() async throws {
        let folder = open(directory.path, O_RDONLY | O_DIRECTORY)
        var expected = stat()
        try #require(fstat(folder, &expected) == 0)
        await #expect(throws: (any Error).self) { try await images.copy(of: folder, for: "a") }
        let count = (0..<Int32(1024)).count {
            var found = stat()
            return fstat($0, &found) == 0 && found.st_ino == expected.st_ino
                && found.st_dev == expected.st_dev
        }
        #expect(count == 0)
    }
}
