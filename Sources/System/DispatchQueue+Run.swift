package import Dispatch

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
