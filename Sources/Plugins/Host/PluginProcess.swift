internal import Glibc
internal import PluginProtocol
internal import ProviderKit
internal import System

/// The process of a plugin, with its pipes.
final class PluginProcess {
    /// The functions that a process calls.
    struct Handlers {
        /// Receives a line of the standard output, and its turn; nil for a line that is not large. The turn ends when
        /// the line is handled.
        let line: ([UInt8], LargeMessageTurns.Turn?) -> Void
        /// Receives a line of the standard error.
        let standardErrorLine: (String) -> Void
        /// Receives the name of a denied system call.
        let deniedCall: (String) -> Void
        /// Receives the limit that the process exceeded, after the process was killed. Its output is not read any more.
        let exceededLimit: (String) -> Void
        /// Receives the reason of the end. No handler is called afterwards.
        let ended: (String) -> Void
    }

    let id: Int32
    private let process: SandboxedProcess
    private let handlers: Handlers
    private var input: PipeWriter?
    private var sources: [DescriptorSource] = []
    /// The number of reasons not to read the standard output.
    private var outputHolds = 0
    private let turns: LargeMessageTurns
    /// The turn for the incomplete line; nil if the line is not large, or waits for its turn.
    private var turn: LargeMessageTurns.Turn?
    private var waitsForTurn = false
    private var turnTimer: MainLoopTimer?
    private let limits: PluginLimits
    /// The processor time of the daemon for this plugin, in microseconds.
    private var processorTime: RateCounter
    private var callPace: CallPace
    private var lines: LineBuffer
    private var bytes: RateCounter
    private var messages: RateCounter
    /// The number of lines that were sent to the plugin and for which it has not sent a message yet.
    private var unansweredLines = 0
    private var deniedCallReceiver: DeniedSystemCalls?
    private var deniedCalls: RateCounter
    private var startedThreads: RateCounter
    private var standardErrorLines = LineBuffer(limit: 16 << 10)
    private var standardErrorBytes: RateCounter
    private var hasEnded = false
    /// True if the process was killed and its output is ignored.
    private var isTerminated = false

    /// The number of bytes that are read at a time, before other events are handled.
    private static let chunkBytes = 1 << 16

    init(
        _ launch: PluginLaunch, _ limits: PluginLimits, _ turns: LargeMessageTurns,
        _ handlers: Handlers
    ) throws(SpawnError) {
        var setup = launch.setup
        let (input, output, errors) = try (PipeEnds(), PipeEnds(), PipeEnds())
        input.widen()
        output.widen()
        setup.descriptors =
            [input.reading, output.writing, errors.writing] + setup.descriptors
        process = try ParentThread.run { [setup] () throws(SpawnError) in
            try SandboxedProcess(setup)
        }
        id = process.id
        self.handlers = handlers
        self.limits = limits
        self.turns = turns
        processorTime = RateCounter(
            Int(limits.daemonProcessorTime / .microseconds(1)), per: limits.processorWindow)
        callPace = CallPace(limit: limits.daemonProcessorTime, per: limits.processorWindow)
        lines = LineBuffer(limit: limits.lineBytes)
        bytes = RateCounter(limits.bytesPerSecond, per: .seconds(1))
        messages = RateCounter(limits.messagesPerSecond, per: .seconds(1))
        deniedCalls = RateCounter(limits.deniedCalls, per: limits.systemCallWindow)
        startedThreads = RateCounter(limits.startedThreads, per: limits.systemCallWindow)
        standardErrorBytes = RateCounter(
            limits.standardErrorBytes, per: limits.standardErrorWindow)
        self.input = PipeWriter(input.takeWriting(), limit: limits.lineBytes)
        read(output.takeReading()) { [unowned self] in take($0) }
        read(errors.takeReading()) { [unowned self] in takeStandardError($0) }
        deniedCallReceiver = DeniedSystemCalls(
            launch.refusals.takeReading(), threads: limits.threads,
            DeniedSystemCalls.Handlers(
                lost: { [weak self] in self?.terminate("\($0)") },
                denied: { [weak self] in self?.recordDeniedCall($0) },
                startedThread: { [weak self] in self?.recordThreadStart() }))
        // Retains this object until the end of the process.
        process.onExit { self.finish($0) }
    }

