internal import ArgumentParser
internal import Contract
internal import DBus
internal import JSONFormat
internal import ProviderKit
internal import System
internal import Translation

struct ProviderTraceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace", abstract: tr("Show the messages of a plugin until interrupted."),
        discussion: tr(
            """
            One line per event: the time, → for a message to the plugin and ← for one from it, and \
            the beginning of the message. On a terminal, lines are cut to its width. With --json, \
            each line is an object with the complete message. Secrets are replaced by “(secret)”. \
            The plugin is not started for the trace; “imagefeedctl refresh” makes the daemon call it.
            """))

    @Argument(help: .tr("The ID of a provider, as listed by “imagefeedctl providers”."))
    var provider: String
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let service = try ServiceClient()
        let provider = try await service.snapshot().provider(provider)
        let reader = LineReader()
        let watch = SignalWatch { reader.end() }
        defer { withExtendedLifetime(watch) {} }
        let ends = try PipeEnds()
        try await service.provider(provider.path)
            .trace(to: FileDescriptor(owning: ends.takeWriting()))
        if OutputTarget.standardOutput != .pipe {
            Console.printMessage(
                tr(
                    "Messages of {provider} are shown until Ctrl-C.", ["provider": provider.name]))
        }
        let output = output
        let isInterrupted = try await reader.run(ends.takeReading()) { line in
            try output.show(TraceEvent(line))
        }
        guard isInterrupted else {
            throw CommandFailure.tr(
                "The trace ended because the daemon ended; run the command again.",
                status: .unavailable)
        }
    }
}

/// One event of the trace of a plugin.
struct TraceEvent: Renderable {
    let json: JSON

    /// - Parameter line: A line of the output of the daemon.
    /// - Throws: ``JSONSyntaxError`` if the line is not JSON.
    init(_ line: [UInt8]) throws {
        // The limits of the message in the event are those of the daemon.
        json = try JSON(parsing: line, depth: 64, values: 1 << 17)
    }

    func text(for target: OutputTarget) -> String {
        let line = TerminalText.line("\(time) \(summary)")
        guard case .terminal(let columns, _) = target else { return line + "\n" }
        return line.truncated(to: columns) + "\n"
    }

    /// The local time with milliseconds.
    private var time: String {
        let milliseconds = Int64(((json["time"]?.number ?? 0) * 1000).rounded())
        let rest = String(milliseconds % 1000)
        return Timestamp(secondsSince1970: milliseconds / 1000).second().suffix(8) + "."
            + String(repeating: "0", count: 3 - rest.count) + rest
    }

    private var summary: String {
        let event = json["event"]?.string ?? ""
        let text = json["text"]?.string ?? json["reason"]?.string ?? json["call"]?.string ?? ""
        switch event {
        case "sent": return "→ " + (json["message"].map(Self.summary) ?? text)
        case "received": return "← " + (json["message"].map(Self.summary) ?? text)
        case "ended", "failed":
            return "\(event)\(json["process"].map { ", process \($0.text)" } ?? ""): \(text)"
        case "invalid-result": return "invalid result of \(json["method"]?.string ?? ""): \(text)"
        case "started": return "started, process \(json["process"]?.text ?? "")"
        case "omitted":
            return "omitted \(json["count"]?.text ?? "") events: this reader is too slow"
        case _ where text.isEmpty: return event
        default: return "\(event): \(text)"
        }
    }

    /// Returns a JSON-RPC message on one line: the method first, then short members before long ones, because the line
    /// may be truncated.
    private static func summary(_ message: JSON) -> String {
        let id = message["id"].map { " #" + ($0.string ?? $0.text) } ?? ""
        if let method = message["method"]?.string {
            return method + id + (message["params"].map { " \($0.shortFirst.text)" } ?? "")
        }
        if let error = message["error"] { return "error\(id) \(error.text)" }
        return "result\(id) \((message["result"] ?? .null).shortFirst.text)"
    }
}

extension JSON {
    /// The value with the members of an object in the order of their lengths.
    fileprivate var shortFirst: JSON {
        guard case .object(let members) = self else { return self }
        let sorted = members.map { ($0, $0.value.text.utf8.count) }.sorted {
            ($0.1, $0.0.name) < ($1.1, $1.0.name)
        }
        return .object(sorted.map(\.0))
    }
}
