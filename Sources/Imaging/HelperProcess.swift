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
        /// It was ended, since time was up.
        case tooSlow
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
    private var isReady = false
    private var isTooSlow = false
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
            timer.setEventHandler { [self] in
                isTooSlow = true
                kill(process.id, SIGKILL)
            }
            timer.activate()
            self.timer = timer
        }
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
                case .ready: isReady = true
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
        if isTooSlow {
            resume(.tooSlow)
        } else if exit == .code(0) {
            resume(.over)
        } else {
            resume(isReady ? .broken(exit) : .unusable(exit))
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
