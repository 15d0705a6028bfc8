package import ProviderKit

nonisolated extension Provider {
    /// Returns the name of a service for users: the server, or the provider's name if it has one service only.
    package func serviceName(at server: String) -> String { server.isEmpty ? info.name : server }

    /// Returns the label of an account's token for keyring managers.
    package func secretLabel(for identity: AccountIdentity) -> String {
        "Image Feed: \(identity.username) at \(serviceName(at: identity.server))"
    }
}
