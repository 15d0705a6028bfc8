internal import PluginProtocol
internal import ProviderKit
internal import Quoting

/// A plugin of a service with many servers and a browser login whose result the daemon polls for.
///
/// The plugin describes the login; the daemon starts it, polls, and sends the password to that server only.
struct PollingPluginProvider: PluginProvider, PollingLogin {
    let plugin: Plugin

    nonisolated func server(
        _ text: String, _ settings: ProviderSettings
    ) throws(ProviderError) -> String {
        let server = try ServerAddress(text, keepsPath: true).name
        _ = try address(server)
        return server
    }

    nonisolated func access(
        _ settings: ProviderSettings, server: String
    ) throws(ProviderError) -> KeyDescription {
        let origin = try address(server).origin
        var description = KeyDescription(
            keyField: KeyDescription.basicField, keyOrigins: [origin], needsServer: true)
        if plugin.manifest.allowsHomeServers { description.namedOrigins = [origin] }
        return description
    }

    nonisolated private func address(_ server: String) throws(ProviderError) -> WebAddress {
        guard let address = plugin.manifest.address(ofServer: server) else {
            throw .invalidArgument(
                "“\(server.withoutUserInformation.excerpt)” \(plugin.manifest.serverRule)")
        }
        return address
    }

    nonisolated func describeLogin(
        _ server: String, _ ports: SessionPorts
    ) async throws -> PollingDescription {
        let origin = try address(server).origin
        let account = PluginAccount(
            id: plugin.makeAccountID(), plugin: plugin.manifest.info.id,
            AccountIdentity(username: "", server: server), ports,
            plugin.manifest.allowedHosts(server: server))
        return try await plugin.call(.describeLogin, [:], account) {
            reader throws(PluginFault) in
            let found = try PollingDescription(reader)
            let named = plugin.manifest.address(ofServer: found.server)?.origin
            let others = [found.startURL, found.revocation?.url].map { $0.map(Self.origin) }
            for given in [named] + others.compactMap({ $0 }) where given != origin {
                throw PluginFault(
                    "an address of the login is not at \(origin), the only origin that may receive secrets"
                )
            }
            return found
        }
    }

    nonisolated private static func origin(_ text: String) -> String? { WebAddress(text)?.origin }

    nonisolated func identify(
        _ account: AccountIdentity, _ ports: SessionPorts
    ) async throws -> AccountIdentity {
        try await fetchIdentity(account, ports)
    }
}
