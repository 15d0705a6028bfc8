/// From the start of the process to its first answer, on a disk that has been read before.
struct StartUp {
    private static let runs = 20

    let times: [Duration]

    /// Leaves the daemon running.
    static func measure(_ fixture: DaemonFixture) async throws -> StartUp {
        var times: [Duration] = []
        for _ in 0..<runs {
            try await fixture.stop()
            let start = ContinuousClock.now
            try await fixture.start()
            times.append(ContinuousClock.now - start)
            // The next run shall not begin with the rest of this one.
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
