internal import Glibc
package import Logging
internal import ProviderKit

/// A log handler that writes one line per event to standard error, for the journal or a terminal.
///
/// Source: sd-daemon(3): the priority is the prefix of the line.
nonisolated package struct JournalLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var logLevel: Logger.Level
    /// True if the journal reads standard error. It expects priorities and adds the time itself.
    private let isJournal: Bool

    package init(logLevel: Logger.Level, isJournal: Bool) {
        self.logLevel = logLevel
        self.isJournal = isJournal
    }

    /// True if standard error is connected to the journal.
    ///
    /// The presence of the variable is no proof, because child processes of a service inherit it, also in terminals.
    ///
    /// Source: systemd.exec(5), `$JOURNAL_STREAM`.
    package static var writesToJournal: Bool {
        var status = stat()
        return fstat(STDERR_FILENO, &status) == 0
            && getenv("JOURNAL_STREAM").map { String(cString: $0) }
                == "\(status.st_dev):\(status.st_ino)"
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var line = isJournal ? "<\(event.level.journalPriority)>" : "imagefeedd: \(event.level): "
        line += "\(event.message)"
        let facts = metadata.merging(event.metadata ?? [:]) { $1 }
        for (key, value) in facts.sorted(by: { $0.key < $1.key }) { line += " \(key)=\(value)" }
        // One event is one line, and no text from a service or file can control the terminal.
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
