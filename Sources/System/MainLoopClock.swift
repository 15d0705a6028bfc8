/// A clock whose sleepers wait in the event loop of the main thread.
///
/// `Task.sleep` waits on a global queue of libdispatch, whose pool, once started, wakes the process every second.
/// Tolerances are ignored. The time in which the machine is suspended does not count.
package struct MainLoopClock: Clock {
    package typealias Instant = ContinuousClock.Instant

    package init() {}

    package var now: Instant { .now }
    package var minimumResolution: Duration { .milliseconds(1) }

    /// Waits until the deadline.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await Self.sleep(for: max(.zero, deadline - now))
    }

    @MainActor private static func sleep(for duration: Duration) async throws {
        let result = OneShotResult<Void, CancellationError>()
        let timer = MainLoopTimer(after: duration) { result.complete(.success(())) }
        defer { timer.cancel() }
        try await withTaskCancellationHandler {
            try await result.value()
        } onCancel: {
            Task { @MainActor in result.complete(.failure(CancellationError())) }
        }
    }
}

extension Duration {
    /// The length in nanoseconds.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
