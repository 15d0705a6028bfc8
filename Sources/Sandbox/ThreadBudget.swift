/// The decision whether a process may start another thread.
///
/// A permitted thread appears in the count only some time later. Until then, the budget counts it in advance.
package struct ThreadBudget {
    /// The number of threads that the process may have, the main thread included.
    private let limit: Int
    /// The time when each thread was last permitted to start another one, by the ID of the starting thread.
    private var permitted: [Int32: ContinuousClock.Instant] = [:]
    /// The total number of permitted threads.
    private var total = 0

    /// The time in which a permitted thread appears in the count, even on a busy machine.
    static let startTime = Duration.milliseconds(100)

    /// - Parameter limit: The number of threads that the process may have, the main thread included.
    package init(limit: Int) { self.limit = limit }

    /// Decides whether a thread may start another one.
    ///
    /// - Parameters:
    ///   - starter: The ID of the thread that starts another one. Its previous start is complete.
    ///   - running: The number of running threads; nil if it is unknown. Then no thread may replace one that has
    ///     ended.
    ///   - now: The current time.
    /// - Returns: True if the thread may start.
    package mutating func permitsStart(
        by starter: Int32, running: Int?, now: ContinuousClock.Instant
    ) -> Bool {
        permitted[starter] = nil
        permitted = permitted.filter { $0.value + Self.startTime > now }
        let count = running.map { $0 + permitted.count } ?? total + 1
        guard count < limit else { return false }
        permitted[starter] = now
        total += 1
        return true
    }
}
