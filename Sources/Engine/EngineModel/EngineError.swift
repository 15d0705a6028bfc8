internal import Glibc
internal import Quoting
package import Translation

/// An error of the engine. Each message is one sentence that states the problem and the action for the user.
nonisolated package enum EngineError: ExplainedError, Hashable {
    case notFound(String)
    case invalidArgument(String)
    case notSupported(Message)
    case needsLogin(Message)
    /// A setting is missing. The text names it and its location.
    case notConfigured(Message)
    case alreadyLoggedIn(Message)
    case loginFailed(Message)
    /// The user refused the login in the browser.
    case loginDenied
    case loginTimedOut
    /// Too many attempts to enter the password of a local user wait for the pauses after wrong ones.
    case tooManyPasswords
    /// ``Login/maximumUnfinishedPerClient`` logins of the client, or ``Login/maximumUnfinished`` of all clients,
    /// are unfinished.
    case tooManyLogins
    /// ``Transfer/maximumUnfinishedPerClient`` transfers of the client, or ``Transfer/maximumUnfinished`` of all
    /// clients, are running.
    case tooManyTransfers
    /// The images that clients have open have reached the memory limit.
    case tooManyImages
    /// ``Slideshows/maximumCount`` slideshows exist.
    case tooManySlideshows
    case cancelled(Message)
    case tooLarge(String)
    /// Writing to the destination of a caller failed; the number is `errno`.
    case cannotWrite(Int32)
}

nonisolated extension CaseIterable where Self: RawRepresentable<String> {
    /// Creates the case that a client named.
    ///
    /// - Parameters:
    ///   - text: The raw value.
    ///   - name: The name of the argument.
    /// - Throws: ``EngineError/invalidArgument(_:)`` with all raw values if there is no such case.
    package init(parsing text: String, _ name: String) throws(EngineError) {
        guard let value = Self(rawValue: text) else {
            let names = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalidArgument("The \(name) is one of \(names), not \(text.quoted).")
        }
        self = value
    }
}

nonisolated extension EngineError: CustomStringConvertible {
    package var message: Message {
        switch self {
        case .notFound(let text), .invalidArgument(let text), .tooLarge(let text):
            Message(verbatim: text)
        case .notSupported(let message), .needsLogin(let message), .notConfigured(let message),
            .alreadyLoggedIn(let message), .loginFailed(let message), .cancelled(let message):
            message
        case .loginDenied: Message("The login was refused in the browser; log in again.")
        case .tooManyLogins:
            Message("Too many logins are unfinished; finish or cancel one first.")
        case .tooManyPasswords:
            Message("Too many passwords were entered for this user; try again in a few seconds.")
        case .tooManyTransfers:
            Message(verbatim: "Too many transfers are running; wait for one to end or cancel one.")
        case .tooManyImages:
            Message(verbatim: "Too many images are open; close some of them first.")
        case .tooManySlideshows:
            Message(verbatim: "There are too many slideshows; remove one first.")
        case .cannotWrite(EPIPE), .cannotWrite(ECONNRESET):
            Message(verbatim: "The reader of the destination closed it; start the transfer again.")
        case .cannotWrite(ETIMEDOUT):
            Message(
                verbatim:
                    "The destination accepted no data for ten minutes; start the transfer again.")
        case .cannotWrite(ENOSPC), .cannotWrite(EDQUOT):
            Message(verbatim: "The disk of the destination is full; free some space and try again.")
        case .cannotWrite(let code):
            Message(
                verbatim: "The destination cannot be written: \(String(cString: strerror(code))).")
        case .loginTimedOut: Message("The login took longer than ten minutes; log in again.")
        }
    }
}
