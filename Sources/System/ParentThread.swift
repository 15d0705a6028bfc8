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
        let slot = ResultSlot<Value, Failure>()
        thread.run { slot.set(Result(catching: body)) }
        return try slot.wait().get()
    }
}

/// A thread that never ends.
private final class PermanentThread: Sendable {
    private let jobs = Mutex<[@Sendable () -> Void]>([])
    private let jobCount = DispatchSemaphore(value: 0)

    init() { DispatchQueue(label: "parent").async { [self] in runJobs() } }

    func run(_ job: @escaping @Sendable () -> Void) {
        jobs.withLock { $0.append(job) }
        jobCount.signal()
    }

    private func runJobs() {
        while true {
            jobCount.wait()
            let job = jobs.withLock { $0.removeFirst() }
            job()
        }
    }
}

/// A result that another thread sets.
private final class ResultSlot<Value: Sendable, Failure: Error>: Sendable {
    private let result = Mutex<Result<Value, Failure>?>(nil)
    private let isSet = DispatchSemaphore(value: 0)

    func set(_ result: Result<Value, Failure>) {
        self.result.withLock { $0 = result }
        isSet.signal()
    }

    /// Blocks until the result is set.
    func wait() -> Result<Value, Failure> {
        while true {
            isSet.wait()
            if let result = result.withLock({ $0 }) { return result }
        }
    }
}
