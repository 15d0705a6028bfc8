internal import Dispatch

/// A clock whose sleepers wait on the main queue.
///
/// `Task.sleep` waits on a global queue of libdispatch, whose pool, once started, wakes the process
/// every second.
nonisolated package struct MainQueueClock: Clock {
    package typealias Instant = ContinuousClock.Instant

    package init() {}

    package var now: Instant { .now }
    package var minimumResolution: Duration { .milliseconds(1) }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await Sleeper().sleep(for: max(.zero, deadline - now))
    }
}

/// One sleep: ended by its timer or by cancellation.
private final class Sleeper {
    private var continuation: CheckedContinuation<Void, any Error>?
    private var timer: (any DispatchSourceTimer)?
    private var isCancelled = false

    nonisolated init() {}

    func sleep(for duration: Duration) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { begin($0, duration) }
        } onCancel: {
            Task { @MainActor in cancel() }
        }
    }

    private func begin(
        _ continuation: CheckedContinuation<Void, any Error>, _ duration: Duration
    ) {
        guard !isCancelled else { return continuation.resume(throwing: CancellationError()) }
        self.continuation = continuation
        let (seconds, attoseconds) = duration.components
        let milliseconds =
            Int(clamping: seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
        let timer = DispatchSource.makeTimerSource(queue: .main)
        timer.schedule(
            deadline: .now() + .milliseconds(milliseconds), leeway: .milliseconds(500))
        timer.setEventHandler { [self] in end(.success(())) }
        timer.activate()
        self.timer = timer
    }

    private func cancel() {
        isCancelled = true
        end(.failure(CancellationError()))
    }

    private func end(_ result: Result<Void, any Error>) {
        timer?.cancel()
        timer = nil
        continuation?.resume(with: result)
        continuation = nil
    }
}
