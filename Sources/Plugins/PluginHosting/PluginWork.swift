internal import Dispatch
internal import Glibc
internal import System

/// The work of the daemon for one plugin, whose processor time is limited. Work on a large message runs off the main
/// thread, so that it does not delay other calls. The plugins do not wait for each other.
final class PluginWork {
    /// The size above which a message is processed off the main thread. A page of 30 photos has about 35 KiB, and the
    /// change of threads takes longer than its processing.
    private static let mostBytesOnMain = 64 << 10
    /// The processor time for a round of the event loop. Without it, many small reads would cost almost nothing.
    private static let roundTime = Duration.microseconds(20)
    /// The part of the processor time for which calls and requests start without a delay.
    private static let undelayedPart = 0.3
    /// The longest delay. A client waits for it in addition to the duration of the call.
    private static let maximumDelay = Duration.seconds(5)

    private let queue = DispatchQueue(label: "plugin-messages")
    /// The processor time in seconds.
    private var time: Allowance
    private var isMeasuring = false
    /// Called when the processor time exceeds the limit.
    var onExcess: (() -> Void)?

    init(_ limits: PluginLimits) {
        time = Allowance(limits.daemonProcessorTime / .seconds(1), per: limits.processorWindow)
    }

    /// The time after which the next call or request may start; zero if it may start at once.
    ///
    /// A plugin that only answers calls takes more processor time if a client calls more often. The calls are delayed,
    /// so that the plugin is not ended because of the rate of the client.
    var delay: Duration { min(time.delay(untilBelow: Self.undelayedPart), Self.maximumDelay) }

    /// Records processor time.
    func record(_ more: Duration) { if !time.use(more / .seconds(1)) { onExcess?() } }

    /// Performs work, and records its processor time. Work within other work is a part of it.
    func measure<Value>(_ work: () -> Value) -> Value {
        guard !isMeasuring else { return work() }
        isMeasuring = true
        let (value, time) = Self.measured(work)
        isMeasuring = false
        record(time + Self.roundTime)
        return value
    }

    /// Performs work off the main thread, or at once if the message is small, and records its processor time.
    ///
    /// - Parameters:
    ///   - bytes: The size of the message.
    ///   - work: The work.
    /// - Returns: The result.
    func run<Value: Sendable>(bytes: Int, _ work: @escaping @Sendable () -> Value) async -> Value {
        guard bytes > Self.mostBytesOnMain else { return measure(work) }
        let (value, time) = await queue.run { Self.measured(work) }
        record(time)
        return value
    }

    /// Releases the value of a message off the main thread, if the caller has the only other reference: a large message
    /// consists of many objects.
    func discard(_ value: some Sendable, bytes: Int) {
        guard bytes > Self.mostBytesOnMain else { return }
        queue.async { withExtendedLifetime(value) {} }
    }

    /// Returns the result of work, and the processor time of this thread that it took.
    private nonisolated static func measured<Value>(_ work: () -> Value) -> (Value, Duration) {
        let start = processorTime
        let value = work()
        return (value, processorTime - start)
    }

    private nonisolated static var processorTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
