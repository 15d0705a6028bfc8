/// What the program tells whoever started it.
///
/// Source: `sysexits.h`.
enum ProgramStatus: Int32 {
    case done = 0
    case failed = 1
    /// The command line is wrong.
    case usage = 64
    /// There is no daemon, or no bus to reach it on.
    case unavailable = 69
    /// Offline, rate limited, or the keyring is locked: later it may work.
    case tryLater = 75
    case needsLogin = 77
    case notConfigured = 78
    /// Ctrl-C: 128 and the number of the signal, as shells say it.
    case interrupted = 130
}

/// A command that cannot go on.
struct CommandFailure: Error, Equatable {
    let status: ProgramStatus
    /// One or two sentences: what failed, and what to do.
    let message: String

    init(_ status: ProgramStatus, _ message: String) {
        self.status = status
        self.message = message
    }
}
