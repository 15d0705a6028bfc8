/// The delays that limit the number of requests that start in a second. A burst of that many requests is not delayed.
nonisolated struct RequestPace {
    private let interval: Duration
    /// The earliest start of the next request at the maximum rate without bursts.
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
