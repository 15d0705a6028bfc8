internal import Glibc
internal import ImageMetadata
internal import ImageProtocol
internal import Sandbox
internal import System
internal import Translation

/// A running image helper process.
///
/// The kernel ends the process together with the thread that started it, see ``ParentThread``.
final class HelperProcess {
    /// The result of ``perform(_:_:_:stalled:)``.
    enum Outcome {
        case reply(ImageReply)
        /// The process had already ended and did not start the job.
        case ended
        /// The process crashed during the job.
        case crashed(SpawnedProcess.Exit)
        /// The process was killed at a time limit, during its work or while it waited for a disk.
        case timedOut(waitedForDisk: Bool)
        /// The process ended before it was ready.
        case failedToStart(SpawnedProcess.Exit)
    }

    let role: HelperRole
    private let process: SpawnedProcess
    private let socket: MessageSocket
    private var source: DescriptorSource?
    private let onEnd: (HelperProcess) -> Void
    private var waiter: CheckedContinuation<Outcome, Never>?
    /// Checks the time limits once a second during a job.
    private var timer: MainLoopTimer?
    /// The time at which the current job must have ended.
    private var deadline = ContinuousClock.now
    /// The time at which the process was last seen working on the current job, and its processor time then.
    private var lastProgress = (time: ContinuousClock.now, ticks: 0)
    /// True if the process can open no files; nil until it is ready.
    private(set) var confinesFiles: Bool?
    /// True if the process has ended or is ending.
    private(set) var hasEnded = false

    /// The environment variables with the location of libraries, and the encoding of texts.
    private static let variables = ["LANG", "LC_ALL", "LD_LIBRARY_PATH"]

    /// Starts a process.
    ///
    /// - Parameters:
    ///   - program: The path of the helper.
    ///   - role: The jobs that the process must be able to perform.
    ///   - idleTimeout: The time after which an idle process ends.
    ///   - onEnd: Called when the process accepts no more jobs.
    /// - Throws: ``ImageProcessorError/notSupported(_:)`` if the helper cannot be started;
    ///   ``ImageProcessorError/failed(_:)`` if it may be started later.
    init(
        _ program: String, _ role: HelperRole, idleTimeout: Duration,
        onEnd: @escaping (HelperProcess) -> Void
    ) throws(ImageProcessorError) {
        guard let ends = try? PipeEnds(takesDescriptors: true) else {
            throw .failed(
                Message(
                    "The image helper cannot be started: too many files are open; try again later.")
            )
        }
        let nullDevice = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { if nullDevice >= 0 { close(nullDevice) } }
        let milliseconds = Int((idleTimeout / .milliseconds(1)).rounded())
        let arguments = [role.rawValue, "\(getpid())", "\(milliseconds)"]
        let environment: [String: String] = Self.variables.reduce(into: [:]) {
            $0[$1] = getenv($1).map { String(cString: $0) }
        }
        let descriptors: [Int32: Int32] = [
            0: nullDevice, 1: nullDevice, 2: nullDevice, 3: ends.writing,
        ]
        do throws(SpawnError) {
            process = try ParentThread.run { () throws(SpawnError) in
                try SpawnedProcess(
                    program, arguments, environment: environment, descriptors: descriptors)
            }
        } catch {
            throw ImageProcessorError(error)
        }
        self.role = role
        self.onEnd = onEnd
        socket = MessageSocket(descriptor: ends.takeReading())
        _ = fcntl(socket.descriptor, F_SETFL, O_NONBLOCK)
        source = DescriptorSource(socket.descriptor, .reading) { [self] in receiveMessages() }
        source?.resume()
    }

    /// The process ID. It stays valid until the exit status was read.
    var id: Int32 { process.id }

