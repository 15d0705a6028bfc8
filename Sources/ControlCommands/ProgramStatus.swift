internal import Translation

/// The exit status of the program.
///
/// Source: `sysexits.h`.
enum ProgramStatus: Int32 {
    case done = 0
    case failed = 1
    /// The command line is invalid.
    case usage = 64
    /// There is no daemon or no session bus.
    case unavailable = 69
    /// The service is offline, the rate limit is reached or the keyring is locked. A later attempt may succeed.
    case tryLater = 75
    case needsLogin = 77
    case notConfigured = 78
    /// Ctrl-C ended the command: 128 plus the number of SIGINT, as in shells.
    case interrupted = 130
}

/// The error that ends a command.
struct CommandFailure: Error, Equatable {
    let status: ProgramStatus
    /// One or two sentences that state the failure and the remedy. If the text is empty, nothing is printed.
    let message: String

    /// - Parameters:
    ///   - status: The exit status.
    ///   - sentences: The sentences of the message. Those that are nil are left out.
    init(_ status: ProgramStatus, _ sentences: String?...) {
        self.status = status
        message = sentences.compactMap(\.self).joined(separator: " ")
    }

    /// Creates an error with a message in the language of the user.
    ///
    /// - Parameters:
    ///   - text: A literal in English.
    ///   - values: The values of the names in the text.
    ///   - status: The exit status.
    /// - Returns: The error.
    static func tr(
        _ text: StaticString, _ values: KeyValuePairs<String, String> = [:],
        status: ProgramStatus = .failed
    ) -> CommandFailure {
        CommandFailure(status, Translation.tr(text, values))
    }
}
