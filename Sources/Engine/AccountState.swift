package import ProviderKit
package import Translation

/// The state of an account, as reported to clients.
nonisolated package enum AccountState: Hashable, Sendable {
    case ready
    case loading(reason: Message)
    case offline(reason: Message)
    case rateLimited(until: Timestamp)
    /// The secret store is locked, is missing or does not work.
    case locked(reason: Message, remedy: Remedy)
    /// The service refused the token.
    case needsLogin(reason: Message)
    case failed(reason: Message, remedy: Remedy?)
    case loggedOut

    /// The action of the user that ends the state; nil if there is none, or if the state ends without one.
    package var remedy: Remedy? {
        switch self {
        case .ready, .loading, .offline, .rateLimited: nil
        case .locked(_, let remedy): remedy
        case .needsLogin, .loggedOut: .login
        case .failed(_, let remedy): remedy
        }
    }
}

/// The state of the profile of an account.
package enum ProfileState: String {
    /// The profile of this session is not known yet.
    case loading
    /// The profile is the one that the service reported last, possibly in an earlier session.
    case ready
    /// The last attempt to fetch the profile failed.
    case failed
}
