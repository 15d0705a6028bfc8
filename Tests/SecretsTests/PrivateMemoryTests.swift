import TestSupport
import Testing

@testable import Secrets

@Suite(.timeLimit(.minutes(10)))
struct PrivateMemoryTests {
    @Test func `the soft limit of core dumps is one byte`() async throws {
        await #expect(processExitsWith: .success) {
            await recordErrors {
                #expect(protectMemory())
                // A child inherits the limit. If the hard limit is 0, the soft limit is 0, too.
                let child = try ChildProcess("/bin/cat", ["/proc/self/limits"], environment: [:])
                let line = try #require(
                    try await child.result().output.split(separator: "\n")
                        .first { $0.hasPrefix("Max core file size") })
                let fields = line.split(separator: " ")
                #expect(fields[4] == (fields[5] == "0" ? "0" : "1"))
            }
        }
    }
}
