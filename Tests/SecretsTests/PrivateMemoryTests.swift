import TestSupport
import Testing

@testable import Secrets

@Suite(.timeLimit(.minutes(1)))
struct PrivateMemoryTests {
    @Test func `the limit of core dumps is lowered, and can be raised again`() async throws {
        await #expect(processExitsWith: .success) {
            #expect(keepMemoryPrivate())
            // A child inherits it. Where the hard limit is none, so is the soft one.
            let child = try ChildProcess("/bin/cat", ["/proc/self/limits"], environment: [:])
            let line = try #require(
                try await child.result().output.split(separator: "\n")
                    .first { $0.hasPrefix("Max core file size") })
            let fields = line.split(separator: " ")
            #expect(fields[4] == (fields[5] == "0" ? "0" : "1"))
        }
    }
}
