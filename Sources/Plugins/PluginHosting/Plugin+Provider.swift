internal import PluginProtocol
package import ProviderKit
internal import Quoting
internal import Translation

/// The description of the provider, and the login that its manifest names.
///
/// The daemon performs the login. The plugin only describes it, if there are many servers, and receives no code, secret or
/// token.
extension Plugin {
    package nonisolated var info: ProviderInfo { manifest.info }

    package nonisolated var loginMethod: LoginMethod {
        switch manifest.login {
        case .key: .key(self)
        case .oauth2: .oauth(self)
        case .federated: .federated(self)
        case .polling: .polling(self)
        }
    }

    package var condition: ProviderCondition {
        ProviderCondition(
            state: disablement == nil ? .ready : .disabled,
            reason: disablement ?? Message(verbatim: ""),
            sandbox: confinement?.rawValue ?? "")
    }

    package nonisolated var tokenRecipients: Set<String> { manifest.tokenRecipients }

    package nonisolated func makeSession(
        _ account: AccountIdentity, _ ports: SessionPorts
    ) -> any Session {
        // A new session is the user's way to retry a disabled plugin.
        Task { @MainActor in enable() }
        return PluginSession(self, account, ports)
    }

    // MARK: Identity

    package nonisolated func identify(
        _ account: AccountIdentity, _ ports: SessionPorts
    ) async throws -> AccountIdentity {
        let found = try await call(
            .identify, [:], PluginAccount(self, account, ports), AccountIdentity.init)
        // The plugin cannot change the server that the user named.
        return AccountIdentity(
            username: found.username, server: manifest.name(ofServer: account.server),
            userID: found.userID)
    }

    package nonisolated func identify(_ ports: SessionPorts) async throws -> AccountIdentity {
        try await identify(AccountIdentity(username: ""), ports)
    }

    package nonisolated func identify(
        _ server: String, _ ports: SessionPorts
    ) async throws -> AccountIdentity {
        try await identify(AccountIdentity(username: "", server: server), ports)
    }

    // MARK: Servers

    package nonisolated func server(
        _ text: String, _ settings: ProviderSettings
    ) throws(ProviderError) -> String {
        guard manifest.login == .polling else { return try ServerName(text).text }
        let server = try ServerAddress(text, keepsPath: true).name
        _ = try address(ofServer: server)
        return server
    }

    /// Returns the address of a server that the user named.
    ///
    /// - Throws: ``ProviderError/invalidArgument(_:)``.
    nonisolated private func address(ofServer server: String) throws(ProviderError) -> WebAddress {
        guard let address = manifest.address(ofServer: server) else {
            throw .invalidArgument(
                "“\(server.withoutUserInformation.excerpt)” \(manifest.serverRule)")
        }
        return address
    }

    // MARK: Keys and passwords

    package nonisolated func access(
        _ settings: ProviderSettings, server: String
    ) throws(ProviderError) -> KeyDescription {
        let login = manifest.login
        var description = KeyDescription(
            keyField: login == .polling ? KeyDescription.basicField : nil, keyOrigins: [],
            needsServer: login.needsServer)
        if case .key(let known) = login { description = known }
        guard login.needsServer, !server.isEmpty else { return description }
        let origin = try address(ofServer: server).origin
        if description.keyField != nil { description.keyOrigins = [origin] }
        if manifest.allowsHomeServers { description.namedOrigins = [origin] }
        return description
    }

    /// Fetches the description of a login whose result the daemon polls for. The password is sent to that server only.
    package nonisolated func describeLogin(
        _ server: String, _ ports: SessionPorts
    ) async throws -> PollingDescription {
        let origin = try address(ofServer: server).origin
        let account = PluginAccount(self, AccountIdentity(username: "", server: server), ports)
        return try await call(.describeLogin, [:], account) {
            [manifest] reader throws(PluginFault) in
            let found = try PollingDescription(reader)
            let urls = [found.startURL, found.revocation?.url].compactMap { $0 }
            for address in [manifest.address(ofServer: found.server)]
                + urls.map({ WebAddress($0) }) where address?.origin != origin
            {
                throw PluginFault(
                    "an address of the login is not at \(origin), the only origin that may receive secrets"
                )
            }
            return found
        }
    }

    // MARK: Browser logins

    package nonisolated func oauth(
        _ settings: ProviderSettings
    ) throws(ProviderError) -> OAuthDescription {
        guard case .oauth2(let description, _) = manifest.login else {
            throw .notSupported(Message("{provider} has another login.", ["provider": info.name]))
        }
        return description
    }

    package nonisolated var registrationHelp: String {
        guard case .oauth2(_, let help) = manifest.login else { return "" }
        return help.isEmpty ? tr("Register an application at the service.") : help
    }

    /// Returns a description that does not depend on the plugin's discovery: the token is sent to the server only.
    package nonisolated func oauth(
        _ server: String, _ settings: ProviderSettings
    ) throws(ProviderError) -> OAuthDescription {
        let base = try address(ofServer: server)
        return complete(
            OAuthDescription(
                authorizationURL: base.text, tokenURL: base.text, scopes: [], tokenOrigins: []),
            base)
    }

    nonisolated private func complete(
        _ oauth: OAuthDescription, _ base: WebAddress
    ) -> OAuthDescription {
        var oauth = oauth
        oauth.tokenOrigins = [base.origin]
        if case .federated(_, let refusals) = manifest.login { oauth.tokenRefusals = refusals }
        // The servers of a service are independent: each one has its own rate limit.
        oauth.countsPerApplication = false
        return oauth
    }

    package nonisolated func discover(
        _ server: String, user: String?, _ ports: SessionPorts
    ) async throws -> DiscoveredServer {
        let account = PluginAccount(
            self, AccountIdentity(username: user ?? "", server: server), ports)
        return try await call(.discover, [:], account) {
            [self] reader throws(PluginFault) in
            let found = try DiscoveredServer(reader)
            guard let base = manifest.address(ofServer: found.name), account.hosts.permits(base)
            else {
                throw PluginFault(
                    "\(found.name) is neither the server of the login nor in Hosts of the manifest")
            }
            try check(found.oauth, base)
            return DiscoveredServer(name: found.name, oauth: complete(found.oauth, base))
        }
    }

    nonisolated private func check(
        _ oauth: OAuthDescription, _ base: WebAddress
    ) throws(PluginFault) {
        let addresses = [
            oauth.authorizationURL, oauth.tokenURL, oauth.revocationURL, oauth.registration?.url,
        ]
        for text in addresses.compactMap({ $0 }) where WebAddress(text)?.origin != base.origin {
            throw PluginFault(
                "\(text) is not at \(base.origin), the only origin that may receive secrets")
        }
        guard case .federated(let scopes, _) = manifest.login else { return }
        for scope in oauth.scopes where !scopes.contains(scope) {
            throw PluginFault("the scope \(scope) is not in Scopes of the manifest")
        }
    }
}

nonisolated extension Manifest {
    /// The origins that the manifest names for keys and tokens, and the command of the plugin.
    var tokenRecipients: Set<String> {
        if login.authentication == .none { return [] }
        var recipients = Set(login.credentialOrigins)
        if case .oauth2(let description, _) = login {
            // These endpoints receive the refresh token.
            let urls = [description.tokenURL, description.revocationURL].compactMap { $0 }
            recipients.formUnion(urls.compactMap { WebAddress($0)?.origin })
        }
        recipients.insert(command.map(\.debugDescription).joined(separator: " "))
        return recipients
    }
}
