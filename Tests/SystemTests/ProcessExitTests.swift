import Glibc
import TestSupport
import Testing

@testable import System

@MainActor
@Suite(.timeLimit(.minutes(10)))
struct ProcessExitTests {
    @Test(arguments: [
        ("exit 0", SpawnedProcess.Exit.code(0)), ("exit 7", .code(7)), ("kill -9 $$", .signal(9)),
    ])
    func `the exit status is returned`(_ script: String, _ exit: SpawnedProcess.Exit) async throws {
        #expect(try await SpawnedProcess("/bin/sh", ["-c", script]).exit() == exit)
        #expect(try SpawnedProcess("/bin/sh", ["-c", script]).waitForExit() == exit)
    }

    @Test func `the handler is called once, after the exit`() async throws {
        let result = OneShotResult<SpawnedProcess.Exit, Never>()
        var calls = 0
        let ends = try PipeEnds()
        let process = try SpawnedProcess("/bin/cat", descriptors: [0: ends.reading])
        process.onExit {
            calls += 1
            result.complete(.success($0))
        }
        #expect(calls == 0)
        close(ends.takeWriting())
        #expect(await result.value() == .code(0))
        #expect(calls == 1)
    }

    @Test func `a process that ended before is reported`() async throws {
        let ends = try PipeEnds()
        let process = try SpawnedProcess("/bin/true", descriptors: [1: ends.writing])
        close(ends.takeWriting())
        // The end of the pipe precedes the exit.
        var byte: UInt8 = 0
        #expect(read(ends.reading, &byte, 1) == 0)
        #expect(await process.exit() == .code(0))
    }
}
