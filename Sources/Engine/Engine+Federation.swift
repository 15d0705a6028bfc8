internal import OAuth
internal import ProviderKit
internal import Quoting

/// Servers that the application makes itself known to.
extension Engine {
    /// The time limit for the discovery of a server and the client registration. `OpenBrowser` waits for both.
    nonisolated static let discoveryTime = Duration.seconds(18)

    /// Starts a login at a server that the caller names, or at that of a known account.
    func logIn(_ provider: any FederatedLogin, _ options: LoginOptions) throws -> Login {
        guard options.password == nil, !options.registers else {
            throw EngineError.notSupported("\(provider.info.name) is logged in to in the browser.")
        }
        let settings = ports.settings.settings(of: provider.info.id)
        guard let text = options.server ?? options.account?.identity.server else {
            throw EngineError.invalidArgument(
                "There are many servers: name yours (imagefeedctl login \(provider.info.id) --server example.social)."
            )
        }
        let server = try provider.server(text, settings)
        if let account = options.account, account.identity.server != server {
            throw EngineError.invalidArgument(
                "\(account.identity.username.excerpt) is at another server, not at \(server.excerpt)."
            )
        }
        let login = makeLogin(
            provider, for: options.account, server: server, isPreparing: true,
            client: options.client)
        login.begin { [self] in
            let entrance: BrowserLoginContext
            do {
                // First: no client is registered that cannot be stored.
                try await unlockSecrets([.server(server, of: provider.info.id)])
                entrance = try await self.entrance(
                    server, user: (try? ServerName(text))?.user, provider, settings)
            } catch {
                throw BrowserLoginContext.loginError(error, server.excerpt)
            }
            let authorization = makeAuthorization(entrance, isManual: options.isManual)
            try login.go(on: authorization)
            return try await finish(login, authorization, entrance)
        }
        return login
    }

    private func entrance(
        _ server: String, user: String?, _ provider: any FederatedLogin,
        _ settings: ProviderSettings
    ) async throws -> BrowserLoginContext {
        let plain = SessionPorts(http: ports.http, settings: settings, logger: ports.logger)
        let start = ContinuousTimer(ports.clock)
        let found = try await limited(Self.discoveryTime, server) {
            try await provider.discover(server, user: user, plain)
        }
        let remaining = Self.discoveryTime - start.elapsed
        // Outside the time limits: the user may need time for the prompt.
        try await ports.secrets.unlock(
            [.server(found.name, of: provider.info.id)], isForStoring: true)
        let registered = try await limited(remaining, server) { [self] in
            try await registeredClient(found, provider)
        }
        return BrowserLoginContext(
            provider: provider, name: found.name, settings: settings,
            description: registered.description, clientID: registered.client.id,
            registrationKey: .server(found.name, of: provider.info.id),
            advice: "log in again",
            endpoint: { [ports] in
                TokenEndpoint(registered.description, registered.client, ports.http)
            },
            identify: { try await provider.identify(found.name, $0) })
    }

    private func limited<Value: Sendable>(
        _ limit: Duration, _ server: String,
        _ body: @escaping @MainActor () async throws -> Value
    ) async throws -> Value {
        try await withTimeLimit(limit, ports.clock, body) {
            throw ProviderError.failed(
                "\(server.excerpt) takes too long to answer; try again later.")
        }
    }

    /// What the server knows the application by: kept from before, unless the server has forgotten it or
    /// wants other things now.
    private func registeredClient(
        _ server: DiscoveredServer, _ provider: any FederatedLogin
    ) async throws -> RegisteredClient {
        let key = SecretKey.server(server.name, of: provider.info.id)
        return try await registrations.run(key) { [self, ports] in
            var known = newRegistrations[key]
            if known == nil {
                let stored = try await ports.secrets.lookUp(key, unlocking: false)
                known = stored.flatMap { RegisteredClient(encoded: $0) }
            }
            if let known,
                known.description.isRegistered(like: server.oauth),
                server.oauth.registration?.isForOneLogin != true,
                try await TokenEndpoint(server.oauth, known.client, ports.http).knowsClient()
            {
                return RegisteredClient(description: server.oauth, client: known.client)
            }
            // A login that timed out or was cancelled registers no client.
            try Task.checkCancellation()
            let new = try await RegistrationEndpoint.register(
                server.oauth, ports.http, now: ports.now())
            // Stored when a login succeeds: nothing is left of one that fails.
            newRegistrations[key] = new
            return new
        }
    }

    /// The keys of the secrets that the token endpoint of an account may need.
    func clientKeys(of account: Account) -> [SecretKey] {
        let id = account.provider.info.id
        return account.provider is any OAuthLogin
            ? [.provider(id)] : [.server(account.identity.server, of: id)]
    }

    /// How the service of an account lets it in, as far as its settings are right; nil where there is no token.
    func description(of account: Account) -> OAuthDescription? {
        let settings = ports.settings.settings(of: account.provider.info.id)
        return switch account.provider {
        case let provider as any OAuthLogin: try? provider.oauth(settings)
        case let provider as any FederatedLogin:
            try? provider.oauth(account.identity.server, settings)
        default: nil
        }
    }

    /// Whether accounts of a provider have a token.
    static func isRemote(_ provider: any Provider) -> Bool {
        provider.info.authentication == .oauth2
            && (provider is any OAuthLogin || provider is any FederatedLogin)
    }
}
