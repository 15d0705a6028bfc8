internal import Dispatch
internal import Synchronization

/// Threads that run file system calls, each with a time limit.
///
/// A thread that hangs in a system call cannot be cancelled. When a job makes no progress for the time limit, its
/// caller continues without a result and the thread is counted as blocked. While a thread is blocked, jobs for the same
/// path fail immediately, so the number of blocked threads stays small. A blocked thread that returns shows that the
/// file system responds again.
package final class FileThreads: Sendable {
    private struct Job {
        let path: [UInt8]
        let progress: FileProgress
        let work: @Sendable () -> Void
        /// Ends the job without a result.
        let fail: @Sendable () -> Void
    }

    private struct State {
        var running: [Int: Job] = [:]
        /// True if ``checkTimes()`` is scheduled.
        var isCheckScheduled = false
        var waiting: [Job] = []
        var blocked: BlockedPaths
        var lastNumber = 0
        var onRecovery: (@Sendable () -> Void)?
    }

    private let limits: Limits
    private let port: FileSystemPort
    private let watchdog = DispatchQueue(label: "file-watchdog")
    private let state: Mutex<State>

    /// Creates the threads on demand.
    ///
    /// - Parameters:
    ///   - limits: The limits.
    ///   - port: The file system; tests inject faults.
    package init(_ limits: Limits = Limits(), port: FileSystemPort = FileSystemPort()) {
        self.limits = limits
        self.port = port
        state = Mutex(State(blocked: BlockedPaths(limits)))
    }

    /// The mount points of this process, as absolute paths.
    package var mountPoints: Set<[UInt8]> { port.mountPoints() }

    /// The devices of the file systems that do not announce all changes.
    package var remoteDevices: Set<Int64> { port.remoteDevices() }

    /// The number of threads that are blocked.
    package var blockedCount: Int { state.withLock { $0.blocked.threadCount } }

    /// Sets the folder whose parts have separate limits.
    package func setRoot(_ root: [UInt8]) { state.withLock { $0.blocked.root = root } }

    /// Sets the closure that is called on an unspecified thread when a blocked thread returns.
    package func setRecoveryHandler(_ handler: (@Sendable () -> Void)?) {
        state.withLock { $0.onRecovery = handler }
    }

    // MARK: Running jobs

    /// Runs a job.
    ///
    /// - Parameters:
    ///   - path: The absolute path that the job uses first.
    ///   - discard: Releases a result that arrives after the time limit.
    ///   - body: The job. It announces each path with ``FileProgress/begin(_:)``.
    /// - Returns: The result; nil if the file system does not respond.
    package func run<Value: Sendable>(
        _ path: [UInt8], discard: @escaping @Sendable (Value) -> Void = { _ in },
        _ body: @escaping @Sendable (FileProgress) -> Value
    ) async -> Value? {
        await withCheckedContinuation { continuation in
            start(path, discard: discard, body) { continuation.resume(returning: $0) }
        }
    }

    /// Starts a job.
    ///
    /// - Parameters:
    ///   - path: The absolute path that the job uses first.
    ///   - discard: Releases a result that arrives after the time limit.
    ///   - body: The job. It announces each path with ``FileProgress/begin(_:)``.
    ///   - completion: Receives the result once, on an unspecified thread; nil if the file system does not respond.
    package func start<Value: Sendable>(
        _ path: [UInt8], discard: @escaping @Sendable (Value) -> Void = { _ in },
        _ body: @escaping @Sendable (FileProgress) -> Value,
        completion: @escaping @Sendable (Value?) -> Void
    ) {
        let progress = FileProgress(path, port)
        // Called at most once.
        let slot = Mutex<(@Sendable (Value?) -> Void)?>(completion)
        submit(
            Job(path: path, progress: progress) {
                let value = body(progress)
                let completion = slot.withLock { $0.take() }
                if let completion { completion(value) } else { discard(value) }
            } fail: {
                slot.withLock { $0.take() }?(nil)
            })
    }

    private func submit(_ job: Job) {
        let step = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.blocked.admit(job.path, at: Self.now) else { return job.fail }
            guard state.running.count < limits.running else {
                state.waiting.append(job)
                return nil
            }
            return add(job, &state)
        }
        step?()
    }

    /// Adds a job to the running ones, and returns the function that starts its thread.
    private func add(_ job: Job, _ state: inout State) -> @Sendable () -> Void {
        job.progress.restart()
        state.lastNumber += 1
        let number = state.lastNumber
        state.running[number] = job
        if !state.isCheckScheduled {
            state.isCheckScheduled = true
            scheduleCheck(after: limits.timeout)
        }
        return { [self] in
            // Each serial queue has its own thread, regardless of the number of blocked threads.
            DispatchQueue(label: "file").async { [self] in
                job.work()
                finish(number)
            }
        }
    }

    /// Schedules a check of the time limits. There is one timer for all jobs, and it remains when they end, because
    /// most jobs end within a millisecond.
    private func scheduleCheck(after time: Duration) {
        watchdog.asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: time.nanoseconds))) {
            [self] in checkTimes()
        }
    }

    /// Ends the jobs that make no progress, without a result.
    private func checkTimes() {
        let now = Self.now
        let failed = state.withLock { state -> [Job] in
            var failed: [Job] = []
            var rest: Duration?
            for (number, job) in state.running {
                let idle = Duration.nanoseconds(Int64(now - min(now, job.progress.lastTime)))
                if idle < limits.timeout {
                    rest = min(rest ?? limits.timeout, limits.timeout - idle)
                } else {
                    state.running[number] = nil
                    state.blocked.add(job.progress.abandon(), thread: number, at: now)
                    failed.append(job)
                }
            }
            state.isCheckScheduled = rest != nil
            if let rest { scheduleCheck(after: rest) }
            return failed
        }
        for job in failed { job.fail() }
        if !failed.isEmpty { launchWaiting() }
    }

    private func finish(_ number: Int) {
        let onRecovery = state.withLock { state -> (@Sendable () -> Void)? in
            if state.running.removeValue(forKey: number) != nil { return nil }
            return state.blocked.remove(thread: number) ? state.onRecovery : nil
        }
        onRecovery?()
        launchWaiting()
    }

    private func launchWaiting() {
        while true {
            let step = state.withLock { state -> (@Sendable () -> Void)? in
                guard state.running.count < limits.running, !state.waiting.isEmpty else {
                    return nil
                }
                let job = state.waiting.removeFirst()
                guard state.blocked.admit(job.path, at: Self.now) else { return job.fail }
                return add(job, &state)
            }
            guard let step else { return }
            step()
        }
    }

    // MARK: Unavailable paths

    /// Returns true if jobs for a path fail immediately.
    package func isUnavailable(_ path: [UInt8]) -> Bool {
        state.withLock { !$0.blocked.permits(path, at: Self.now) }
    }

    /// Makes jobs for a path fail immediately for a limited time, because the file did not respond to another process.
    package func suspend(_ path: [UInt8]) {
        state.withLock { $0.blocked.suspend(path, at: Self.now) }
    }

    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }
}

extension FileThreads {
    /// The limits of the threads.
    package struct Limits: Sendable {
        /// The time that a job may take without progress.
        package var timeout = Duration.seconds(10)
        /// The number of jobs that run at the same time, without the blocked ones.
        package var running = 8
        /// The number of threads that may be blocked.
        package var blocked = 64
        /// The number of threads that may be blocked in one part of the root folder: the root folder itself, or one
        /// of its subfolders with all folders below it.
        package var blockedInPart = 8
        /// The number of files of one folder that may be blocked before the whole folder counts as unavailable.
        package var blockedInFolder = 2
        /// The time after which a path is tried again although a thread is still blocked there. Each further attempt
        /// takes four times as long.
        package var retryInterval = Duration.seconds(60)

        package init() {}
    }
}
