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
        _ = try address(ofServer: server)
        return server
    }

    nonisolated func access(
        _ settings: ProviderSettings, server: String
    ) throws(ProviderError) -> KeyDescription {
        try access(KeyDescription.basicField, server: server)
    }

    nonisolated func describeLogin(
        _ server: String, _ ports: SessionPorts
    ) async throws -> PollingDescription {
        let origin = try address(ofServer: server).origin
        let account = PluginAccount(plugin, AccountIdentity(username: "", server: server), ports)
        return try await plugin.call(.describeLogin, [:], account) {
            reader throws(PluginFault) in
            let found = try PollingDescription(reader)
            let urls = [found.startURL, found.revocation?.url].compactMap { $0 }
            for address in [plugin.manifest.address(ofServer: found.server)]
                + urls.map({ WebAddress($0) }) where address?.origin != origin
            {
                throw PluginFault(
                    "an address of the login is not at \(origin), the only origin that may receive secrets"
                )
            }
            return found
        }
    }

    nonisolated func identify(
        _ account: AccountIdentity, _ ports: SessionPorts
    ) async throws -> AccountIdentity {
        try await fetchIdentity(account, ports)
    }
}
