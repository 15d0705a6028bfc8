package import ProviderKit
package import Translation

/// An error of a login or of a token. No text contains a secret.
nonisolated package enum OAuthError: Error, Hashable, Sendable {
    /// The user denied access.
    case denied
    /// The code or the refresh token is invalid or expired. After a refresh, a new login is needed.
    case invalidGrant
    /// The client ID is unknown to the service, or the client secret is wrong.
    case invalidClient
    /// The service refused the request for another reason. The text is the message of the service as short plain text.
    case refused(Message)
    /// The service limits requests until the given time; nil if the service states no time.
    case rateLimited(until: Timestamp?)
    /// The service sent an invalid response or a 5xx status, or reported that it cannot respond at present. The token, the
    /// code or the client may still be valid.
    case serviceFailed(Message)
    /// The pasted text is not a code of this login. The login continues.
    case invalidCode(String)
    /// The token has no refresh token.
    case noRefreshToken
    /// Another process listens on the port of the redirect address.
    case portTaken(UInt16)
    /// The listener cannot be created; the number is `errno`.
    case cannotListen(Int32)

    /// Creates the error that a service named in a redirect or in a response.
    ///
    /// - Parameters:
    ///   - code: The field `error`.
    ///   - text: The field `error_description`, if present. It is not trusted.
    ///
    /// Source: RFC 6749 §4.1.2.1 and §5.2.
    init(code: String, text: String?) {
        switch code {
        case "access_denied": self = .denied
        case "invalid_grant": self = .invalidGrant
        // Takahē before 0.9 sends the second code.
        case "invalid_client", "invalid_client_id": self = .invalidClient
        case "server_error", "temporarily_unavailable":
            self = .serviceFailed(Message(verbatim: plain(text ?? code)))
        default:
            let parts = [code, text ?? ""].map { plain($0) }.filter { !$0.isEmpty }
            self = .refused(Message(verbatim: parts.joined(separator: ": ")))
        }
    }

    /// Returns the error without a text of the service that repeats a secret.
    package func withholding(_ secrets: [Secret]) -> OAuthError {
        let withheld = Message("the response repeats the key of the account")
        switch self {
        case .refused(let text) where text.repeats(secrets): return .refused(withheld)
        case .serviceFailed(let text) where text.repeats(secrets): return .serviceFailed(withheld)
        default: return self
        }
    }
}

nonisolated extension Message {
    /// Returns true if the text contains one of the secrets, or a part of it.
    fileprivate func repeats(_ secrets: [Secret]) -> Bool {
        RepeatedSecrets(secrets, inParts: true).occur(in: description.utf8)
    }
}

/// Returns untrusted text as one short line, with spaces for control characters and line breaks, and without
/// characters that reorder or hide text.
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
