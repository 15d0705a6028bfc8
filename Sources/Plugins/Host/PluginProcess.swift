internal import Glibc
internal import PluginProtocol
internal import ProviderKit
internal import System

/// The process of a plugin, with its pipes.
final class PluginProcess {
    let id: Int32
    private let process: SandboxedProcess
    /// The receiver of the output and the events. It retains this object until the end of the process.
    private let connection: PluginConnection
    private var input: PipeWriter?
    private var sources: [DescriptorSource] = []
    private let limits: PluginLimits
    /// The processor time of the daemon for this plugin, in seconds.
    private var processorTime: Allowance
    private var lines: LineBuffer
    /// The last task that handles lines of the standard output, which waits for the tasks before; nil if none runs.
    private var handling: Task<Void, Never>?
    /// The number of tasks that handle lines.
    private var handlingCount = 0
    private var deniedCallReceiver: DeniedSystemCalls?
    private var standardErrorLines = LineBuffer(limit: 16 << 10)
    private var hasEnded = false
    /// True if the process is in a control group of its own.
    var isInGroup = false
    /// True if the process was killed and its output is ignored.
    private var isTerminated = false

    /// The number of bytes that are read at a time, before other events are handled.
    private static let chunkBytes = 1 << 16
    /// The processor time for a round of the event loop. Without it, many small reads would cost almost nothing.
    private static let roundTime = Duration.microseconds(20)
    /// The part of the processor time for which calls and requests start without a delay.
    private static let undelayedPart = 0.3
    /// The longest delay. A client waits for it in addition to the duration of the call.
    private static let maximumDelay = Duration.seconds(5)

    init(
        _ launch: PluginLaunch, _ limits: PluginLimits, _ connection: PluginConnection
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
        self.connection = connection
        self.limits = limits
        processorTime = Allowance(
            limits.daemonProcessorTime / .seconds(1), per: limits.processorWindow)
        lines = LineBuffer(limit: limits.lineBytes)
        self.input = PipeWriter(
            input.takeWriting(), limit: limits.lineBytes, timeout: limits.reading
        ) { [unowned self] in
            terminate(
                "it leaves messages unread on its standard input for \(limits.reading.secondsText)")
        }
        read(output.takeReading()) { [unowned self] in take($0) }
        read(errors.takeReading()) { [unowned self] in takeStandardError($0) }
        deniedCallReceiver = DeniedSystemCalls(
            launch.refusals.takeReading(), threads: limits.threads, of: self)
        // Retains this object until the end of the process.
        process.onExit { self.finish($0) }
    }

    /// Sends a line, unless the process has ended.
    ///
    /// - Parameters:
    ///   - line: The line, with its end.
    ///   - memory: The memory of a large line.
    func send(_ line: [UInt8], holding memory: MemoryReservation? = nil) {
        guard let input, !input.write(line, holding: memory) else { return }
        terminate(
            "it does not read its standard input, and more than \(limits.lineBytes.sizeText) of messages wait"
        )
    }

    /// Closes the standard input, so that the plugin ends.
    func close() { input = nil }

    func kill() {
        isTerminated = true
        input = nil
        if !hasEnded { process.kill() }
    }

    /// Kills the process because it exceeded a limit.
    func terminate(_ reason: String) {
        guard !isTerminated else { return }
        kill()
        connection.fail(reason, .limit)
    }

    /// Records a system call that was denied.
    func recordDeniedCall(_ name: String) {
        if !isTerminated { connection.recordDeniedCall(name) }
    }

    // MARK: Output

    private func read(
        _ descriptor: Int32, _ handler: @escaping (UnsafeRawBufferPointer) -> Void
    ) {
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        let place = sources.count
        let source = DescriptorSource(descriptor, .reading) { [unowned self] in
            let (isOpen, time) = MessageWork.measure { readChunk(descriptor, handler) }
            recordRound(time)
            if !isOpen || isTerminated { sources[place].cancel() }
        }
        sources.append(source)
        source.resume()
    }

