/// What the engine cannot do. Texts are one sentence that a person can act on.
nonisolated package enum EngineError: Error, Hashable {
    case notFound(String)
    case invalidArgument(String)
    case notSupported(String)
    case needsLogin(String)
    case alreadyLoggedIn(String)
    case loginFailed(String)
    case loginTimedOut
    /// ``Login/maximumUnfinished`` logins go on already.
    case tooManyLogins
    case cancelled(String)
}
