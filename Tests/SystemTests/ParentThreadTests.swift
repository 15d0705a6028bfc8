import Glibc
import Testing

@testable import System

/// Tests in a program without a main loop.
@MainActor
struct ParentThreadTests {
    @Test func `all closures run on one thread, and errors are thrown`() async throws {
        let first = ParentThread.run { UInt(pthread_self()) }
        // The next part of the test may run on another thread.
        await Task.yield()
        let second = ParentThread.run { UInt(pthread_self()) }
        #expect(first == second)
        #expect(first != UInt(pthread_self()))
        let error = SpawnError(program: "/nowhere", code: ENOENT)
        #expect(throws: error) { try ParentThread.run { () throws(SpawnError) in throw error } }
    }
}
