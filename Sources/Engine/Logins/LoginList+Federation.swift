internal import OAuth
internal import ProviderKit
internal import Quoting

/// Logins at a server of a federated service, with a client registration.
extension LoginList {
    /// The time limit for the discovery of a server and the client registration. `OpenBrowser` waits for both.
    nonisolated static let discoveryTime = Duration.seconds(18)

    /// Starts a login at the server that the caller named, or at the server of a known account.
    func start(_ provider: any FederatedLogin, _ options: LoginOptions) throws -> Login {
        try checkNoPassword(provider, options)
        let settings = ports.settings.settings(of: provider.info.id)
        guard let text = options.server ?? options.account?.identity.server else {
            throw EngineError.serverMissing(provider)
        }
        let server = try provider.server(text, settings)
        if let account = options.account, account.identity.server != server {
            throw EngineError.invalidArgument(
                "\(account.identity.username.excerpt) is at another server, not at \(server.excerpt)."
            )
        }
        let login = add(
            provider, for: options.account, server: server, isPreparing: true,
            client: options.client)
        login.begin { [self] in
            let context: BrowserLoginContext
            do {
                // This is done first, so that no client is registered that cannot be stored.
                try await unlockSecrets([.server(server, of: provider.info.id)])
                context = try await makeContext(
                    server, user: (try? ServerName(text))?.user, provider, settings)
            } catch {
                throw BrowserLoginContext.loginError(error, server.excerpt)
            }
            let authorization = makeAuthorization(context, isManual: options.isManual)
            try login.setAuthorization(authorization)
            return try await complete(login, authorization, context)
        }
        return login
    }

    private func makeContext(
        _ server: String, user: String?, _ provider: any FederatedLogin,
        _ settings: ProviderSettings
    ) async throws -> BrowserLoginContext {
        let plain = SessionPorts(http: ports.http, settings: settings, logger: ports.logger)
        let start = ContinuousTimer(ports.clock)
        let found = try await limited(Self.discoveryTime, server) {
            try await provider.discover(server, user: user, plain)
        }
        let remaining = Self.discoveryTime - start.elapsed
        // The prompt is outside of the time limits, because the user may need time.
        try await ports.secrets.unlock(
            [.server(found.name, of: provider.info.id)], isForStoring: true)
        let registered = try await limited(remaining, server) { [registrations] in
            try await registrations.client(at: found, provider)
        }
        return BrowserLoginContext(
            provider: provider, name: found.name, settings: settings,
            description: registered.description, clientID: registered.client.id,
            registrationKey: .server(found.name, of: provider.info.id),
            endpoint: { [ports] in
                TokenEndpoint(registered.description, registered.client, ports.http)
            },
            identify: { try await provider.identify(found.name, $0) })
    }

    /// Limits the time of a request to a server.
    func limited<Value: Sendable>(
        _ limit: Duration, _ server: String,
        _ body: @escaping @MainActor () async throws -> Value
    ) async throws -> Value {
        try await withTimeLimit(limit, ports.clock, body) {
            throw ProviderError.failed(
                "\(server.excerpt) did not respond in time; try again later.")
        }
    }
}

extension EngineError {
    /// Returns the error of a login without a server at a federated service.
    static func serverMissing(_ provider: any Provider) -> EngineError {
        .invalidArgument(
            "\(provider.info.name) has several servers; name the server of the account.")
    }
}
