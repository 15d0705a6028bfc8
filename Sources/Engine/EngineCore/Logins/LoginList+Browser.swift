internal import EngineModel
internal import Logging
internal import OAuth
internal import ProviderKit
internal import Quoting
internal import Services
internal import System
internal import Translation

/// Logins in the user's browser.
extension LoginList {
    func start(_ provider: any OAuthLogin, _ options: LoginOptions) throws -> Login {
        try checkNoPassword(provider, options)
        let settings = ports.settings(provider.info.id)
        guard let clientID = settings["ClientId"] else {
            throw Engine.notConfigured(provider, settings)
        }
        let context = BrowserLoginContext(
            provider: provider, server: "", description: try provider.oauth(settings),
            clientID: clientID
        ) { [engine] in try await engine.tokenEndpoint(provider, settings) }
        let authorization = makeAuthorization(context, isManual: options.isManual)
        let login = add(provider, options, authorization)
        login.begin { [self] in try await complete(login, authorization, context) }
        return login
    }

    /// Throws ``EngineError/notSupported(_:)`` for options that only logins with a password have.
    func checkNoPassword(_ provider: any Provider, _ options: LoginOptions) throws {
        guard options.password == nil, !options.registers else {
            throw EngineError.notSupported(
                Message(
                    "{provider} uses a login in the browser, without a password.",
                    ["provider": provider.info.name]))
        }
    }

    func makeAuthorization(_ context: BrowserLoginContext, isManual: Bool) -> Authorization {
        let authorization = Authorization(
            context.description, clientID: context.clientID, redirects: isManual ? nil : redirects)
        if let error = authorization.listenerError {
            ports.logger.notice(
                "The redirect listener is not available, so the user has to paste the code",
                metadata: ["reason": "\(error)"])
        }
        return authorization
    }

    /// Waits for the code, and creates the account. The outcome is shown in the browser.
    func complete(
        _ login: Login, _ authorization: Authorization, _ context: BrowserLoginContext
    ) async throws -> Account {
        do {
            let code = try await authorization.code()
            try login.proceed()
            let account = try await exchange(code, login, authorization, context)
            authorization.finish(.loggedIn)
            return account
        } catch {
            let error = await context.loginError(error)
            if case EngineError.loginDenied = error {
                authorization.finish(.denied)
            } else {
                authorization.finish(.failed(Message(error).translated))
            }
            throw error
        }
    }

    /// Exchanges a code for a token, and creates the account. The token is stored first. A failure leaves no data.
    private func exchange(
        _ code: Secret, _ login: Login, _ authorization: Authorization,
        _ context: BrowserLoginContext
    ) async throws -> Account {
        // This is done before the exchange: if the user does not unlock the keyring, the code remains valid.
        let clientKeys = context.isRegistered ? [] : [SecretKey.provider(login.provider.info.id)]
        try await unlockSecrets(
            clientKeys + (login.expectedAccount.map { [.account($0.id.text)] } ?? []))
        let endpoint = try await context.endpoint()
        let request = authorization.request
        let token = try await exchanges.run(login.number) { [engine] in
            let token = try await endpoint.exchange(code, for: request)
            guard !login.hasEnded else {
                // The login was cancelled during the exchange.
                engine.revoke(token, of: login.provider, at: login.server, with: endpoint)
                throw CancellationError()
            }
            return token
        }
        // A service may issue a token again after its revocation failed. The pending revocation is cancelled.
        engine.revocations.cancel(token)
        let account = try await finish(
            login, with: token, as: AccountIdentity(username: "", server: context.server),
            KeyDescription(context.description), from: endpoint)
        await registrations.store(at: context.server, login.provider)
        return account
    }

    /// Throws ``EngineError/notConfigured(_:)`` if a provider needs a client secret that is missing. A keyring that is
    /// locked or does not reply soon may contain it, so that is not an error. Call it before a login starts, which has an
    /// address for the browser.
    package func checkClientSecret(of id: String) async throws {
        guard let provider = engine.provider(id)?.loginMethod.oauth else { return }
        let isMissing = try? await withTimeLimit(Self.secretCheckTime, ports.clock) { [self] in
            try await secretChecks.run(id) { [self] in
                try await ports.secrets.lookUp(.provider(id)) == nil
            }
        } onTimeout: {
            false
        }
        guard isMissing == true else { return }
        throw Engine.notConfigured(provider, ports.settings(id))
    }
}

/// Logins at a server of a federated service, with a client registration.
extension LoginList {
    /// The time limit for the discovery of a server and the client registration. `OpenBrowser` waits for both.
    nonisolated static let discoveryTime = Duration.seconds(18)

