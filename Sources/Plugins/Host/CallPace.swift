/// The delays of the calls of the daemon that keep the processor time for a plugin within a share.
///
/// A plugin that only answers calls takes more processor time if a client calls more often. The calls are delayed, so
/// that the plugin is not ended because of the rate of the client.
nonisolated struct CallPace {
    /// The time that passes until one unit of processor time is available again.
    private let recovery: Int
    /// The time that calls can be ahead of the share without a delay.
    private let burst: Duration
    /// The time at which the recorded processor time is within the share.
    private var end: ContinuousClock.Instant?

    /// The longest delay. A client waits for it in addition to the duration of the call.
    static let maximumDelay = Duration.seconds(5)

    /// - Parameters:
    ///   - limit: The processor time above which a plugin is ended. Calls may use half of it, three tenths in a burst.
    ///   - window: The time in which the limit applies.
    init(limit: Duration, per window: Duration) {
        recovery = max(1, Int(window / (limit / 2)))
        burst = limit * 3 / 10 * recovery
    }

    /// Records processor time that was spent on the plugin.
    mutating func record(_ time: Duration, at now: ContinuousClock.Instant = .now) {
        end = max(end ?? now, now) + time * recovery
    }

    /// Returns the time after which a call may start; zero if it may start at once.
    func delay(at now: ContinuousClock.Instant = .now) -> Duration {
        guard let end else { return .zero }
        return min(max(.zero, end - now - burst), Self.maximumDelay)
    }
}
