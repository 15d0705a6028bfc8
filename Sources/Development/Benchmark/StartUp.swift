/// The time from the start of the process to its first reply, with the program in the page cache.
struct StartUp {
    private static let runs = 20

    let times: [Duration]

    /// Measures the start several times and leaves the daemon running.
    static func measure(_ fixture: DaemonFixture) async throws -> StartUp {
        var times: [Duration] = []
        for _ in 0..<runs {
            try await fixture.stop()
            let start = ContinuousClock.now
            try await fixture.start()
            times.append(ContinuousClock.now - start)
            // Excludes the remaining work of this run from the next one.
            try await Task.sleep(for: .milliseconds(300))
        }
        return StartUp(times: times)
    }

    var rows: [Table.Row] {
        [
            Table.Row("Start-up, median of \(times.count)", milliseconds(times.median)),
            Table.Row("Start-up, slowest", milliseconds(times.max() ?? .zero)),
        ]
    }
}
