internal import Glibc
internal import Logging
internal import ProviderKit

/// Writes one line an event to standard error, for the journal or a terminal.
///
/// Source: sd-daemon(3): a line's priority stands in front of it.
nonisolated struct JournalLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level
    /// Whether the journal reads our standard error: it wants priorities, and has the time itself.
    private let isJournal: Bool

    init(logLevel: Logger.Level, isJournal: Bool) {
        self.logLevel = logLevel
        self.isJournal = isJournal
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var line = isJournal ? "<\(event.level.journalPriority)>" : "imagefeedd: \(event.level): "
        line += "\(event.message)"
        let facts = metadata.merging(event.metadata ?? [:]) { $1 }
        for (key, value) in facts.sorted(by: { $0.key < $1.key }) { line += " \(key)=\(value)" }
        // One event is one line, and no text of others controls the terminal.
        line = ServiceText.withoutControls(line) + "\n"
        line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

extension Logger.Level {
    nonisolated fileprivate var journalPriority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
