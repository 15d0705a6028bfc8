internal import Dispatch
internal import Synchronization

/// Runs file system calls on threads of its own, each with a time limit.
///
/// A thread that hangs in a system call cannot be cancelled. When a job makes no progress for the time limit, its
/// caller continues without a result and the thread is counted as blocked. While a thread is blocked, jobs for the
/// same path fail at once, so the number of blocked threads stays small. A blocked thread that returns shows that the
/// file system responds again.
package final class FileThreads: Sendable {
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

    private struct Job {
        let path: [UInt8]
        let progress: FileProgress
        let work: @Sendable () -> Void
        /// Ends the job without a result.
        let fail: @Sendable () -> Void
    }

    private struct Running {
        let job: Job
        /// Checks the time limit.
        var timer: JobTimer?
    }

    private struct Blocked {
        let path: [UInt8]
        /// The time before which no job for the path starts.
        var retryTime: UInt64
    }

    private struct State {
        var running: [Int: Running] = [:]
        var waiting: [Job] = []
        var blocked: [Int: Blocked] = [:]
        /// Paths that did not respond to another process, and the time until which they count as unavailable.
        var suspended: [[UInt8]: UInt64] = [:]
        var lastNumber = 0
        var root: [UInt8] = []
        var onRecovery: (@Sendable () -> Void)?
    }

    private static let mostSuspended = 1000

    private let limits: Limits
    private let port: FileSystemPort
    private let watchdog = DispatchQueue(label: "file-watchdog")
    private let state = Mutex(State())

    /// Creates the threads on demand.
    ///
    /// - Parameters:
    ///   - limits: The limits.
    ///   - port: The file system; tests inject faults.
    package init(_ limits: Limits = Limits(), port: FileSystemPort = FileSystemPort()) {
        self.limits = limits
        self.port = port
    }

    /// The mount points of this process, as absolute paths.
    package var mountPoints: Set<[UInt8]> { port.mountPoints() }

    /// The number of threads that are blocked.
    package var blockedCount: Int { state.withLock { $0.blocked.count } }

    /// Sets the folder whose parts have separate limits.
    package func setRoot(_ root: [UInt8]) { state.withLock { $0.root = root } }

    /// Sets the closure that is called on some thread when a blocked thread returns.
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
    ///   - completion: Receives the result once, on some thread; nil if the file system does not respond.
    package func start<Value: Sendable>(
        _ path: [UInt8], discard: @escaping @Sendable (Value) -> Void = { _ in },
        _ body: @escaping @Sendable (FileProgress) -> Value,
        completion: @escaping @Sendable (Value?) -> Void
    ) {
        let progress = FileProgress(path, port)
        let pending = Mutex<(@Sendable (Value?) -> Void)?>(completion)
        let slot = CompletionSlot(pending)
        submit(
            Job(path: path, progress: progress) {
                let value = body(progress)
                if let completion = slot.take() { completion(value) } else { discard(value) }
            } fail: {
                slot.take()?(nil)
            })
    }

    private func submit(_ job: Job) {
        enum Decision {
            case start(Int)
            case wait
            case fail
        }
        let decision = state.withLock { state -> Decision in
            guard admit(job.path, &state) else { return .fail }
            guard state.running.count < limits.running else {
                state.waiting.append(job)
                return .wait
            }
            return .start(add(job, &state))
        }
        switch decision {
        case .start(let number): launch(job, number)
        case .wait: return
        case .fail: job.fail()
        }
    }

    private func add(_ job: Job, _ state: inout State) -> Int {
        state.lastNumber += 1
        state.running[state.lastNumber] = Running(job: job)
        return state.lastNumber
    }

    private func launch(_ job: Job, _ number: Int) {
        job.progress.restart()
        let timer = JobTimer(watchdog) { [self] in checkTime(number) }
        state.withLock { $0.running[number]?.timer = timer }
        timer.start(after: limits.timeout)
        // Each serial queue has a thread of its own, however many others are blocked.
        DispatchQueue(label: "file").async { [self] in
            job.work()
            finish(number)
        }
    }

    /// Ends the job of a number without a result if it makes no progress.
    private func checkTime(_ number: Int) {
        let now = Self.now
        let job = state.withLock { state -> Job? in
            guard let running = state.running[number] else { return nil }
            let idle = now - min(now, running.job.progress.lastTime)
            guard idle >= UInt64(limits.timeout.nanoseconds) else {
                running.timer?.start(after: limits.timeout - .nanoseconds(Int64(idle)))
                return nil
            }
            running.timer?.cancel()
            state.running[number] = nil
            let path = running.job.progress.abandon()
            state.blocked[number] = Blocked(
                path: path, retryTime: now + retryDelay(path, state))
            return running.job
        }
        guard let job else { return }
        job.fail()
        launchWaiting()
    }

    /// Returns how long a path counts as unavailable after another thread was blocked there.
    private func retryDelay(_ path: [UInt8], _ state: State) -> UInt64 {
        let same = state.blocked.values.count { $0.path == path }
        let part = Self.part(path, state.root)
        let inPart = state.blocked.values.count { Self.part($0.path, state.root) == part }
        let exponent = min(max(same, inPart - limits.blockedInPart + 1, 0), 8)
        return UInt64(limits.retryInterval.nanoseconds) << (2 * UInt64(exponent))
    }

    private func finish(_ number: Int) {
        let onRecovery = state.withLock { state -> (@Sendable () -> Void)? in
            if let running = state.running.removeValue(forKey: number) {
                running.timer?.cancel()
                return nil
            }
            return state.blocked.removeValue(forKey: number) == nil ? nil : state.onRecovery
        }
        onRecovery?()
        launchWaiting()
    }

    private func launchWaiting() {
        while true {
            let (next, failed) = state.withLock { state -> ((Job, Int)?, Job?) in
                guard state.running.count < limits.running, !state.waiting.isEmpty else {
                    return (nil, nil)
                }
                let job = state.waiting.removeFirst()
                guard admit(job.path, &state) else { return (nil, job) }
                return ((job, add(job, &state)), nil)
            }
            if let (job, number) = next {
                launch(job, number)
            } else if let failed {
                failed.fail()
            } else {
                return
            }
        }
    }

    // MARK: Unavailable paths

    /// Returns true if jobs for a path fail at once.
    package func isUnavailable(_ path: [UInt8]) -> Bool {
        state.withLock { state in
            guard !state.blocked.isEmpty || !state.suspended.isEmpty else { return false }
            var copy = state
            return !admit(path, &copy)
        }
    }

    /// Makes jobs for a path fail at once for a while, since the file did not respond to another process.
    package func suspend(_ path: [UInt8]) {
        let end = Self.now + UInt64(limits.retryInterval.nanoseconds)
        state.withLock { state in
            if state.suspended.count >= Self.mostSuspended {
                let now = Self.now
                state.suspended = state.suspended.filter { $0.value > now }
            }
            guard state.suspended.count < Self.mostSuspended else { return }
            state.suspended[path] = end
        }
    }

    /// Decides whether a job for a path may start. If blocked threads speak against it, but their retry time has come,
    /// it may, and the next one has to wait again.
    private func admit(_ path: [UInt8], _ state: inout State) -> Bool {
        guard !state.blocked.isEmpty || !state.suspended.isEmpty else { return true }
        let now = Self.now
        if let end = state.suspended[path] {
            guard end <= now else { return false }
            state.suspended[path] = nil
        }
        guard state.blocked.count < limits.blocked else { return false }
        let part = Self.part(path, state.root)
        var byFolder: [[UInt8]: [Int]] = [:]
        var inPart: [Int] = []
        var related: Set<Int> = []
        for (number, blocked) in state.blocked {
            if blocked.path == path || Self.isBelow(path, blocked.path) { related.insert(number) }
            let folder = Self.parent(blocked.path)
            if Self.isBelow(path, folder) { byFolder[folder, default: []].append(number) }
            if Self.part(blocked.path, state.root) == part { inPart.append(number) }
        }
        for numbers in byFolder.values where numbers.count >= limits.blockedInFolder {
            related.formUnion(numbers)
        }
        if inPart.count >= limits.blockedInPart { related.formUnion(inPart) }
        guard related.allSatisfy({ (state.blocked[$0]?.retryTime ?? 0) <= now }) else {
            return false
        }
        for number in related {
            state.blocked[number]?.retryTime = now + UInt64(limits.retryInterval.nanoseconds)
        }
        return true
    }

    private static let slash = UInt8(ascii: "/")

    private static func isBelow(_ path: [UInt8], _ folder: [UInt8]) -> Bool {
        path.count > folder.count && path[folder.count] == slash && path.starts(with: folder)
    }

    private static func parent(_ path: [UInt8]) -> [UInt8] {
        Array(path[..<(path.lastIndex(of: slash) ?? path.startIndex)])
    }

    /// The folder whose blocked threads are counted together with those of `path`.
    private static func part(_ path: [UInt8], _ root: [UInt8]) -> [UInt8] {
        guard !root.isEmpty, isBelow(path, root) else { return parent(path) }
        let rest = path[(root.count + 1)...]
        guard let end = rest.firstIndex(of: slash) else { return root }
        return Array(path[..<end])
    }

    fileprivate static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }
}

