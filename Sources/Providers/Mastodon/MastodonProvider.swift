package import ProviderKit
internal import WebService

/// The provider of photos from Mastodon, Pixelfed and servers with a compatible API. Each account names its server.
///
/// Source: docs.joinmastodon.org; the source code of Pixelfed for its deviations.
package struct MastodonProvider: FederatedLogin {
    package let info = ProviderInfo(
        id: "mastodon", name: "Mastodon and Pixelfed", iconName: "applications-internet",
        authentication: .oauth2, capabilities: [.feed, .like, .profile, .server, .download],
        defaultSource: MastodonKind.home.id)

    /// Creates the provider.
    package init() {}

    package func server(
        _ text: String, _ settings: ProviderSettings
    ) throws(ProviderError) -> String {
        try ServerName(text).text
    }

    package func oauth(
        _ server: String, _ settings: ProviderSettings
    ) throws(ProviderError) -> OAuthDescription {
        let settings = try MastodonSettings(settings)
        return Discovery.description(try settings.base(server), settings)
    }

    package func discover(
        _ server: String, user: String?, _ ports: SessionPorts
    ) async throws -> DiscoveredServer {
        let settings = try MastodonSettings(ports.settings)
        let discovery = Discovery(settings: settings, http: ports.http, now: ports.now())
        return try await discovery.discover(server, user: user)
    }

    package func identify(_ server: String, _ ports: SessionPorts) async throws -> AccountIdentity {
        try await MastodonClient(server, ports).identity(at: server)
    }

    package func makeSession(_ account: AccountIdentity, _ ports: SessionPorts) -> any Session {
        MastodonSession(account, ports)
    }
}
