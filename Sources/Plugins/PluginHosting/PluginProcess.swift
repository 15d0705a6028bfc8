internal import Glibc
internal import PluginProtocol
internal import ProviderKit
internal import Sandbox
internal import System

/// The process of a plugin, with its pipes.
final class PluginProcess {
    private let process: SpawnedProcess
    /// The receiver of the output and the events. It retains this object until the end of the process.
    private let connection: PluginConnection
    private var input: PipeWriter?
    private var sources: [DescriptorSource] = []
    private let limits: PluginLimits
    private var lines: LineBuffer
    /// The last task that handles lines of the standard output, which waits for the tasks before; nil if none runs.
    private var handling: Task<Void, Never>?
    /// The number of tasks that handle lines.
    private var handlingCount = 0
    private var standardErrorLines = LineBuffer(limit: 16 << 10)
    private var hasEnded = false
    /// True if the process is in a control group of its own.
    var isInGroup = false
    /// True if the process was killed and its output is ignored.
    private var isTerminated = false

    /// The number of bytes that are read at a time, before other events are handled.
    private static let chunkBytes = 1 << 16

    init(
        _ launch: PluginLaunch, _ limits: PluginLimits, _ connection: PluginConnection
    ) throws(SpawnError) {
        var setup = launch.setup
        let (input, output, errors) = try (PipeEnds(), PipeEnds(), PipeEnds())
        input.widen()
        output.widen()
        setup.descriptors = [input.reading, output.writing, errors.writing] + setup.descriptors
        process = try ParentThread.run { [setup] () throws(SpawnError) in
            try SpawnedProcess(setup)
        }
        self.connection = connection
        self.limits = limits
        lines = LineBuffer(limit: limits.lineBytes)
        self.input = PipeWriter(
            input.takeWriting(), timeout: limits.reading, work: connection.work
        ) { [unowned self] in
            terminate(
                "it leaves messages unread on its standard input for \(limits.reading.secondsText)")
        }
        // Work on the last messages may end after the process.
        connection.work.onExcess = { [weak self] in
            self?.terminate(
                "it takes more than \(limits.daemonProcessorTime.secondsText) of the daemon's processor time in \(limits.processorWindow.secondsText)"
            )
        }
        read(output.takeReading()) { [unowned self] in take($0) }
        read(errors.takeReading()) { [unowned self] in takeStandardError($0) }
        receiveListener(launch.refusals.takeReading())
        // Retains this object until the end of the process.
        process.onExit { self.finish($0) }
    }

    var id: Int32 { process.id }

    /// Sends a line, with its end, unless the process has ended.
    func send(_ line: [UInt8]) {
        guard let input else { return }
        input.write(line)
        guard input.count > limits.lineBytes else { return }
        terminate(
            "it does not read its standard input, and more than \(limits.lineBytes.sizeText) of messages wait"
        )
    }

    /// Sends a line in parts, each of which is requested when the plugin has read those before.
    func send(parts: @escaping () -> [UInt8]?) { input?.write(parts: parts) }

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

    // MARK: Output

    private func read(_ descriptor: Int32, _ handler: @escaping (UnsafeRawBufferPointer) -> Void) {
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        watch(descriptor) { [unowned self] in readChunk(descriptor, handler) }
    }

    /// Calls a function while a descriptor is readable, until the function returns false.
    private func watch(_ descriptor: Int32, _ handler: @escaping () -> Bool) {
        let place = sources.count
        let source = DescriptorSource(descriptor, .reading) { [unowned self] in
            let isOpen = connection.work.measure(handler)
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
        let complete = lines.append(chunk)
        let isTooLong = lines.isTooLong
        handlingCount += 1
        // Without a long line, the task ends at once.
        handling = Task.immediate { [handling] in
            await handling?.value
            for line in complete { await connection.take(line) }
            if isTooLong {
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
        standardErrorLines.append(chunk).forEach(connection.takeErrorLine)
        guard standardErrorLines.isTooLong else { return }
        connection.takeErrorLine(Array(standardErrorLines.takeRest().prefix(1024)))
    }

    // MARK: System calls

    /// Receives the ``SystemCallListener`` that the launcher sends to a socket.
    private func receiveListener(_ socket: Int32) {
        watch(socket) { [unowned self] in
            do throws(SandboxError) {
                let new = try SystemCallListener(from: socket, threads: limits.threads)
                if let new { listen(new) }
            } catch {
                terminate("\(error)")
            }
            return false
        }
    }

    /// Decides about the starts of threads, which the filter reports.
    private func listen(_ listener: SystemCallListener) {
        var calls = listener
        watch(listener.descriptor) { calls.answerNext() }
    }

    // MARK: Exit

    private func finish(_ exit: SpawnedProcess.Exit) {
        hasEnded = true
        input = nil
        // The last output may state the reason of the end.
        drain()
        for source in sources { source.cancel() }
        sources = []
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
