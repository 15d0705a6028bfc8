package import ProviderKit

/// Photos of Unsplash, by its public API.
///
/// Source: unsplash.com/documentation; help.unsplash.com for the guidelines.
package struct UnsplashProvider: OAuthLogin {
    // The guidelines keep the service's own logo from being an icon.
    package let info = ProviderInfo(
        id: "unsplash", name: "Unsplash", iconName: "camera-photo", authentication: .oauth2,
        capabilities: [.feed, .like, .profile, .search, .download],
        defaultSource: UnsplashSource.editorial.id)

    private let now: @Sendable () -> Timestamp

    /// - Parameter now: Tells the time.
    package init(now: @escaping @Sendable () -> Timestamp = { .now }) { self.now = now }

    package let registrationHelp = """
        Unsplash wants everybody to use their own key: register an application at https://unsplash.com/oauth/applications.
        Enter the redirect addresses http://127.0.0.1:43117/callback and urn:ietf:wg:oauth:2.0:oob there, one a line, and tick the permissions public, read_user and write_likes.
        Unsplash's guidelines ask for authentic, non-automated use; a key for demonstration has 50 requests an hour, which is enough for one person.
        """

    package func oauth(_ settings: ProviderSettings) throws(ProviderError) -> OAuthDescription {
        let settings = try UnsplashSettings(settings)
        let web = settings.web.text
        var oauth = OAuthDescription(
            authorizationURL: "\(web)/oauth/authorize", tokenURL: "\(web)/oauth/token",
            scopes: ["public", "read_user", "write_likes"], tokenOrigins: [settings.api.origin])
        // Not documented, but the server software has it there: Doorkeeper.
        oauth.revocationURL = "\(web)/oauth/revoke"
        // Unsplash compares redirect addresses as text, and knows no PKCE.
        oauth.redirectPort = settings.redirectPort
        oauth.usesPKCE = false
        return oauth
    }

    package func identify(_ ports: SessionPorts) async throws -> AccountIdentity {
        let client = UnsplashClient(ports, try UnsplashSettings(ports.settings), now: now)
        let profile = try await client.me()
        return AccountIdentity(username: profile.username, userID: profile.userID)
    }

    package func makeSession(_ account: AccountIdentity, _ ports: SessionPorts) -> any Session {
        UnsplashSession(account, ports, now: now)
    }

    package func makeSession(_ account: AccountIdentity) -> any Session {
        UnsplashSession(failing: .notSupported("Unsplash cannot be asked without a network."))
    }
}
