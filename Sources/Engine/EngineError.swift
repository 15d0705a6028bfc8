internal import Glibc

/// An error of the engine. Each text is one sentence that states the problem and the action for the user.
nonisolated package enum EngineError: Error, Hashable {
    case notFound(String)
    case invalidArgument(String)
    case notSupported(String)
    case needsLogin(String)
    /// A setting is missing. The text names it and its location.
    case notConfigured(String)
    case alreadyLoggedIn(String)
    case loginFailed(String)
    /// The user refused the login in the browser.
    case loginDenied
    case loginTimedOut
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
    case cancelled(String)
    case tooLarge(String)
    /// Writing to the destination of a caller failed; the number is `errno`.
    case cannotWrite(Int32)
}

/// The text for users.
nonisolated extension EngineError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notFound(let text), .invalidArgument(let text), .notSupported(let text),
            .needsLogin(let text), .notConfigured(let text), .alreadyLoggedIn(let text),
            .loginFailed(let text), .cancelled(let text), .tooLarge(let text):
            text
        case .loginDenied: "The login was refused in the browser; log in again."
        case .tooManyLogins:
            "Too many logins are unfinished; finish or cancel one first."
        case .tooManyTransfers:
            "Too many transfers are running; wait for one to end or cancel one."
        case .tooManyImages: "Too many images are open; close some of them first."
        case .tooManySlideshows: "There are too many slideshows; remove one first."
        case .cannotWrite(EPIPE), .cannotWrite(ECONNRESET):
            "The reader of the destination closed it; start the transfer again."
        case .cannotWrite(ETIMEDOUT):
            "The destination accepted no data for ten minutes; start the transfer again."
        case .cannotWrite(ENOSPC), .cannotWrite(EDQUOT):
            "The disk of the destination is full; free some space and try again."
        case .cannotWrite(let code):
            "The destination cannot be written: \(String(cString: strerror(code)))."
        case .loginTimedOut: "The login took longer than ten minutes; log in again."
        }
    }
}
