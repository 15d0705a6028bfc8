internal import Dispatch
internal import Glibc
internal import ProviderKit
internal import System

/// The process of a plugin, with what goes in and comes out.
final class PluginProcess {
    /// What its owner is told.
    struct Handlers {
        let line: ([UInt8]) -> Void
        /// What it says on its standard error, a line each.
        let complaint: (String) -> Void
        /// It tried a system call that it may not make, by its name.
        let refused: (String) -> Void
        /// It does what no plugin may; the reason is for the log. It is not read from any more.
        let misbehaved: (String) -> Void
        /// It has ended. The last thing that is told.
        let ended: (String) -> Void
    }

    let id: Int32
    private let process: SandboxedProcess
    private let handlers: Handlers
    private var input: PipeWriter?
    private var sources: [DescriptorSource] = []
    /// Becomes ready when it has ended, and holds us until then.
    private var end: DescriptorSource?
    private var lines: LineBuffer
    private var bytes: RateCounter
    private var messages: RateCounter
    private var refusedCalls: DeniedSystemCalls?
    private var refusals = RateCounter(500, per: .seconds(10))
    private var startedThreads = RateCounter(2000, per: .seconds(10))
    private var complaints = LineBuffer(limit: 16 << 10)
    private var complaintBytes = RateCounter(1 << 20, per: .seconds(10))
    private var hasEnded = false
    /// Whether what it does counts no more.
    private var isTerminated = false

    /// How much is read at a time: others want to be served in between.
    private static let chunkBytes = 1 << 16

    init(
        _ launch: PluginLaunch, _ limits: PluginLimits, _ handlers: Handlers
    ) throws(SpawnError) {
        var setup = launch.setup
        let (input, output, errors) = try (PipeEnds(), PipeEnds(), PipeEnds())
        input.widen()
        output.widen()
        setup.descriptors =
            [input.reading, output.writing, errors.writing] + setup.descriptors
        process = try SandboxedProcess(setup)
        id = process.id
        self.handlers = handlers
        lines = LineBuffer(limit: limits.lineBytes)
        bytes = RateCounter(limits.bytesPerSecond, per: .seconds(1))
        messages = RateCounter(limits.messagesPerSecond, per: .seconds(1))
        self.input = PipeWriter(input.takeWriting(), limit: limits.lineBytes * 4)
        read(output.takeReading()) { [unowned self] in take($0) }
        read(errors.takeReading()) { [unowned self] in complain($0) }
        refusedCalls = DeniedSystemCalls(
            launch.refusals.takeReading(), threads: limits.threads,
            DeniedSystemCalls.Handlers(
                lost: { [weak self] in self?.condemn("\($0)") },
                refused: { [weak self] in self?.noteRefusal($0) },
                startedThread: { [weak self] in self?.recordThreadStart() }))
        watchEnd()
    }

    /// Sends a line. One that has ended, or reads nothing, gets nothing.
    func send(_ line: [UInt8]) {
        guard let input, !input.write(line) else { return }
        condemn("it does not read what it is told")
    }

    /// Lets it end: it is told nothing more, which it sees.
    func close() { input = nil }

    func kill() {
        isTerminated = true
        input = nil
        if !hasEnded { process.kill() }
    }

    private func condemn(_ reason: String) {
        guard !isTerminated else { return }
        kill()
        handlers.misbehaved(reason)
    }

    // MARK: What it says

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
                if !isTerminated { handler(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
                return false
            }
            if isOver || isTerminated { sources[place].cancel() }
        }
        sources.append(source)
        source.resume()
    }

    private func take(_ chunk: UnsafeRawBufferPointer) {
        guard bytes.note(chunk.count) else { return condemn("it writes without an end") }
        do {
            try lines.append(chunk) { line in
                guard !isTerminated else { return }
                guard messages.note() else { return condemn("it sends messages without an end") }
                handlers.line(line)
            }
        } catch {
            condemn("it sends a line without an end")
        }
    }

    private func complain(_ chunk: UnsafeRawBufferPointer) {
        guard complaintBytes.note(chunk.count) else {
            return condemn("it complains without an end")
        }
        do {
            try complaints.append(chunk) { handlers.complaint(String(decoding: $0, as: UTF8.self)) }
        } catch {
            let start = complaints.takeRest().prefix(1024)
            handlers.complaint(String(decoding: start, as: UTF8.self))
        }
    }

    private func noteRefusal(_ call: String) {
        guard !isTerminated else { return }
        guard refusals.note() else {
            return condemn("it tries without an end what it may not do")
        }
        handlers.refused(call)
    }

    /// Ends a plugin that occupies the daemon with the start of threads.
    private func recordThreadStart() {
        guard !isTerminated, !startedThreads.note() else { return }
        condemn("it starts threads without an end")
    }

    // MARK: Its end

    private func watchEnd() {
        let descriptor = process.endDescriptor()
        guard descriptor >= 0 else {
            // A kernel before 5.3: somebody has to wait.
            DispatchQueue(label: "plugin").async { [process] in
                let exit = process.waitForExit()
                DispatchQueue.main.async { MainActor.assumeIsolated { self.noteEnd(exit) } }
            }
            return
        }
        end = DescriptorSource(descriptor, .reading) { [self] in
            end?.cancel()
            end = nil
            noteEnd(process.waitForExit())
        }
        end?.resume()
    }

    private func noteEnd(_ exit: SpawnedProcess.Exit) {
        hasEnded = true
        input = nil
        // Its last words, which explain the rest.
        drain()
        for source in sources { source.cancel() }
        sources = []
        refusedCalls = nil
        handlers.ended(Self.describe(exit))
    }

    /// Takes what it has written and nobody has read yet, within limits.
    private func drain() {
        guard !isTerminated else { return }
        for (source, handler) in zip(sources, [take, complain]) where !source.isCancelled {
            withUnsafeTemporaryAllocation(byteCount: Self.chunkBytes, alignment: 1) { buffer in
                for _ in 0..<16 {
                    let count = Glibc.read(
                        source.descriptor, buffer.baseAddress, buffer.count)
                    guard count > 0, !isTerminated else { break }
                    handler(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                }
            }
        }
        let rest = complaints.takeRest()
        if !rest.isEmpty { handlers.complaint(String(decoding: rest, as: UTF8.self)) }
    }

    private static func describe(_ exit: SpawnedProcess.Exit) -> String {
        switch exit {
        case .code(let code) where 129...192 ~= code:
            // `bwrap` has no better way to say so.
            "it ended with status \(code), as by signal \(code - 128)"
        case .code(let code): "it ended with status \(code)"
        case .signal(let signal): "it was ended by signal \(signal)"
        }
    }
}
