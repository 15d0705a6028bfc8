/// The consecutive failures of a plugin, and the time of its next start.
///
/// This type only decides; its owner reads the clock.
nonisolated struct PluginHealth {
    private let limits: PluginLimits
    private(set) var failures = 0
    private(set) var lastReason = ""
    private var pausedUntil: ContinuousClock.Instant?

    init(_ limits: PluginLimits) { self.limits = limits }

    /// True if the plugin failed so often that only another version of it may be started.
    var isDisabled: Bool { failures >= limits.failures }

    /// Records that the plugin works, which resets the failures.
    mutating func recordSuccess() {
        failures = 0
        pausedUntil = nil
    }

    /// Records a crash, a timeout or an invalid message. The first failure causes no pause; each further failure causes
    /// a longer pause than the previous one.
    mutating func recordFailure(_ reason: String, now: ContinuousClock.Instant) {
        failures += 1
        lastReason = reason
        guard failures > 1 else { return }
        var pause = limits.firstPause
        for _ in 2..<failures { pause *= 5 }
        pausedUntil = now + pause
    }

    /// Returns the time until the plugin may be started; nil if it may be started now.
    func pause(now: ContinuousClock.Instant) -> Duration? {
        pausedUntil.flatMap { now < $0 ? $0 - now : nil }
    }
}