    /// Starts a login at the server that the caller named, or at the server of a known account.
    func start(_ provider: any FederatedLogin, _ options: LoginOptions) throws -> Login {
        try checkNoPassword(provider, options)
        let settings = ports.settings(provider.info.id)
        guard let text = options.server ?? options.account?.identity.server else {
            throw EngineError.serverMissing(provider)
        }
        let server = try provider.server(text, settings)
        try check(server, of: options.account)
        let login = add(provider, options, server: server, isPreparing: true)
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

    /// Throws if a known account is at another server.
    func check(_ server: String, of account: Account?) throws(EngineError) {
        guard let identity = account?.identity, identity.server != server else { return }
        throw .invalidArgument(
            "\(identity.username.excerpt) is at another server, not at \(server.excerpt).")
    }

    private func makeContext(
        _ server: String, user: String?, _ provider: any FederatedLogin,
        _ settings: ProviderSettings
    ) async throws -> BrowserLoginContext {
        let plain = SessionPorts(http: ports.http, settings: settings, logger: ports.logger)
        let elapsed = ports.clock.stopwatch()
        let found = try await limited(Self.discoveryTime, server) {
            try await provider.discover(server, user: user, plain)
        }
        let remaining = Self.discoveryTime - elapsed()
        // The prompt is outside of the time limits, because the user may need time.
        try await ports.secrets.unlock(
            [.server(found.name, of: provider.info.id)], isForStoring: true)
        let registered = try await limited(remaining, server) { [registrations] in
            try await registrations.client(at: found, provider)
        }
        return BrowserLoginContext(
            provider: provider, server: found.name, description: registered.description,
            clientID: registered.id
        ) { [ports] in TokenEndpoint(registered, ports.http) }
    }

    /// Limits the time of a request to a server.
    func limited<Value: Sendable>(
        _ limit: Duration, _ server: String,
        _ body: @escaping @MainActor () async throws -> Value
    ) async throws -> Value {
        try await withTimeLimit(limit, ports.clock, body) {
            throw ProviderError.failed(
                Message(
                    "{server} did not respond in time; try again later.", ["server": server.excerpt]
                ))
        }
    }
}

extension EngineError {
    /// Returns the error of a login without a server at a federated service.
    static func serverMissing(_ provider: any Provider) -> EngineError {
        .invalidArgument(
            "\(provider.info.name) has several servers; name the server of the account.")
    }

    /// Returns the error of a login with a server at a service that has only one.
    static func singleServer(_ provider: any Provider) -> EngineError {
        .notSupported(
            Message(
                "{provider} has only one server; log in without a server name.",
                ["provider": provider.info.name]))
    }
}

/// The properties of a service that a login in the browser uses.
struct BrowserLoginContext {
    let provider: any Provider
    /// The server; empty for a service that is not federated.
    let server: String
    let description: OAuthDescription
    let clientID: String
    /// Returns the endpoint that exchanges codes for tokens. Reads the client secret.
    let endpoint: () async throws -> TokenEndpoint

    /// True if the server registered the application, false if the user did so.
    var isRegistered: Bool { !server.isEmpty }
    /// The name for users: the name of the provider or of the server.
    private var name: String { provider.serviceName(at: server) }

    /// Returns the error of a login for clients. The text of a redirect does not repeat the client secret.
    func loginError(_ error: any Error) async -> any Error {
        var error = error
        if let failure = error as? OAuthError,
            let secret = try? await endpoint().registered.secret
        {
            error = failure.withholding([secret])
        }
        if !isRegistered, case OAuthError.invalidClient = error {
            return EngineError.loginFailed(
                Message(
                    "{service} does not accept the client ID or the client secret; configure them again.",
                    ["service": name]))
        }
        return Self.loginError(error, name)
    }

    /// Returns the error of a login for clients.
    ///
    /// - Parameters:
    ///   - error: The cause.
    ///   - name: The name of the service for users.
    /// - Returns: The error to throw.
    static func loginError(_ error: any Error, _ name: String) -> any Error {
        guard let error = error as? OAuthError else {
            return switch error {
            case ProviderError.unauthorized:
                EngineError.loginFailed(
                    Message(
                        "{service} does not accept the token that it issued; try again later.",
                        ["service": name]))
            case HTTPError.tooLarge:
                ProviderError.failed(
                    Message(
                        "{service} sent a response that is too large; try again later.",
                        ["service": name]))
            case is CancellationError: EngineError.cancelled(Message("The login was cancelled."))
            default: error
            }
        }
        return switch error {
        case .denied: EngineError.loginDenied
        case .invalidGrant:
            EngineError.loginFailed(
                Message("{service} does not accept the code; log in again.", ["service": name]))
        case .invalidClient:
            EngineError.loginFailed(
                Message(
                    "{service} does not know this application; log in again.", ["service": name]))
        case .refused(let reason):
            EngineError.loginFailed(
                Message(
                    "{service} refused the login: {reason}",
                    messages: ["service": Message(verbatim: name), "reason": reason.sentence]))
        case .rateLimited(let until): ProviderError.rateLimited(until: until)
        case .serviceFailed(let reason):
            ProviderError.failed(
                Message(
                    "{service} cannot complete the login; try again later: {reason}",
                    messages: ["service": Message(verbatim: name), "reason": reason.sentence]))
        case .invalidCode, .noRefreshToken, .portTaken, .cannotListen:
            EngineError.loginFailed(
                Message("The login failed: {reason}.", ["reason": "\(error)"]))
        }
    }
}
