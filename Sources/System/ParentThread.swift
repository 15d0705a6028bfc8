internal import Dispatch
internal import Synchronization

/// The thread that starts child processes that end with it (`PR_SET_PDEATHSIG`).
///
/// With a ``MainLoop``, this is the main thread. In other programs, such as tests, the main actor runs on threads of
/// libdispatch, which end after five seconds without work. The kernel would kill the children of such a thread.
@MainActor
package enum ParentThread {
    private static let thread = PermanentThread()

    /// Runs a closure that starts a process, and waits for its end.
    ///
    /// - Parameter body: Starts the process.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`.
    package static func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard !MainLoop.isUsed else { return try body() }
        let slot = Mutex<Result<Value, Failure>?>(nil)
        thread.run { slot.withLock { $0 = Result(catching: body) } }
        guard let result = slot.withLock({ $0 }) else { preconditionFailure("the job ended") }
        return try result.get()
    }
}

/// A thread that never ends, for one caller at a time.
private final class PermanentThread: Sendable {
    private let job = Mutex<(@Sendable () -> Void)?>(nil)
    private let hasJob = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)

    init() { DispatchQueue(label: "parent").async { [self] in runJobs() } }

    /// Runs a job, and blocks until its end.
    func run(_ newJob: @escaping @Sendable () -> Void) {
        job.withLock { $0 = newJob }
        hasJob.signal()
        hasEnded.wait()
    }

    private func runJobs() {
        while true {
            hasJob.wait()
            job.withLock { $0.take() }?()
            hasEnded.signal()
        }
    }
}
