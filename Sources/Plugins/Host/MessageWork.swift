internal import Dispatch
internal import Glibc
internal import System

/// Work on the messages of one plugin, with its processor time. Work on a large message runs off the main thread, so
/// that it does not delay other calls. The plugins do not wait for each other.
nonisolated final class MessageWork: Sendable {
    /// The size above which a message is processed off the main thread. A page of 30 photos has about 35 KiB, and the
    /// change of threads takes longer than its processing.
    static let mostBytesOnMain = 64 << 10

    private let queue = DispatchQueue(label: "plugin-messages")

    /// Runs work off the main thread, or at once if the message is small.
    ///
    /// - Parameters:
    ///   - bytes: The size of the message.
    ///   - work: The work.
    /// - Returns: The result and the processor time.
    @MainActor
    func run<Value: Sendable>(
        bytes: Int, _ work: @escaping @Sendable () -> Value
    ) async -> (Value, Duration) {
        guard bytes > Self.mostBytesOnMain else { return Self.measure(work) }
        return await queue.run { Self.measure(work) }
    }

    /// Releases a value off the main thread, if the caller has the only other reference: a large message consists of
    /// many objects.
    func discard(_ value: some Sendable) {
        queue.async { withExtendedLifetime(value) {} }
    }

    /// Returns the result of work, and the processor time of this thread that it took.
    static func measure<Value, Failure>(
        _ work: () throws(Failure) -> Value
    ) throws(Failure) -> (Value, Duration) {
        let start = processorTime
        let value = try work()
        return (value, processorTime - start)
    }

    private static var processorTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
