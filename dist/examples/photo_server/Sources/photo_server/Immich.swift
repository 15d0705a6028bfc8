import ProviderKit

/// The provider: its description, the login with an API key, and the sessions of its accounts.
struct Immich: KeyLogin {
    let info = ProviderInfo(
        id: "photo_server", name: "Photo server", iconName: "image-x-generic",
        authentication: .password,
        capabilities: [.feed, .like, .profile, .albums], defaultSource: SourceID("all"))

    func access(_ settings: ProviderSettings, server: String) -> KeyDescription {
        KeyDescription(
            keyField: "x-api-key: ", keyOrigins: [ImmichServer.origin(server)], needsServer: true)
    }

    func identify(_ account: AccountIdentity, _ ports: SessionPorts) async throws -> AccountIdentity
    {
        let user: User = try await ImmichServer(account, ports).fetch("users/me")
        return AccountIdentity(username: user.email, server: account.server, userID: user.id)
    }

    func makeSession(_ account: AccountIdentity, _ ports: SessionPorts) -> any Session {
        ImmichSession(ImmichServer(account, ports))
    }
}
