package import Dispatch

/// A result that arrives once, before or after tasks begin to wait for it.
///
/// The first result counts. Cancellation of a waiting task ends the wait only in ``valueUnlessCancelled()``.
@MainActor
package final class OneShotResult<Value: Sendable, Failure: Error> {
    private var result: Result<Value, Failure>?
    private var waiters: [CheckedContinuation<Result<Value, Failure>, Never>] = []

    package init() {}

    package var isComplete: Bool { result != nil }

    /// True if a task waits for the result.
    package var hasWaiters: Bool { !waiters.isEmpty }

    /// Sets the result and resumes the waiting tasks.
    ///
    /// - Returns: False if the result was already set; the new result is then ignored.
    @discardableResult
    package func complete(_ result: Result<Value, Failure>) -> Bool {
        guard self.result == nil else { return false }
        self.result = result
        for waiter in waiters { waiter.resume(returning: result) }
        waiters = []
        return true
    }

    /// Waits for the result.
    ///
    /// - Throws: The failure.
    package func value() async throws(Failure) -> Value {
        if let result { return try result.get() }
        return try await withCheckedContinuation { waiters.append($0) }.get()
    }

    /// Waits for the result. Cancellation of the task sets the result unless it is set already.
    ///
    /// - Throws: The failure; `CancellationError`.
    package func valueUnlessCancelled() async throws -> Value where Failure == any Error {
        try await withTaskCancellationHandler {
            try await value()
        } onCancel: {
            Task { @MainActor in complete(.failure(CancellationError())) }
        }
    }
}

extension DispatchQueue {
    /// Runs blocking work on the queue, and waits for its result without blocking the thread.
    ///
    /// The work runs to its end, also if the waiting task is cancelled.
    ///
    /// - Parameter work: The work. On a serial queue, it has exclusive access to the state of the queue.
    /// - Returns: The result of the work.
    /// - Throws: The error of the work.
    package func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await withCheckedContinuation { continuation in
            async { continuation.resume(returning: Result(catching: work)) }
        }.get()
    }
}
