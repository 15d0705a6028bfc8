internal import System

/// The consecutive failures of a plugin, and the time of its next start.
///
/// This type only decides; its owner reads the clock.
nonisolated struct PluginHealth {
    private let limits: PluginLimits
    private var backoff: Backoff
    private(set) var lastReason = ""
    private var pausedUntil: ContinuousClock.Instant?

    init(_ limits: PluginLimits) {
        self.limits = limits
        // The first failure causes no pause.
        backoff = Backoff(
            first: limits.firstPause, factor: 5, longest: .seconds(3600), tolerance: 1)
    }

    var failures: Int { backoff.failures }

    /// True if the plugin failed so often that only another version of it may be started.
    var isDisabled: Bool { failures >= limits.failures }

    /// Records that the plugin works, which resets the failures.
    mutating func recordSuccess() {
        backoff.recordSuccess()
        pausedUntil = nil
    }

    /// Records a crash, a timeout or an invalid message. The first failure causes no pause; each further failure causes
    /// a longer pause than the previous one.
    mutating func recordFailure(_ reason: String, now: ContinuousClock.Instant) {
        backoff.recordFailure()
        lastReason = reason
        pausedUntil = now + backoff.pause
    }

    /// Returns the time until the plugin may be started; nil if it may be started now.
    func pause(now: ContinuousClock.Instant) -> Duration? {
        pausedUntil.flatMap { now < $0 ? $0 - now : nil }
    }
}
