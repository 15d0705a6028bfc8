internal import Glibc

/// What the engine cannot do. Texts are one sentence that a person can act on.
nonisolated package enum EngineError: Error, Hashable {
    case notFound(String)
    case invalidArgument(String)
    case notSupported(String)
    case needsLogin(String)
    /// Something has to be configured first: what, and where.
    case notConfigured(String)
    case alreadyLoggedIn(String)
    case loginFailed(String)
    /// The user said no.
    case loginDenied
    case loginTimedOut
    /// ``Login/maximumUnfinishedPerClient`` logins of the client, or ``Login/maximumUnfinished`` of all clients,
    /// are unfinished.
    case tooManyLogins
    /// ``Transfer/maximumUnfinishedPerClient`` transfers of the client, or ``Transfer/maximumUnfinished`` of all
    /// clients, are running.
    case tooManyTransfers
    /// The images that clients have open take as much memory as they may.
    case tooManyImages
    case cancelled(String)
    case tooLarge(String)
    /// A caller's destination does not take what is written; the number is `errno`.
    case cannotWrite(Int32)
}

/// The sentence for a person.
nonisolated extension EngineError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notFound(let text), .invalidArgument(let text), .notSupported(let text),
            .needsLogin(let text), .notConfigured(let text), .alreadyLoggedIn(let text),
            .loginFailed(let text), .cancelled(let text), .tooLarge(let text):
            text
        case .loginDenied: "The login was refused in the browser."
        case .tooManyLogins:
            "Too many logins are unfinished; finish or cancel one first."
        case .tooManyTransfers:
            "Too many transfers are running; wait for one or cancel it."
        case .tooManyImages: "Too many images are open; close some of them first."
        case .cannotWrite(EPIPE), .cannotWrite(ECONNRESET):
            "Nobody reads the destination any more."
        case .cannotWrite(ETIMEDOUT): "Nobody has read the destination for ten minutes."
        case .cannotWrite(ENOSPC), .cannotWrite(EDQUOT):
            "The disk of the destination is full; make some room and try again."
        case .cannotWrite(let code):
            "The destination cannot be written: \(String(cString: strerror(code)))."
        case .loginTimedOut: "The login took more than ten minutes; start anew."
        }
    }
}
