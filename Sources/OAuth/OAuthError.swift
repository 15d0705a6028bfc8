package import ProviderKit

/// Why a login or a token comes to nothing. No text names a secret.
nonisolated package enum OAuthError: Error, Hashable, Sendable {
    /// The user said no.
    case denied
    /// The code or the refresh token is not valid (any more): after a refresh, somebody has to log in
    /// again.
    case invalidGrant
    /// The service does not know the application, or its secret is another.
    case invalidClient
    /// The service says no for another reason, in its own words made plain and short.
    case refused(String)
    /// The service asks to be left alone until then; nil where it does not say how long.
    case rateLimited(until: Timestamp?)
    /// The service answered nonsense or 5xx, which says nothing about token, code or client.
    case serviceFailed(String)
    /// What somebody pasted is no code of this login; the login goes on.
    case invalidCode(String)
    /// There is no refresh token to refresh with.
    case noRefreshToken
    /// Somebody else listens on the port of the redirect address.
    case portTaken(UInt16)
    /// There can be no listener; the number is `errno`.
    case cannotListen(Int32)

    /// An error as a service names it, on a redirect or in an answer.
    ///
    /// - Parameters:
    ///   - code: `error`.
    ///   - text: `error_description`, if there was one. Anything may be in it.
    ///
    /// Source: RFC 6749 §4.1.2.1 and §5.2.
    init(code: String, text: String?) {
        switch code {
        case "access_denied": self = .denied
        case "invalid_grant": self = .invalidGrant
        // The second one is Takahē's before 0.9.
        case "invalid_client", "invalid_client_id": self = .invalidClient
        case "server_error", "temporarily_unavailable": self = .serviceFailed(plain(text ?? code))
        default:
            let parts = [code, text ?? ""].map { plain($0) }.filter { !$0.isEmpty }
            self = .refused(parts.joined(separator: ": "))
        }
    }
}

/// Text from outside as one short line: blanks for controls and line breaks, without what reorders or
/// hides text.
nonisolated func plain(_ text: String, maximumLength: Int = 200) -> String {
    var result = ""
    for scalar in text.unicodeScalars.prefix(4 * maximumLength) {
        switch scalar.properties.generalCategory {
        case .format, .privateUse, .surrogate, .unassigned: continue
        case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator:
            if !result.isEmpty, result.last != " " { result.append(" ") }
        default: result.unicodeScalars.append(scalar)
        }
    }
    while result.last == " " { result.removeLast() }
    return result.count > maximumLength ? result.prefix(maximumLength - 1) + "…" : result
}
