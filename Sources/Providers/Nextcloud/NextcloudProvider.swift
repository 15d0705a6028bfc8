package import ProviderKit

/// The provider of photos from Nextcloud servers. Each account names its server.
///
/// Source: the developer manual of Nextcloud (Login Flow v2, OCS, WebDAV) and the WebDAV interface of its app Photos.
package struct NextcloudProvider: PollingLogin {
    package let info = ProviderInfo(
        id: "nextcloud", name: "Nextcloud", iconName: "folder-remote", authentication: .oauth2,
        capabilities: [.feed, .like, .profile, .albums, .server, .memories],
        defaultSource: NextcloudSource.all.id)

    private let now: @Sendable () -> Timestamp

    /// - Parameter now: Returns the current time.
    package init(now: @escaping @Sendable () -> Timestamp = { .now }) { self.now = now }

    package func server(
        _ text: String, _ settings: ProviderSettings
    ) throws(ProviderError) -> String { try ServerAddress(text, keepsPath: true).name }

    package func access(
        _ settings: ProviderSettings, server: String
    ) throws(ProviderError) -> KeyDescription {
        let origin = try ServerAddress(server).origin
        var description = KeyDescription(
            keyField: KeyDescription.basicField, keyOrigins: [origin], needsServer: true)
        description.namedOrigins = [origin]
        return description
    }

    package func describeLogin(
        _ server: String, _ ports: SessionPorts
    ) async throws -> PollingDescription {
        let found = try await ServerDiscovery(ports: ports, now: now).server(at: server)
        var revocation = HTTPRequest(.delete, found.base + "/ocs/v2.php/core/apppassword")
        revocation.headers.append("OCS-APIRequest", "true")
        return PollingDescription(
            server: found.name, startURL: found.base + "/index.php/login/v2",
            revocation: revocation)
    }

    package func identify(
        _ account: AccountIdentity, _ ports: SessionPorts
    ) async throws -> AccountIdentity {
        let client = try NextcloudClient(account, ports, now: now)
        let profile = try await client.currentUser()
        return AccountIdentity(
            username: profile.username, server: client.server.name, userID: profile.userID)
    }

    package func makeSession(_ account: AccountIdentity, _ ports: SessionPorts) -> any Session {
        NextcloudSession(account, ports, now: now)
    }
}
