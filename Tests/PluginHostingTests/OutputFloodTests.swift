import PluginHosting
import ProviderKit
import TestSupport
import Testing

/// A plugin that floods its output and occupies memory and a processor. Other plugins are served meanwhile.
///
/// Like all suites whose name ends in `FloodTests`, this one compares times and runs after the other tests.
@Suite(.timeLimit(.minutes(10)), .serialized) @MainActor
struct OutputFloodTests {
    /// The fastest calls are compared, and one of several attempts has to succeed.
    @Test func `a flood of one plugin does not delay the calls of another`() async throws {
        let calm = try PluginFixture("show('calm')")
        try await compareTimes {
            let alone = try await calls(of: calm)
            let beside = try await callsBesideFlood(of: calm)
            // Half as much again, and a time slice of the scheduler on a busy machine.
            return beside < alone * 1.5 + .milliseconds(4) ? nil : "\(alone), then \(beside)"
        }
    }

    private func callsBesideFlood(of calm: PluginFixture) async throws -> Duration {
        let flood = try PluginFixture(
            """
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            for _ in range(900): write({"method": "log", "params": {"message": "x" * 1000}})
            kept = bytearray(100 << 20)
            while True: kept[0] = 1
            """)
        let call = Task { try await flood.session.fetchPage(SourceID("home"), from: nil) }
        defer { call.cancel() }
        try await flood.logged("Odd photos: x")
        return try await calls(of: calm)
    }

    /// Returns the tenth percentile of the durations of calls.
    private func calls(of plugin: PluginFixture) async throws -> Duration {
        _ = try await plugin.page()
        var times: [Duration] = []
        for _ in 0..<100 {
            let start = ContinuousClock.now
            _ = try await plugin.page()
            times.append(.now - start)
        }
        return times.sorted()[10]
    }
}
