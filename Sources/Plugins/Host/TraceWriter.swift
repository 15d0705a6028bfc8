internal import Glibc
internal import JSONFormat
internal import PluginProtocol
internal import ProviderKit
internal import System

/// A writer of the events of a plugin to a pipe, one JSON object per line.
///
/// The writer never blocks. If the reader is slow, events are omitted and counted. The writer ends when the reader
/// closes the pipe.
final class TraceWriter {
    /// The number of waiting bytes at which further events are omitted.
    private static let limitBytes = 1 << 20

    private let trace: PluginTrace
    private let secretSettings: Set<String>
    private var number: Int?
    private var output: PipeWriter?
    /// Becomes ready when the pipe has no reader.
    private var end: DescriptorSource?
    private var omitted = 0

    /// Starts to write. The trace retains the writer until the pipe has no reader. The initializer fails if the
    /// descriptor is not the writing end of a pipe with a reader.
    ///
    /// - Parameters:
    ///   - descriptor: The writing end of a pipe. The caller closes it.
    ///   - trace: The events.
    ///   - secretSettings: The settings whose values are not shown.
    init?(_ descriptor: Int32, _ trace: PluginTrace, secretSettings: Set<String>) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO,
            fcntl(descriptor, F_GETFL) & O_ACCMODE != O_RDONLY
        else { return nil }
        // O_NONBLOCK applies to the open file description, which the client shares. A new one is opened.
        let own = open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        guard own >= 0 else { return nil }
        let second = fcntl(own, F_DUPFD_CLOEXEC, 0)
        guard second >= 0 else {
            Glibc.close(own)
            return nil
        }
        self.trace = trace
        self.secretSettings = secretSettings
        output = PipeWriter(own)
        output?.onEmpty = { [weak self] in self?.writeOmitted() }
        // A writing end becomes readable only for the error that the pipe has no reader.
        end = DescriptorSource(second, .reading) { [weak self] in self?.close() }
        end?.resume()
        number = trace.add { self.write($0) }
    }

    private func close() {
        end?.cancel()
        (output, end) = (nil, nil)
        if let number { trace.remove(number) }
        number = nil
    }

    private func write(_ event: PluginEvent) {
        guard let output else { return }
        guard output.count < Self.limitBytes else {
            omitted += 1
            return
        }
        let redaction = TraceRedaction(secretSettings: secretSettings, secrets: trace.secrets)
        write(event.json(redaction))
    }

    private func writeOmitted() {
        guard omitted > 0 else { return }
        let count = omitted
        omitted = 0
        write(["event": "omitted", "count": JSON(count)])
    }

    private func write(_ event: JSON) {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let milliseconds = Double(now.tv_sec) * 1000 + Double(now.tv_nsec / 1_000_000)
        let time = JSON.Member("time", .number(milliseconds / 1000))
        output?.write(JSON.object([time] + event.members).line)
    }
}

extension PluginEvent {
    /// The members of the event in a trace, except for its time.
    nonisolated fileprivate func json(_ redaction: TraceRedaction) -> JSON {
        switch self {
        case .started(let process):
            ["event": "started", "process": .integer(Int64(process))]
        case .sent(let line): Self.message("sent", line, redaction)
        case .received(let line): Self.message("received", line, redaction)
        case .errorLine(let text):
            ["event": "stderr", "text": .string(redaction.text(text))]
        case .deniedSystemCall(let name):
            ["event": "denied", "call": .string(name)]
        case .invalidResult(let method, let reason):
            [
                "event": "invalid-result", "method": .string(method),
                "reason": .string(redaction.text(reason)),
            ]
        case .failed(_, let process, let reason):
            [
                "event": "failed", "process": .integer(Int64(process)),
                "reason": .string(redaction.text(reason)),
            ]
        case .ended(let process, let reason):
            ["event": "ended", "process": .integer(Int64(process)), "reason": .string(reason)]
        }
    }

    nonisolated private static func message(
        _ event: String, _ line: [UInt8], _ redaction: TraceRedaction
    ) -> JSON {
        let text = line.last == UInt8(ascii: "\n") ? line.dropLast() : line[...]
        guard let message = try? JSON(parsing: text) else {
            let text = String(decoding: text.prefix(4096), as: UTF8.self)
            return ["event": .string(event), "text": .string(redaction.text(text))]
        }
        return ["event": .string(event), "message": redaction.message(message)]
    }
}
