/// Counts what happens within a time, and begins anew after it.
nonisolated struct RateCounter {
    private let limit: Int
    private let window: Duration
    private var count = 0
    private var start: ContinuousClock.Instant?

    init(_ limit: Int, per window: Duration) {
        self.limit = limit
        self.window = window
    }

    /// Counts.
    ///
    /// - Returns: Whether it is no more than may be.
    mutating func note(_ amount: Int = 1, at now: ContinuousClock.Instant = .now) -> Bool {
        if let start, now < start + window {
            count += amount
        } else {
            start = now
            count = amount
        }
        return count <= limit
    }
}
