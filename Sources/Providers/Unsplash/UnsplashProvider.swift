package import ProviderKit
internal import Translation
internal import WebService

/// The provider of photos from Unsplash, through its public API.
///
/// Source: unsplash.com/documentation; help.unsplash.com for the guidelines.
package struct UnsplashProvider: OAuthLogin {
    // The guidelines do not allow the logo of the service as an icon.
    package let info = ProviderInfo(
        id: "unsplash", name: "Unsplash", iconName: "camera-photo", authentication: .oauth2,
        capabilities: [.feed, .like, .profile, .search, .download],
        defaultSource: UnsplashKind.editorial.id)

    /// Creates the provider.
    package init() {}

    package var registrationHelp: String {
        [
            tr(
                "Unsplash requires a separate key for each user: register an application at https://unsplash.com/oauth/applications."
            ),
            tr(
                "Enter the redirect address that is shown with this text, and urn:ietf:wg:oauth:2.0:oob, there, one per line, and enable the permissions public, read_user and write_likes."
            ),
            tr(
                "The guidelines of Unsplash require authentic, non-automated use; a demo key has 50 requests per hour, which is enough for one user."
            ),
        ].joined(separator: "\n")
    }

    package func oauth(_ settings: ProviderSettings) throws(ProviderError) -> OAuthDescription {
        let settings = try UnsplashSettings(settings)
        let web = settings.web.text
        var oauth = OAuthDescription(
            authorizationURL: "\(web)/oauth/authorize", tokenURL: "\(web)/oauth/token",
            scopes: ["public", "read_user", "write_likes"], tokenOrigins: [settings.api.origin])
        oauth.tokenRefusals = [TokenRefusal(status: 401, text: "\"errors\"")]
        // Not documented, but the address that the server software, Doorkeeper, uses.
        oauth.revocationURL = "\(web)/oauth/revoke"
        // Unsplash compares redirect addresses as text and does not support PKCE.
        oauth.redirectPort = settings.redirectPort
        oauth.usesPKCE = false
        return oauth
    }

    package func identify(_ ports: SessionPorts) async throws -> AccountIdentity {
        try await UnsplashClient(ports).identity()
    }

    package func makeSession(_ account: AccountIdentity, _ ports: SessionPorts) -> any Session {
        UnsplashSession(ports)
    }
}

/// The settings of the provider, validated.
struct UnsplashSettings: Hashable, Sendable {
    /// The address of the API.
    let api: WebAddress
    /// The address of the login pages.
    let web: WebAddress
    /// The port of the redirect address.
    let redirectPort: UInt16

    /// - Throws: ``ProviderError/notConfigured(_:)``.
    init(_ settings: ProviderSettings) throws(ProviderError) {
        api = try settings.address("ApiUrl", of: "unsplash", default: "https://api.unsplash.com")
        web = try settings.address("WebUrl", of: "unsplash", default: "https://unsplash.com")
        redirectPort = try settings.redirectPort(of: "unsplash")
    }
}