    /// Performs a job. Only one job may run at a time.
    ///
    /// - Parameters:
    ///   - message: The encoded job.
    ///   - descriptors: The descriptors sent with the job.
    ///   - timeout: The time limit of the job.
    ///   - stallTimeout: The time limit of each wait for a disk.
    /// - Returns: The result of the job.
    func perform(
        _ message: [UInt8], _ descriptors: [Int32], _ timeout: Duration,
        stalled stallTimeout: Duration
    ) async -> Outcome {
        guard !hasEnded else { return .ended }
        // If the process has ended, the event loop reports the end of the socket.
        _ = socket.send(message, descriptors)
        return await withCheckedContinuation { continuation in
            waiter = continuation
            deadline = .now + timeout
            lastProgress = (.now, 0)
            timer = MainLoopTimer { [self] in checkTime(stallTimeout) }
            timer?.start(after: .seconds(1))
        }
    }

    /// Kills the process at the time limit, or if it waits for a disk for too long.
    private func checkTime(_ stallTimeout: Duration) {
        guard !hasEnded else { return }
        let (isWaiting, ticks) = activity
        let now = ContinuousClock.now
        if !isWaiting || ticks != lastProgress.ticks { lastProgress = (now, ticks) }
        let isStalled = now - lastProgress.time >= stallTimeout
        guard isStalled || now >= deadline else {
            timer?.start(after: .seconds(1))
            return
        }
        // A process that waits for a disk may end only when the disk responds, so do not wait for its end.
        kill(process.id, SIGKILL)
        awaitExit()
        resume(.timedOut(waitedForDisk: isWaiting))
    }

    /// True if the process waits for a file, and its processor time in clock ticks, both from the kernel.
    ///
    /// During a job it waits for nothing else. Readers of file systems in user space sleep interruptibly (state "S").
    ///
    /// Source: proc_pid_stat(5). The name may contain any characters, but it ends at the last parenthesis.
    private var activity: (isWaiting: Bool, ticks: Int) {
        let fields = KernelFile.text("/proc/\(process.id)/stat")?.split(separator: ")").last?
            .split(separator: " ")
        // The first field is the state; user time and system time are the 14th and the 15th of the line.
        guard let fields, fields.count > 12 else { return (false, 0) }
        return (
            fields[0] == "D" || fields[0] == "S", (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0)
        )
    }

    /// Closes the connection: the process ends when it is idle.
    func disconnect() {
        guard !hasEnded else { return }
        shutdown(socket.descriptor, Int32(SHUT_RDWR))
    }

    private func receiveMessages() {
        while !hasEnded {
            switch socket.receive() {
            case .nothing: return
            case .end: awaitExit()
            case .message(let message, let descriptors):
                // The helper never sends descriptors.
                for descriptor in descriptors { close(descriptor) }
                switch try? ImageReply(message: message) {
                case .ready(let confinesFiles): self.confinesFiles = confinesFiles
                case let reply?: resume(.reply(reply))
                case nil:
                    // The message is invalid: the helper may be compromised.
                    kill(process.id, SIGKILL)
                    awaitExit()
                }
            }
        }
    }

    /// Waits in the background for the process to end. It has closed its socket, or was killed.
    private func awaitExit() {
        hasEnded = true
        source?.cancel()
        onEnd(self)
        process.onExit { self.didExit($0) }
    }

    private func didExit(_ exit: SpawnedProcess.Exit) {
        if exit == .code(0) {
            resume(.ended)
        } else {
            resume(confinesFiles == nil ? .failedToStart(exit) : .crashed(exit))
        }
    }

    private func resume(_ outcome: Outcome) {
        timer?.cancel()
        timer = nil
        waiter?.resume(returning: outcome)
        waiter = nil
    }
}

extension ImageProcessorError {
    /// Creates the error of a helper that cannot be started, now or at all.
    nonisolated init(_ error: SpawnError) {
        let reason = Message(
            "The image helper cannot be started: {reason}", ["reason": "\(error)"])
        self = SpawnError.shortages.contains(error.code) ? .failed(reason) : .notSupported(reason)
    }
}
