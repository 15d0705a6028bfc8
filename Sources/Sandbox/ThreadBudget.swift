/// The decision whether a process may start one more thread.
///
/// A thread whose start was permitted appears only some time later. Until then, the budget counts it in advance.
package struct ThreadBudget {
    /// The number of threads that the process may have, the main thread included.
    private let limit: Int
    /// The time when each thread was last permitted to start another one, by the id of the starting thread.
    private var permitted: [Int32: ContinuousClock.Instant] = [:]
    /// The number of all threads that were permitted to start.
    private var total = 0

    /// The time in which a thread that was permitted to start appears, also on a busy computer.
    static let startTime = Duration.milliseconds(100)

    package init(limit: Int) { self.limit = limit }

    /// Decides whether a thread may start another one.
    ///
    /// - Parameters:
    ///   - starter: The id of the thread that starts another one. Its previous start has ended.
    ///   - running: The number of threads that run; nil if it is not known. Then no thread takes the place of one
    ///     that ended.
    ///   - now: The present time.
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
