/// The activity of the daemon without calls.
struct Idle {
    let seconds: Int
    let contextSwitches: Int
    let ticks: Int
    let threads: Int

    /// Waits until the daemon uses no processor time for four seconds.
    static func begins(_ process: ProcessFigures) async throws {
        let deadline = ContinuousClock.now + .seconds(900)
        var ticks = -1
        while try process.ticks() > ticks {
            guard ContinuousClock.now < deadline else {
                throw BenchmarkError("the daemon does not become idle")
            }
            ticks = try process.ticks()
            try await Task.sleep(for: .seconds(4))
        }
    }

    static func measure(_ process: ProcessFigures, seconds: Int) async throws -> Idle {
        try await begins(process)
        // The threads of Dispatch end some seconds after their last work.
        try await Task.sleep(for: .seconds(10))
        let switches = try process.contextSwitches()
        let ticks = try process.ticks()
        try await Task.sleep(for: .seconds(seconds))
        let new = try process.contextSwitches().map { thread, count in
            count - switches[thread, default: 0]
        }
        return Idle(
            seconds: seconds, contextSwitches: new.reduce(0, +),
            ticks: try process.ticks() - ticks, threads: try process.threadCount())
    }

    var rows: [Table.Row] {
        [
            Table.Row("Idle for \(seconds) s, context switches", "\(contextSwitches)"),
            Table.Row("Idle for \(seconds) s, CPU ticks", "\(ticks)"),
            Table.Row("Threads", "\(threads)"),
        ]
    }
}
