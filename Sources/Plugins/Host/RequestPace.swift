/// The delays that limit how many requests start in a second. A burst of as many is not delayed.
nonisolated struct RequestPace {
    private let interval: Duration
    /// The time at which the requests so far would have started at the limit.
    private var end: ContinuousClock.Instant?

    /// - Parameter limit: The number of requests in a second.
    init(perSecond limit: Int) { interval = .seconds(1) / limit }

    /// Records a request.
    ///
    /// - Returns: The time after which the request may start; zero if it may start at once.
    mutating func recordRequest(at now: ContinuousClock.Instant = .now) -> Duration {
        let start = max(end ?? now, now)
        end = start + interval
        return max(.zero, start - now - .seconds(1))
    }
}
