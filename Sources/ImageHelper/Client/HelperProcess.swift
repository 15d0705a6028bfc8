internal import Dispatch
internal import Glibc
internal import ImageProtocol
internal import ProviderKit
internal import System

/// One image helper, from its start to its end.
///
/// Started by the main thread, since it follows the thread that started it.
final class HelperProcess {
    /// What a helper can do.
    enum HelperRole: String {
        case decode
        case draw
    }

    /// How a question ended.
    enum Outcome {
        case reply(ImageReply)
        /// It had ended by itself, with nothing done.
        case over
        /// It ended over the job.
        case broken(SpawnedProcess.Exit)
        /// It was ended, since time was up, over its work or waiting for a disk.
        case tooSlow(waitedForDisk: Bool)
        /// It ended before it was ready for anything.
        case unusable(SpawnedProcess.Exit)
    }

    let trade: HelperRole
    private let process: SpawnedProcess
    private let socket: MessageSocket
    private let source: any DispatchSourceRead
    private let onEnd: (HelperProcess) -> Void
    private var waiter: CheckedContinuation<Outcome, Never>?
    private var timer: (any DispatchSourceTimer)?
    /// The end of the present job at the latest.
    private var deadline = ContinuousClock.now
    /// When the process was last seen to work on the present job, and how much it had worked by then.
    private var lastWork = (time: ContinuousClock.now, ticks: 0)
    /// How well it is guarded, once it is ready.
    private(set) var guards: ImageGuards?
    /// Whether it has ended, or is about to.
    private(set) var isOver = false

    /// What the environment tells of where libraries and fonts are.
    private static let variables = [
        "FONTCONFIG_FILE", "FONTCONFIG_PATH", "GDK_PIXBUF_MODULE_FILE", "HOME", "LANG", "LC_ALL",
        "LD_LIBRARY_PATH", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_DIRS", "XDG_DATA_HOME",
    ]

    /// Starts one.
    ///
    /// - Parameters:
    ///   - program: The path of the helper.
    ///   - trade: What it shall be able to do.
    ///   - idleTime: How long it stays when it has nothing to do.
    ///   - onEnd: Called when it takes no more jobs.
    /// - Throws: ``ImageProcessorError/notSupported(_:)`` where there is no helper.
    init(
        _ program: String, _ trade: HelperRole, idleTime: Duration,
        onEnd: @escaping (HelperProcess) -> Void
    ) throws(ImageProcessorError) {
        guard let (ours, its) = MessageSocket.makePair() else {
            throw .failed("Too many files are open.")
        }
        defer { close(its.descriptor) }
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { if nothing >= 0 { close(nothing) } }
        let milliseconds =
            idleTime.components.seconds * 1000
            + idleTime.components.attoseconds / 1_000_000_000_000_000
        do {
            process = try SpawnedProcess(
                program, [trade.rawValue, "\(getpid())", "\(milliseconds)"],
                environment: Self.environment(),
                descriptors: [0: nothing, 1: nothing, 2: nothing, 3: its.descriptor])
        } catch {
            close(ours.descriptor)
            throw .notSupported("Images cannot be made: \(error)")
        }
        self.trade = trade
        self.onEnd = onEnd
        socket = ours
        _ = fcntl(ours.descriptor, F_SETFL, O_NONBLOCK)
        source = DispatchSource.makeReadSource(fileDescriptor: ours.descriptor, queue: .main)
        source.setCancelHandler { close(ours.descriptor) }
        source.setEventHandler { [self] in arrived() }
        source.activate()
    }

    /// Its process id, which it has until its end was waited for.
    var id: Int32 { process.id }