    /// Sends a line, unless the process has ended.
    ///
    /// - Parameters:
    ///   - line: The line, with its end.
    ///   - memory: The memory of a large line.
    func send(_ line: [UInt8], holding memory: MemoryReservation? = nil) {
        guard let input else { return }
        unansweredLines += 1
        if input.write(line, holding: memory) { return }
        terminate(
            "it does not read its standard input, and more than \(limits.lineBytes.sizeText) of messages wait"
        )
    }

    /// Closes the standard input, so that the plugin ends.
    func close() { input = nil }

    func kill() {
        isTerminated = true
        input = nil
        endTurn()
        if !hasEnded { process.kill() }
    }

    /// Kills the process because it exceeded a limit.
    private func terminate(_ reason: String) {
        guard !isTerminated else { return }
        kill()
        handlers.exceededLimit(reason)
    }

    // MARK: Output

    private func read(
        _ descriptor: Int32, _ handler: @escaping (UnsafeRawBufferPointer) -> Void
    ) {
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        let place = sources.count
        let source = DescriptorSource(descriptor, .reading) { [unowned self] in
            let isOver = withUnsafeTemporaryAllocation(
                byteCount: Self.chunkBytes, alignment: 1
            ) { buffer in
                let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                guard count > 0 else { return count == 0 || errno != EAGAIN && errno != EINTR }
                guard !isTerminated else { return false }
                let time = MessageWork.measure {
                    handler(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                }.1
                recordProcessorTime(time)
                return false
            }
            if isOver || isTerminated { sources[place].cancel() }
        }
        sources.append(source)
        source.resume()
    }

    private func take(_ chunk: UnsafeRawBufferPointer) {
        guard bytes.record(chunk.count) else {
            return terminate(
                "it writes more than \(limits.bytesPerSecond.sizeText) per second to standard output"
            )
        }
        do {
            try lines.append(chunk) { line in
                guard !isTerminated else { return }
                guard recordMessage() else {
                    return terminate(
                        "it sends more than \(limits.messagesPerSecond) messages per second")
                }
                let turn = turn
                endTurn()
                handlers.line(line, turn)
            }
        } catch {
            return terminate("it sends a message of more than \(limits.lineBytes.sizeText)")
        }
        if lines.count > limits.largeMessageBytes { requestTurn() }
    }

    /// Counts a message, unless it may be the answer to a line of the daemon: a plugin may answer any number of calls
    /// quickly.
    ///
    /// - Returns: False if the plugin sends too many messages.
    private func recordMessage() -> Bool {
        guard unansweredLines == 0 else {
            unansweredLines -= 1
            return true
        }
        return messages.record()
    }

    // MARK: Large messages

    /// Stops reading the standard output. Each call needs a call of ``releaseOutput()``.
    func holdOutput() {
        outputHolds += 1
        sources.first?.suspend()
    }

    func releaseOutput() {
        outputHolds -= 1
        if outputHolds == 0 { sources.first?.resume() }
    }

    private func requestTurn() {
        guard turn == nil, !waitsForTurn, !isTerminated, !hasEnded else { return }
        waitsForTurn = true
        holdOutput()
        turns.request { [weak self] in self?.beginTurn($0) }
    }

    private func beginTurn(_ turn: LargeMessageTurns.Turn) {
        waitsForTurn = false
        guard !isTerminated, !hasEnded else { return }
        self.turn = turn
        turnTimer = MainLoopTimer(after: limits.largeMessageTime) { [weak self, limits] in
            self?.terminate(
                "it does not complete a message of more than \(limits.largeMessageBytes.sizeText) within \(limits.largeMessageTime.secondsText)"
            )
        }
        releaseOutput()
    }

    private func endTurn() {
        let last = turn
        turn = nil
        turnTimer = nil
        // The turn ends here, after the change of the property: the next plugin begins its turn at once.
        withExtendedLifetime(last) {}
    }

    /// Records processor time that the daemon spent on the plugin, and ends a plugin that exceeds its limit.
    func recordProcessorTime(_ time: Duration) {
        callPace.record(time)
        guard !isTerminated, !processorTime.record(Int(time / .microseconds(1))) else { return }
        terminate(
            "its messages take more than \(limits.daemonProcessorTime.secondsText) of the daemon's processor time in \(limits.processorWindow.secondsText)"
        )
    }

    /// The time after which the next call of the daemon may start; zero if it may start at once.
    var callDelay: Duration { callPace.delay() }

    private func takeStandardError(_ chunk: UnsafeRawBufferPointer) {
        guard standardErrorBytes.record(chunk.count) else {
            return terminate(
                "it writes more than \(limits.standardErrorBytes.sizeText) to standard error in \(limits.standardErrorWindow.secondsText)"
            )
        }
        do {
            for part in linesForLog(of: chunk) {
                try standardErrorLines.append(part) {
                    handlers.standardErrorLine(String(decoding: $0, as: UTF8.self))
                }
            }
        } catch {
            let start = standardErrorLines.takeRest().prefix(1024)
            handlers.standardErrorLine(String(decoding: start, as: UTF8.self))
        }
    }

    /// Returns the lines that may be logged, and the last line, which may state the reason of the end.
    private func linesForLog(of chunk: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer] {
        let newline = UInt8(ascii: "\n")
        var ends = 0
        guard
            let end = chunk.firstIndex(where: { byte in
                if byte == newline { ends += 1 }
                return ends == limits.logLines
            })
        else { return [chunk] }
        let rest = chunk[(end + 1)...]
        let last = rest.dropLast().lastIndex(of: newline).map { $0 + 1 } ?? rest.startIndex
        return [chunk[...end], chunk[last...]].map { UnsafeRawBufferPointer(rebasing: $0) }
    }

    private func recordDeniedCall(_ call: String) {
        guard !isTerminated else { return }
        guard deniedCalls.record() else {
            return terminate(
                "it makes more than \(limits.deniedCalls) denied system calls in \(limits.systemCallWindow.secondsText)"
            )
        }
        handlers.deniedCall(call)
    }

    /// Ends a plugin that starts too many threads: the daemon handles the start of each one.
    private func recordThreadStart() {
        guard !isTerminated, !startedThreads.record() else { return }
        terminate(
            "it starts more than \(limits.startedThreads) threads in \(limits.systemCallWindow.secondsText)"
        )
    }

    // MARK: Exit

    private func finish(_ exit: SpawnedProcess.Exit) {
        hasEnded = true
        input = nil
        endTurn()
        // The last output may state the reason of the end.
        drain()
        for source in sources { source.cancel() }
        sources = []
        deniedCallReceiver = nil
        handlers.ended(Self.describe(exit))
    }

    /// Reads the rest of the output, within limits.
    private func drain() {
        guard !isTerminated else { return }
        for (source, handler) in zip(sources, [take, takeStandardError]) where !source.isCancelled {
            withUnsafeTemporaryAllocation(byteCount: Self.chunkBytes, alignment: 1) { buffer in
                for _ in 0..<16 {
                    let count = Glibc.read(
                        source.descriptor, buffer.baseAddress, buffer.count)
                    guard count > 0, !isTerminated else { break }
                    handler(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                }
            }
        }
        let rest = standardErrorLines.takeRest()
        if !rest.isEmpty { handlers.standardErrorLine(String(decoding: rest, as: UTF8.self)) }
    }

    private static func describe(_ exit: SpawnedProcess.Exit) -> String {
        switch exit {
        case .code(let code) where 129...192 ~= code:
            // `bwrap` reports the signal of its program as such a status.
            "it ended with status \(code) (signal \(code - 128))"
        case .code(let code): "it ended with status \(code)"
        case .signal(let signal): "it was terminated by signal \(signal)"
        }
    }
}
