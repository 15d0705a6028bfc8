internal import OAuth
internal import ProviderKit

/// Letting people in with a key that their service gave them, or with nothing.
extension Engine {
    func logIn(_ provider: any KeyLogin, _ options: LoginOptions) throws -> Login {
        let info = provider.info
        guard !options.registers else {
            throw EngineError.notSupported("\(info.name) takes no new users from here.")
        }
        let settings = ports.settings.settings(of: info.id)
        let server = options.server?.lowercased() ?? options.account?.identity.server ?? ""
        let description = try provider.access(settings, server: server)
        guard description.needsServer != server.isEmpty else {
            throw description.needsServer
                ? EngineError.invalidArgument(
                    "There are many servers: name yours (imagefeedctl login \(info.id) --server photos.example.org)."
                )
                : EngineError.notSupported("\(info.name) has no servers to choose from.")
        }
        let takesKey = description.keyField != nil
        guard takesKey == (options.password != nil) else {
            throw takesKey
                ? EngineError.invalidArgument(
                    "A key is needed, which \(info.name) gives its users (imagefeedctl login \(info.id) --password-file -)."
                ) : EngineError.notSupported("\(info.name) takes no password.")
        }
        let named = AccountIdentity(
            username: options.username ?? options.account?.identity.username ?? "",
            server: server)
        let login = makeLogin(
            provider, for: options.account, server: server, client: options.client)
        login.begin { [self] in
            let key = try await options.password?()
            guard key?.isCode ?? true else {
                throw EngineError.invalidArgument("That is no key: it has blanks, or is empty.")
            }
            // Before the service is asked: whoever does not unlock the keyring can try again.
            if key != nil { try await unlockSecrets([]) }
            try login.proceed()
            let client = AuthorizedClient(
                ports.http, FixedToken(token: key ?? Secret("")), description)
            let identity: AccountIdentity
            do {
                identity = try await provider.identify(
                    named, SessionPorts(http: client, settings: settings, logger: ports.logger))
            } catch ProviderError.unauthorized {
                throw EngineError.loginFailed("\(info.name) does not accept the key.")
            }
            try login.check(identity)
            if key != nil { try await unlockToken(of: identity, provider) }
            return try await admit(
                identity, provider, as: login.expectedAccount,
                with: key.map { .key($0, now: ports.now()) }
            ) { !login.hasEnded }
        }
        return login
    }

    /// Makes what an account without OAuth gets its photos from, if that lies at a service of the network.
    func makeKeyService(
        for account: Account, _ settings: ProviderSettings, _ stores: RemoteStores
    ) -> RemoteService? {
        let provider = account.provider
        var description = KeyDescription(keyField: nil, keyOrigins: [])
        if let provider = provider as? any KeyLogin {
            // With a server that cannot be, no request has a key.
            description =
                (try? provider.access(settings, server: account.identity.server)) ?? description
        } else if !(provider is UnusableProvider) {
            return nil
        }
        // Whether an account has a token whose provider is gone, nobody knows.
        let isNeeded = description.keyField != nil || provider is UnusableProvider
        let credentials = Credentials(
            account.id, label: Self.secretLabel(account.identity, provider), ports.secrets,
            isNeeded: isNeeded, now: ports.now,
            // A token of OAuth, whose provider is gone, has its client.
            revoke: { [weak self, weak account] token, endpoint in
                guard let account else { return }
                self?.revoke(
                    token, of: account.provider, at: account.identity.server,
                    user: account.identity,
                    with: endpoint)
            }
        ) { _ in throw OAuthError.noRefreshToken }
        let client = AuthorizedClient(ports.http, credentials, description)
        // What has no host of its own may be asked anywhere: its accounts have nothing in common.
        return makeService(
            for: account, credentials, client, settings,
            host: client.origins.first ?? account.id.text)
    }
}