    /// Reads and handles a part of an output.
    ///
    /// - Returns: False at the end of the output.
    private func readChunk(
        _ descriptor: Int32, _ handler: (UnsafeRawBufferPointer) -> Void
    ) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: Self.chunkBytes, alignment: 1) { buffer in
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
            if !isTerminated { handler(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
            return true
        }
    }

    private func take(_ chunk: UnsafeRawBufferPointer) {
        var complete: [[UInt8]] = []
        let result = Result { () throws(LineBuffer.TooLong) in
            try lines.append(chunk) { complete.append($0) }
        }
        handlingCount += 1
        // Without a long line, the task ends at once.
        handling = Task.immediate { [handling] in
            await handling?.value
            for line in complete { await connection.take(line) }
            if case .failure = result {
                terminate("it sends a message of more than \(limits.lineBytes.sizeText)")
            }
            handlingCount -= 1
            guard handlingCount == 0 else { return }
            self.handling = nil
            sources.first?.resume()
        }
        if handlingCount > 0 { sources.first?.suspend() } else { handling = nil }
    }

    private func takeStandardError(_ chunk: UnsafeRawBufferPointer) {
        do {
            try standardErrorLines.append(chunk, connection.takeErrorLine)
        } catch {
            connection.takeErrorLine(Array(standardErrorLines.takeRest().prefix(1024)))
        }
    }

    // MARK: Processor time

    /// Records the processor time of a round of the event loop.
    func recordRound(_ time: Duration) { recordProcessorTime(Self.roundTime + time) }

    /// Records processor time that the daemon spent on the plugin, and ends a plugin that exceeds its limit.
    func recordProcessorTime(_ time: Duration) {
        guard !isTerminated, !processorTime.use(time / .seconds(1)) else { return }
        terminate(
            "it takes more than \(limits.daemonProcessorTime.secondsText) of the daemon's processor time in \(limits.processorWindow.secondsText)"
        )
    }

    /// The time after which the next call or request may start; zero if it may start at once.
    ///
    /// A plugin that only answers calls takes more processor time if a client calls more often. The calls are delayed,
    /// so that the plugin is not ended because of the rate of the client.
    var delay: Duration {
        min(processorTime.delay(untilBelow: Self.undelayedPart), Self.maximumDelay)
    }

    // MARK: Exit

    private func finish(_ exit: SpawnedProcess.Exit) {
        hasEnded = true
        input = nil
        // The last output may state the reason of the end.
        drain()
        for source in sources { source.cancel() }
        sources = []
        deniedCallReceiver = nil
        Task.immediate { [handling] in
            await handling?.value
            connection.ended(describe(exit))
        }
    }

    /// Reads the rest of the output, within limits.
    private func drain() {
        guard !isTerminated else { return }
        for (source, handler) in zip(sources, [take, takeStandardError]) where !source.isCancelled {
            var isOpen = true
            for _ in 0..<16 where isOpen { isOpen = readChunk(source.descriptor, handler) }
        }
        connection.takeErrorLine(standardErrorLines.takeRest())
    }

    private func describe(_ exit: SpawnedProcess.Exit) -> String {
        let (signal, text): (Int32, String) =
            switch exit {
            // `bwrap` reports the signal of its program as such a status.
            case .code(let code) where 129...192 ~= code:
                (code - 128, "it ended with status \(code) (signal \(code - 128))")
            case .code(let code): (0, "it ended with status \(code)")
            case .signal(let signal): (signal, "it was terminated by signal \(signal)")
            }
        // The kernel kills the program of a group whose memory is used up, and the service manager ends the rest.
        guard isInGroup, !isTerminated, signal == SIGKILL || signal == SIGTERM else { return text }
        return "\(text), perhaps because it took more than \(limits.groupBytes.sizeText) of memory"
    }
}
