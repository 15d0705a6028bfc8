package import ProviderKit
internal import WebService

/// The provider of photos from Immich servers. Each account names its server.
///
/// Source: the OpenAPI descriptions of Immich 1.113 to 3.2.0.
package struct ImmichProvider: TokenLogin {
    package let info = ProviderInfo(
        id: "immich", name: "Immich", iconName: "image-x-generic", authentication: .password,
        capabilities: [.feed, .like, .profile, .albums, .search, .server, .memories],
        defaultSource: ImmichKind.all.id)

    /// Creates the provider.
    package init() {}

    package func access(
        _ settings: ProviderSettings, server: String
    ) throws(ProviderError) -> KeyDescription {
        var description = KeyDescription(
            keyField: "x-api-key: ", keyOrigins: [], needsServer: true)
        description.tokenField = "Authorization: Bearer "
        description.refusals = [TokenRefusal(status: 401, text: "\"message\"")]
        guard !server.isEmpty else { return description }
        let origin = try ServerAddress(server).origin
        description.keyOrigins = [origin]
        description.namedOrigins = [origin]
        return description
    }

    package func identify(
        _ account: AccountIdentity, _ ports: SessionPorts
    ) async throws -> AccountIdentity {
        let client = try ImmichClient(account.server, ports)
        return try await client.identity(at: client.server.name)
    }

    package func requestToken(
        _ account: AccountIdentity, password: Secret, _ ports: SessionPorts
    ) async throws -> Secret {
        try await ImmichClient(account.server, ports).requestToken(account.username, password)
    }

    package func revokeToken(_ account: AccountIdentity, _ ports: SessionPorts) async throws {
        let client = try ImmichClient(account.server, ports)
        _ = try await client.send(.post, ["auth", "logout"], about: .user)
    }

    package func makeSession(_ account: AccountIdentity, _ ports: SessionPorts) -> any Session {
        ImmichSession(account, ports)
    }
}
