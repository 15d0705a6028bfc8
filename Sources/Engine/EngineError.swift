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
    /// ``Login/maximumUnfinished`` logins go on already.
    case tooManyLogins
    case cancelled(String)
    case tooLarge(String)
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
            "\(Login.maximumUnfinished) logins are unfinished; finish or cancel one first."
        case .loginTimedOut: "The login took more than ten minutes; start anew."
        }
    }
}
