package import ProviderKit

/// The authorization request of one login, which the browser sends.
///
/// Source: RFC 6749 §4.1.1, RFC 7636 §4.3, RFC 8252 §7.3.
nonisolated package struct AuthorizationRequest: Sendable {
    /// The redirect address with which a service shows the code instead of redirecting the browser.
    package static let outOfBand = "urn:ietf:wg:oauth:2.0:oob"

    /// The state parameter, 128 random bits. Only the redirect of this request contains it.
    package let state: Secret
    /// The redirect address. ``outOfBand`` at first.
    package internal(set) var redirectAddress = Self.outOfBand
    /// The PKCE verifier, which is sent with the code; nil if the service does not support PKCE.
    let verifier: CodeVerifier?
    private let description: OAuthDescription
    private let clientID: String

    /// Creates a request with a new state and a new verifier.
    ///
    /// - Parameters:
    ///   - description: The OAuth description of the service.
    ///   - clientID: The client ID of the application at the service.
    ///   - generator: The source of state and verifier. It must be cryptographically secure.
    package init(
        _ description: OAuthDescription, clientID: String,
        using generator: inout some RandomNumberGenerator
    ) {
        self.description = description
        self.clientID = clientID
        state = makeNonce(byteCount: 16, using: &generator)
        verifier = description.usesPKCE ? CodeVerifier(using: &generator) : nil
    }

    /// The address that the browser opens.
    package var url: String {
        var fields = [
            (name: "response_type", value: "code"), ("client_id", clientID),
            ("redirect_uri", redirectAddress),
        ]
        if !description.scopes.isEmpty {
            fields.append(("scope", description.scopes.joined(separator: " ")))
        }
        fields.append(("state", state.withText { $0 }))
        if let verifier {
            fields.append(("code_challenge", verifier.challenge))
            fields.append(("code_challenge_method", "S256"))
        }
        return URLEncoding.adding(fields, to: description.authorizationURL)
    }
}
