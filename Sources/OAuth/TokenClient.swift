package import ProviderKit

/// The client registration that a token was issued to, and the addresses of its server.
///
/// Only this client can renew and revoke the token, also after the application was registered again.
nonisolated package struct TokenClient: Sendable {
    package let client: OAuthClient
    package let tokenURL: String
    /// nil for a service without token revocation.
    package let revocationURL: String?

    /// Creates the record of a client.
    ///
    /// - Parameters:
    ///   - client: The client.
    ///   - description: The service, with the addresses to store.
    package init(_ client: OAuthClient, _ description: OAuthDescription) {
        self.init(
            client, tokenURL: description.tokenURL, revocationURL: description.revocationURL)
    }

    init(_ client: OAuthClient, tokenURL: String, revocationURL: String?) {
        self.client = client
        self.tokenURL = tokenURL
        self.revocationURL = revocationURL
    }
}
