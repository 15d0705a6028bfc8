package import ProviderKit

/// What the browser is sent with, for one login.
///
/// Source: RFC 6749 §4.1.1, RFC 7636 §4.3, RFC 8252 §7.3.
nonisolated package struct AuthorizationRequest: Sendable {
    /// Where a service sends a browser that cannot reach us: it shows the code instead.
    package static let outOfBand = "urn:ietf:wg:oauth:2.0:oob"

    /// Comes back with the redirect that answers this request, and with no other: 128 random bits.
    package let state: Secret
    /// Where the browser is sent back to. ``outOfBand`` at first.
    package internal(set) var redirectAddress = Self.outOfBand
    /// Goes with the code; nil where the service has no PKCE.
    let verifier: CodeVerifier?
    private let description: OAuthDescription
    private let clientID: String

    /// - Parameters:
    ///   - description: Of the service.
    ///   - clientID: What the service knows the application by.
    ///   - generator: Where state and verifier come from; must be fit for cryptography.
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
