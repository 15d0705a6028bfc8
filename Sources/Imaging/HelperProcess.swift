internal import ChildProcesses
internal import Dispatch
internal import Glibc
internal import ImageMessages
internal import ProviderKit

/// One image helper, from its start to its end.
///
/// Started by the main thread, since it follows the thread that started it.
final class HelperProcess {
    /// What a helper can do.
    enum Trade: String {
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

    let trade: Trade
    private let process: SpawnedProcess
    private let socket: MessageSocket
    private let source: any DispatchSourceRead
    private let onEnd: (HelperProcess) -> Void
    private var waiter: CheckedContinuation<Outcome, Never>?
    private var timer: (any DispatchSourceTimer)?
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
    /// - Throws: ``ImageWorkshopError/notSupported(_:)`` where there is no helper.
    init(
        _ program: String, _ trade: Trade, idleTime: Duration,
        onEnd: @escaping (HelperProcess) -> Void
    ) throws(ImageWorkshopError) {
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
    /// - Returns: How that ended.
    func ask(
        _ message: [UInt8], _ descriptors: [Int32], _ limit: Duration
    ) async -> Outcome {
        guard !isOver else { return .over }
        // If it is gone, that is about to be heard of.
        _ = socket.send(message, descriptors)
        return await withCheckedContinuation { continuation in
            waiter = continuation
            let timer = DispatchSource.makeTimerSource(queue: .main)
            timer.schedule(deadline: .now() + .seconds(Int(limit.components.seconds)))
            timer.setEventHandler { [self] in timeIsUp() }
            timer.activate()
            self.timer = timer
        }
    }

    /// Ends it, and waits for nothing: a process that waits for a disk ends when that answers.
    private func timeIsUp() {
        guard !isOver else { return }
        let isWaiting = isWaitingForDisk
        kill(process.id, SIGKILL)
        end()
        resume(.tooSlow(waitedForDisk: isWaiting))
    }

    /// Whether the kernel says so.
    ///
    /// Source: proc_pid_stat(5); the name may hold anything, but its end is the last parenthesis.
    private var isWaitingForDisk: Bool {
        let file = open("/proc/\(process.id)/stat", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = read(file, &bytes, bytes.count)
        let text = bytes[..<max(0, count)]
        guard let end = text.lastIndex(of: UInt8(ascii: ")")), end + 2 < text.endIndex else {
            return false
        }
        return text[end + 2] == UInt8(ascii: "D")
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
