/// An amount of a resource that is used up, and becomes available again at a constant rate.
nonisolated struct Allowance {
    private let limit: Double
    /// The amount that becomes available in a second.
    private let rate: Double
    private var amount = 0.0
    private var updated: ContinuousClock.Instant?

    /// - Parameters:
    ///   - limit: The amount that may be in use.
    ///   - window: The time in which this amount becomes available again.
    init(_ limit: Double, per window: Duration) {
        self.limit = limit
        rate = limit / (window / .seconds(1))
    }

    /// Returns the amount that is in use.
    func used(at now: ContinuousClock.Instant = .now) -> Double {
        guard let updated else { return 0 }
        return max(0, amount - rate * ((now - updated) / .seconds(1)))
    }

    /// Uses an amount, unless it exceeds the limit.
    ///
    /// - Returns: False if the amount exceeds the limit.
    mutating func use(_ more: Double = 1, at now: ContinuousClock.Instant = .now) -> Bool {
        let total = used(at: now) + more
        guard total <= limit else { return false }
        (amount, updated) = (total, now)
        return true
    }

    /// Returns the time until at most a part of the limit is in use; zero if that is so already.
    func delay(untilBelow part: Double, at now: ContinuousClock.Instant = .now) -> Duration {
        max(.zero, .seconds((used(at: now) - limit * part) / rate))
    }
}
