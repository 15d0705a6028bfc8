/// How a plugin has been doing, and when it may be started again.
///
/// A value that decides; the clock is its owner's.
nonisolated struct PluginHealth {
    private let limits: PluginLimits
    private(set) var failures = 0
    private(set) var lastReason = ""
    private var restingUntil: ContinuousClock.Instant?

    init(_ limits: PluginLimits) { self.limits = limits }

    /// Whether it has failed so often that only another version of it may be started.
    var isDisabled: Bool { failures >= limits.failures }

    /// Takes note of an answer.
    mutating func noteSuccess() {
        failures = 0
        restingUntil = nil
    }

    /// Takes note of a crash, a hang, or nonsense. The first one costs no time, each further one more.
    mutating func noteFailure(_ reason: String, now: ContinuousClock.Instant) {
        failures += 1
        lastReason = reason
        guard failures > 1 else { return }
        var pause = limits.firstPause
        for _ in 2..<failures { pause *= 5 }
        restingUntil = now + pause
    }

    func mayStart(now: ContinuousClock.Instant) -> Bool {
        !isDisabled && restingUntil.map { now >= $0 } ?? true
    }
}
