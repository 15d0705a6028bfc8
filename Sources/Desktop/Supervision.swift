internal import Glibc

/// Who started us, and who reads what we say.
///
/// Neither variable alone is proof: they are passed on to whatever a service starts, terminals too.
package enum Supervision {
    /// Whether systemd started this very process, and so limits what it, and whatever it starts, may do.
    ///
    /// Source: systemd.exec(5), `$SYSTEMD_EXEC_PID`; since version 248.
    package static let isService = variable("SYSTEMD_EXEC_PID") == "\(getpid())"

    /// Whether the journal reads our standard error.
    ///
    /// Source: systemd.exec(5), `$JOURNAL_STREAM`.
    package static let writesToJournal: Bool = {
        var status = stat()
        return fstat(STDERR_FILENO, &status) == 0
            && variable("JOURNAL_STREAM") == "\(status.st_dev):\(status.st_ino)"
    }()

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
