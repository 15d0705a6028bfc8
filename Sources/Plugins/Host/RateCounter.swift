/// A counter of events in a time window. It restarts after the window.
nonisolated struct RateCounter {
    private let limit: Int
    private let window: Duration
    private var count = 0
    private var start: ContinuousClock.Instant?

    init(_ limit: Int, per window: Duration) {
        self.limit = limit
        self.window = window
    }

    /// Counts an event, or several.
    ///
    /// - Returns: True if the count is within the limit.
    mutating func record(_ amount: Int = 1, at now: ContinuousClock.Instant = .now) -> Bool {
        if let start, now < start + window {
            count += amount
        } else {
            start = now
            count = amount
        }
        return count <= limit
    }
}
