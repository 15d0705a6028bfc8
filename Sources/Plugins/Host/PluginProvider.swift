internal import Logging
internal import PluginProtocol
internal import ProviderKit
internal import Quoting

/// A provider that runs as a separate process.
protocol PluginProvider: InstalledProvider {
    nonisolated var plugin: Plugin { get }
}

extension PluginProvider {
    nonisolated var info: ProviderInfo { plugin.manifest.info }

    var condition: ProviderCondition {
        ProviderCondition(
            state: plugin.disablement == nil ? .ready : .disabled,
            reason: plugin.disablement ?? "", sandbox: plugin.confinement?.rawValue ?? "")
    }

    nonisolated var tokenRecipients: Set<String> { plugin.manifest.tokenRecipients }

    func startTrace(_ descriptor: Int32) -> TraceStart {
        guard plugin.trace.hasRoom else { return .tooMany }
        let isStarted = TraceWriter.start(
            descriptor, plugin.trace, secretSettings: plugin.manifest.secretSettings)
        return isStarted ? .started : .noPipe
    }

    nonisolated func makeSession(
        _ account: AccountIdentity, _ ports: SessionPorts
    ) -> any Session {
        // A new session is the user's way to retry a disabled plugin.
        Task { @MainActor in plugin.enable() }
        return PluginSession(plugin, account, ports)
    }

    /// Returns the address of a server that the user named.
    ///
    /// - Throws: ``ProviderError/invalidArgument(_:)``.
    nonisolated func address(ofServer server: String) throws(ProviderError) -> WebAddress {
        guard let address = plugin.manifest.address(ofServer: server) else {
            throw .invalidArgument(
                "“\(server.withoutUserInformation.excerpt)” \(plugin.manifest.serverRule)")
        }
        return address
    }

    /// Returns the description of a key that is sent to a server that the user named.
    nonisolated func access(
        _ keyField: String?, server: String
    ) throws(ProviderError) -> KeyDescription {
        let origin = try address(ofServer: server).origin
        var description = KeyDescription(
            keyField: keyField, keyOrigins: keyField == nil ? [] : [origin], needsServer: true)
        if plugin.manifest.allowsHomeServers { description.namedOrigins = [origin] }
        return description
    }

    /// Fetches the identity of a user from the plugin.
    nonisolated func fetchIdentity(
        _ identity: AccountIdentity, _ ports: SessionPorts
    ) async throws -> AccountIdentity {
        let account = PluginAccount(plugin, identity, ports)
        let found = try await plugin.call(.identify, [:], account) {
            reader throws(PluginFault) in try AccountIdentity(reader)
        }
        // The plugin cannot change the server that the user named.
        return AccountIdentity(
            username: found.username, server: plugin.manifest.name(ofServer: identity.server),
            userID: found.userID)
    }
}

extension Plugin {
    /// The provider of the plugin, which depends on its login.
    var provider: any InstalledProvider {
        switch manifest.login {
        case .open, .key: KeyPluginProvider(plugin: self)
        case .oauth2(let description, let help):
            OAuthPluginProvider(plugin: self, description: description, registrationHelp: help)
        case .federated(let scopes, let refusals):
            FederatedPluginProvider(plugin: self, scopes: scopes, refusals: refusals)
        case .polling: PollingPluginProvider(plugin: self)
        }
    }
}

/// A plugin whose accounts have a key or no credentials.
struct KeyPluginProvider: PluginProvider, KeyLogin {
    let plugin: Plugin

    nonisolated func access(
        _ settings: ProviderSettings, server: String
    ) throws(ProviderError) -> KeyDescription {
        var keyField: String?
        var origins: [String] = []
        if case .key(let field, let hosts, _) = plugin.manifest.login {
            (keyField, origins) = (field, hosts)
        }
        let needsServer = plugin.manifest.login.needsServer
        guard needsServer, !server.isEmpty else {
            return KeyDescription(
                keyField: keyField, keyOrigins: origins, needsServer: needsServer)
        }
        return try access(keyField, server: server)
    }

    nonisolated func identify(
        _ account: AccountIdentity, _ ports: SessionPorts
    ) async throws -> AccountIdentity {
        try await fetchIdentity(account, ports)
    }
}

/// A plugin with a browser login.
struct OAuthPluginProvider: PluginProvider, OAuthLogin {
    let plugin: Plugin
    let description: OAuthDescription
    let registrationHelp: String

    nonisolated func oauth(
        _ settings: ProviderSettings
    ) throws(ProviderError) -> OAuthDescription { description }

    nonisolated func identify(_ ports: SessionPorts) async throws -> AccountIdentity {
        try await fetchIdentity(AccountIdentity(username: ""), ports)
    }
}

nonisolated extension Manifest {
    /// The origins that the manifest names for keys and tokens, and the command of the plugin.
    var tokenRecipients: Set<String> {
        var recipients = Set(login.credentialOrigins)
        switch login {
        case .open: return []
        case .key, .federated, .polling: break
        case .oauth2(let description, _):
            // These endpoints receive the refresh token.
            for url in [description.tokenURL, description.revocationURL] {
                if let address = url.flatMap({ WebAddress($0) }) {
                    recipients.insert(address.origin)
                }
            }
        }
        recipients.insert(command.map(\.debugDescription).joined(separator: " "))
        return recipients
    }
}
