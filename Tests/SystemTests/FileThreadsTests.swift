import Glibc
import TestSupport
import Testing

@testable import System

@Suite(.timeLimit(.minutes(10))) struct FileThreadsTests {
    /// A file system that hangs at some paths until they are released.
    private final class HangingFiles: Sendable {
        let hanging = Observed<Set<String>>([])
        let begun = Observed<[String]>([])

        var port: FileSystemPort {
            FileSystemPort(fault: { [self] path in
                let path = String(decoding: path, as: UTF8.self)
                begun.append(path)
                while hanging.value.contains(path) { Thread.pause() }
                return 0
            })
        }

        func release(_ path: String) { hanging.update { $0.remove(path) } }
    }

    private let files = HangingFiles()

    private func threads(_ change: (inout FileThreads.Limits) -> Void = { _ in }) -> FileThreads {
        var limits = FileThreads.Limits()
        // Longer than a slow machine takes for a job that does not hang.
        limits.timeout = .seconds(5)
        limits.retryInterval = .seconds(1000)
        change(&limits)
        return FileThreads(limits, port: files.port)
    }

    private func touch(_ path: String, _ threads: FileThreads) async -> Bool {
        let bytes = Array(path.utf8)
        return await threads.run(bytes) { $0.begin(bytes) == 0 } ?? false
    }

    @Test func `a job that hangs ends without a result, and others run`() async {
        let threads = threads()
        files.hanging.update { $0 = ["/p/a"] }
        #expect(await !touch("/p/a", threads))
        #expect(threads.blockedCount == 1)
        #expect(await touch("/p/b", threads))
        files.release("/p/a")
    }

    @Test func `a path where a thread is blocked is not tried again before it returns`()
        async throws
    {
        let threads = threads()
        let recoveries = Observed(0)
        threads.setRecoveryHandler { recoveries.update { $0 += 1 } }
        files.hanging.update { $0 = ["/p/a"] }
        for _ in 0..<3 { #expect(await !touch("/p/a", threads)) }
        #expect(await !touch("/p/a/below", threads))
        #expect(files.begun.value == ["/p/a"])
        #expect(threads.isUnavailable(Array("/p/a".utf8)))
        #expect(!threads.isUnavailable(Array("/p/ab".utf8)))
        files.release("/p/a")
        try await recoveries.wait { $0 == 1 ? true : nil }
        #expect(await touch("/p/a", threads))
        #expect(threads.blockedCount == 0)
    }

    @Test func `a path is tried again after the retry interval`() async {
        let threads = threads { $0.retryInterval = .zero }
        files.hanging.update { $0 = ["/p/a"] }
        #expect(await !touch("/p/a", threads))
        #expect(await !touch("/p/a", threads))
        #expect(files.begun.value == ["/p/a", "/p/a"])
        #expect(threads.blockedCount == 2)
        files.release("/p/a")
    }

    @Test func `a part of the root folder blocks a limited number of threads`() async {
        let threads = threads { $0.blockedInPart = 3 }
        threads.setRoot(Array("/p".utf8))
        let paths = (0..<6).map { "/p/nas/\($0)/a" }
        files.hanging.update { $0 = Set(paths) }
        async let first = touch(paths[0], threads)
        async let second = touch(paths[1], threads)
        async let third = touch(paths[2], threads)
        let results = await [first, second, third]
        #expect(results == [false, false, false])
        for path in paths[3...] { #expect(await !touch(path, threads)) }
        #expect(threads.blockedCount == 3)
        #expect(await touch("/p/other/a", threads))
        #expect(await touch("/p/a", threads))
        for path in paths { files.release(path) }
    }

    @Test func `jobs wait while the others run`() async {
        let threads = threads { $0.running = 1 }
        files.hanging.update { $0 = ["/p/a"] }
        async let first = touch("/p/a", threads)
        async let second = touch("/q/b", threads)
        #expect(await !first)
        #expect(await second)
        files.release("/p/a")
    }

    @Test func `a job that makes progress may take longer than the time limit`() async {
        let threads = threads()
        let end = ContinuousClock.now + .seconds(7)
        let isDone = await threads.run(Array("/p/a".utf8)) { progress in
            while ContinuousClock.now < end {
                Thread.pause()
                guard progress.advance() else { return false }
            }
            return true
        }
        #expect(isDone == true)
        #expect(threads.blockedCount == 0)
    }

    @Test func `a late result is discarded`() async throws {
        let threads = threads()
        let discarded = Observed<[Int]>([])
        files.hanging.update { $0 = ["/p/a"] }
        let path = Array("/p/a".utf8)
        let result = await threads.run(path) {
            discarded.append($0)
        } _: { progress in
            _ = progress.begin(path)
            return 7
        }
        #expect(result == nil)
        files.release("/p/a")
        try await discarded.wait { $0 == [7] ? true : nil }
    }

    @Test func `the kernel's mount points are absolute paths`() {
        let mountPoints = FileSystemPort().mountPoints()
        #expect(mountPoints.contains(Array("/proc".utf8)))
        #expect(mountPoints.allSatisfy { $0.first == UInt8(ascii: "/") })
    }
}

/// A pause of a thread that polls.
private enum Thread {
    static func pause() {
        var time = timespec(tv_sec: 0, tv_nsec: 1_000_000)
        nanosleep(&time, nil)
    }
}
