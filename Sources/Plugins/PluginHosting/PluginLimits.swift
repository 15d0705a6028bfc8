internal import System
internal import Translation

/// The limits of a plugin.
nonisolated package struct PluginLimits: Sendable {
    /// The time for an answer to one call. The clients of the daemon get their replies a little later.
    package var answering = Duration.seconds(15)
    /// The time from the start to the answer to `initialize`.
    package var starting = Duration.seconds(10)
    /// The time after which an idle plugin is ended.
    package var idling = Duration.seconds(60)
    /// The time in which a plugin must end on request.
    package var gracePeriod = Duration.seconds(2)
    /// The size of one message, without the end of the line.
    package var lineBytes = 8 << 20
    /// The number of lines of the plugin that are logged in ten seconds.
    package var logLines = 50
    /// The time in which the plugin must read a part of the messages that wait on its standard input.
    package var reading = Duration.seconds(3)
    /// The processor time that the daemon may spend on the plugin in ``processorWindow``: to read, parse and handle its
    /// output, to send its requests and write responses, and to decide about its system calls.
    package var daemonProcessorTime = Self.defaultProcessorTime
    package var processorWindow = Duration.seconds(10)
    /// The number of HTTP requests that may be in progress.
    package var requests = 8
    /// The private writable memory: heap, anonymous mappings, data.
    package var memoryBytes = 512 << 20
    /// The memory of the control group, if there is one: in addition to the private memory, memory of the kernel and
    /// files that only the plugin uses. An allocation that exceeds the private memory fails before the group is full.
    package var groupBytes: Int { memoryBytes + 64 << 20 }
    /// The address space without a control group: in addition to the private memory, programs, libraries and memory
    /// that became read-only.
    package var addressSpaceBytes = Self.defaultAddressSpace
    package var processorSeconds = 600
    package var descriptors = 64
    /// The number of threads, the main thread included. `TasksMax=` of the unit has to leave room for the daemon and
    /// several plugins.
    package var threads = 32
    /// The number of consecutive failures after which the plugin is disabled.
    package var failures = 5
    /// The pause after the second consecutive failure. Each further pause is five times as long.
    package var firstPause = Duration.seconds(1)

    package init() {}

    // The sanitizers reserve terabytes of address space.
    #if SANITIZER
        private static let defaultAddressSpace = Int.max
    #else
        private static let defaultAddressSpace = 576 << 20
    #endif

    // Without optimization, the same work takes many times as long.
    #if DEBUG
        private static let defaultProcessorTime = Duration.seconds(9)
    #else
        private static let defaultProcessorTime = Duration.seconds(1)
    #endif
}

// The limits of plugins as text, for error messages.

nonisolated extension Int {
    /// The number of bytes with a unit, such as `8 MiB`.
    var sizeText: String {
        if self >= 1 << 20, self % (1 << 20) == 0 { return "\(self >> 20) MiB" }
        if self >= 1 << 10, self % (1 << 10) == 0 { return "\(self >> 10) KiB" }
        return "\(self) bytes"
    }
}

nonisolated extension Duration {
    /// The duration in seconds with a unit, such as `15 seconds` or `0.3 seconds`.
    var secondsText: String { secondsMessage(rounded: .up).english }
}

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