/// A timer that checks the time limit of a job.
private final class JobTimer: Sendable {
    // Dispatch timers may be used from any thread.
    nonisolated(unsafe) private let source: any DispatchSourceTimer

    init(_ queue: DispatchQueue, _ check: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource(queue: queue)
        source.setEventHandler(handler: check)
        source.activate()
    }

    /// Calls the closure once after `time`.
    func start(after time: Duration) {
        source.schedule(
            deadline: .now() + .nanoseconds(Int(clamping: time.nanoseconds)),
            leeway: .milliseconds(Int(clamping: time.nanoseconds / 20_000_000)))
    }

    func cancel() { source.cancel() }
}

/// A completion that is called at most once.
private final class CompletionSlot<Value: Sendable>: Sendable {
    private let completion: Mutex<(@Sendable (Value?) -> Void)?>

    init(_ completion: consuming Mutex<(@Sendable (Value?) -> Void)?>) {
        self.completion = completion
    }

    func take() -> (@Sendable (Value?) -> Void)? {
        completion.withLock { completion in
            defer { completion = nil }
            return completion
        }
    }
}

/// The progress of a job of ``FileThreads``.
package final class FileProgress: Sendable {
    private struct State {
        var path: [UInt8]
        var lastTime = FileThreads.now
        var isAbandoned = false
    }

    private let state: Mutex<State>
    private let port: FileSystemPort

    fileprivate init(_ path: [UInt8], _ port: FileSystemPort) {
        state = Mutex(State(path: path))
        self.port = port
    }

    /// Announces a file system call, and restarts the time limit.
    ///
    /// - Parameter path: The absolute path that the call uses.
    /// - Returns: 0 if the call is to be made; otherwise an `errno`, ``abandoned`` if the job is to end.
    package func begin(_ path: [UInt8]) -> Int32 {
        let goesOn = state.withLock { state in
            state.path = path
            state.lastTime = FileThreads.now
            return !state.isAbandoned
        }
        return goesOn ? port.fault?(path) ?? 0 : Self.abandoned
    }

    /// The error of a job that reached its time limit: `ECANCELED`.
    package static let abandoned: Int32 = 125

    /// Restarts the time limit within a call that takes long.
    ///
    /// - Returns: False if the job is to end.
    package func advance() -> Bool {
        state.withLock { state in
            state.lastTime = FileThreads.now
            return !state.isAbandoned
        }
    }

    fileprivate var lastTime: UInt64 { state.withLock(\.lastTime) }

    fileprivate func restart() { state.withLock { $0.lastTime = FileThreads.now } }

    /// Ends the job, and returns the path that does not respond.
    fileprivate func abandon() -> [UInt8] {
        state.withLock { state in
            state.isAbandoned = true
            return state.path
        }
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
