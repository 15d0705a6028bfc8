internal import Dispatch
internal import Synchronization

/// The thread that starts child processes that end with it (`PR_SET_PDEATHSIG`).
///
/// With a ``MainLoop``, this is the main thread. In other programs, such as tests, the main actor runs on threads of
/// libdispatch, which end after five seconds without work. The kernel would kill the children of such a thread.
@MainActor
package enum ParentThread {
    nonisolated private static let job = Mutex<(@Sendable () -> Void)?>(nil)
    nonisolated private static let hasJob = DispatchSemaphore(value: 0)
    nonisolated private static let hasEnded = DispatchSemaphore(value: 0)
    /// Starts the thread at the first access.
    private static let thread: Void = DispatchQueue(label: "parent").async {
        while true {
            hasJob.wait()
            job.withLock { $0.take() }?()
            hasEnded.signal()
        }
    }

    /// Runs a closure that starts a process, and waits for its end.
    ///
    /// - Parameter body: Starts the process.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`.
    package static func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard !MainLoop.isUsed else { return try body() }
        thread
        let slot = Mutex<Result<Value, Failure>?>(nil)
        job.withLock { $0 = { slot.withLock { $0 = Result(catching: body) } } }
        hasJob.signal()
        hasEnded.wait()
        guard let result = slot.withLock({ $0 }) else { preconditionFailure("the job ended") }
        return try result.get()
    }
}
