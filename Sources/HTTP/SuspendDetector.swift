internal import Glibc

/// A detector for suspends of the machine, which needs no timer and no service.
///
/// The boot clock runs during a suspend, the monotonic clock does not.
///
/// Source: clock_gettime(2).
nonisolated struct SuspendDetector {
    /// The smallest difference that indicates a suspend. Smaller differences are the time between the two readings.
    private static let tolerance = Duration.seconds(1)

    private let suspendedTime: () -> Duration
    private var last: Duration

    /// - Parameter suspendedTime: Returns the time that the machine has been suspended since its start.
    init(suspendedTime: @escaping () -> Duration = Self.suspendedTime) {
        self.suspendedTime = suspendedTime
        last = suspendedTime()
    }

    /// Returns true if the machine was suspended since the last call.
    mutating func detectSuspend() -> Bool {
        let current = suspendedTime()
        defer { last = current }
        return current - last >= Self.tolerance
    }

    private static func suspendedTime() -> Duration {
        var (boot, monotonic) = (timespec(), timespec())
        guard clock_gettime(CLOCK_BOOTTIME, &boot) == 0,
            clock_gettime(CLOCK_MONOTONIC, &monotonic) == 0
        else { return .zero }
        return .seconds(boot.tv_sec - monotonic.tv_sec)
            + .nanoseconds(boot.tv_nsec - monotonic.tv_nsec)
    }
}