    /// Has a job done. One at a time.
    ///
    /// - Parameters:
    ///   - message: The job.
    ///   - descriptors: What goes along.
    ///   - limit: How long it may take.
    ///   - stallLimit: How long it may wait for a disk at a time.
    /// - Returns: How that ended.
    func ask(
        _ message: [UInt8], _ descriptors: [Int32], _ limit: Duration,
        stalled stallLimit: Duration
    ) async -> Outcome {
        guard !isOver else { return .over }
        // If it is gone, that is about to be heard of.
        _ = socket.send(message, descriptors)
        return await withCheckedContinuation { continuation in
            waiter = continuation
            deadline = .now + limit
            lastWork = (.now, 0)
            let timer = DispatchSource.makeTimerSource(queue: .main)
            timer.schedule(deadline: .now() + .seconds(1), repeating: .seconds(1))
            timer.setEventHandler { [self] in checkTime(stallLimit) }
            timer.activate()
            self.timer = timer
        }
    }

    /// Ends the process when its time is up, or when it waits for a disk for too long.
    private func checkTime(_ stallLimit: Duration) {
        guard !isOver else { return }
        let (isWaiting, ticks) = activity
        let now = ContinuousClock.now
        if !isWaiting || ticks != lastWork.ticks { lastWork = (now, ticks) }
        let isStalled = now - lastWork.time >= stallLimit
        guard isStalled || now >= deadline else { return }
        // A process that waits for a disk may end only when that responds; nothing waits for its end.
        kill(process.id, SIGKILL)
        end()
        resume(.tooSlow(waitedForDisk: isWaiting))
    }

    /// Reads from the kernel whether the process waits for a file, and how much processor time it has used, in ticks.
    /// Within a job it waits for nothing else. File systems in user space let their readers sleep ("S").
    ///
    /// Source: proc_pid_stat(5); the name may hold anything, but its end is the last parenthesis.
    private var activity: (isWaiting: Bool, ticks: Int) {
        let file = open("/proc/\(process.id)/stat", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return (false, 0) }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = read(file, &bytes, bytes.count)
        let text = bytes[..<max(0, count)]
        guard let end = text.lastIndex(of: UInt8(ascii: ")")) else { return (false, 0) }
        // The first is the state; user time and system time are the 14th and the 15th of the line.
        let fields = String(decoding: text[(end + 1)...], as: UTF8.self).split(separator: " ")
        guard fields.count > 12 else { return (false, 0) }
        return (
            fields[0] == "D" || fields[0] == "S", (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0)
        )
    }

    /// Lets it go: it ends when it has nothing to do.
    func dismiss() {
        guard !isOver else { return }
        shutdown(socket.descriptor, Int32(SHUT_RDWR))
    }

    private func arrived() {
        while !isOver {
            switch socket.receive() {
            case .nothing: return
            case .end: end()
            case .message(let message):
                // It has nothing to give.
                for descriptor in message.descriptors { close(descriptor) }
                switch ImageReply(message: message.bytes) {
                case .ready(let guards): self.guards = guards
                case let reply?: resume(.reply(reply))
                case nil:
                    // Somebody else speaks.
                    kill(process.id, SIGKILL)
                    end()
                }
            }
        }
    }

    /// Waits for the end of the process, which has closed its socket, or was killed.
    private func end() {
        isOver = true
        source.cancel()
        onEnd(self)
        DispatchQueue(label: "image-helper-end").async { [process] in
            let exit = process.waitForExit()
            DispatchQueue.main.async { MainActor.assumeIsolated { self.ended(exit) } }
        }
    }

    private func ended(_ exit: SpawnedProcess.Exit) {
        if exit == .code(0) {
            resume(.over)
        } else {
            resume(guards == nil ? .unusable(exit) : .broken(exit))
        }
    }

    private func resume(_ outcome: Outcome) {
        timer?.cancel()
        timer = nil
        waiter?.resume(returning: outcome)
        waiter = nil
    }

    private static func environment() -> [String: String] {
        var environment: [String: String] = [:]
        for name in variables {
            if let value = getenv(name) { environment[name] = String(cString: value) }
        }
        return environment
    }
}
