internal import Glibc

/// The relation of this process to systemd and the journal.
///
/// The presence of the variables is no proof, because child processes of a service inherit them, also in terminals.
package enum Supervision {
    /// True if systemd started this process as a service, so that its restrictions apply to child processes.
    ///
    /// Source: systemd.exec(5), `$SYSTEMD_EXEC_PID`; since version 248.
    package static let isService = variable("SYSTEMD_EXEC_PID") == "\(getpid())"

    /// True if standard error is connected to the journal.
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
