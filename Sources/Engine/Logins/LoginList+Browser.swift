internal import Logging
internal import OAuth
internal import ProviderKit

/// Logins in the user's browser.
extension LoginList {
    func start(_ provider: any OAuthLogin, _ options: LoginOptions) throws -> Login {
        try checkNoPassword(provider, options)
        let settings = ports.settings.settings(of: provider.info.id)
        guard let clientID = settings["ClientId"] else { throw Engine.notConfigured(provider) }
        let context = BrowserLoginContext(
            provider: provider, name: provider.info.name, settings: settings,
            description: try provider.oauth(settings), clientID: clientID,
            secretKeys: [.provider(provider.info.id)], isClientConfigured: true,
            endpoint: { [engine] in try await engine.tokenEndpoint(provider, settings) },
            identify: { try await provider.identify($0) })
        let authorization = makeAuthorization(context, isManual: options.isManual)
        let login = add(provider, for: options.account, authorization, client: options.client)
        login.begin { [self] in
            do {
                try await checkClientSecret(of: provider)
            } catch {
                authorization.finish(.failed("\(error)"))
                throw error
            }
            return try await complete(login, authorization, context)
        }
        return login
    }

    /// Throws ``EngineError/notSupported(_:)`` for options that only logins with a password have.
    func checkNoPassword(_ provider: any Provider, _ options: LoginOptions) throws {
        guard options.password == nil, !options.registers else {
            throw EngineError.notSupported(
                "\(provider.info.name) uses a login in the browser, without a password.")
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
            let error = context.loginError(error)
            if case EngineError.loginDenied = error {
                authorization.finish(.denied)
            } else {
                authorization.finish(.failed((error as? SecretStoreError)?.message ?? "\(error)"))
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
        try await unlockSecrets(
            context.secretKeys + (login.expectedAccount.map { [.account($0.id.text)] } ?? []))
        let endpoint = try await context.endpoint()
        let request = authorization.request
        let token = try await exchanges.run(login.number) { [engine] in
            let token = try await endpoint.exchange(code, for: request)
            guard !login.hasEnded else {
                // The login was cancelled during the exchange.
                engine.revoke(token, of: context.provider, at: login.server, with: endpoint)
                throw CancellationError()
            }
            return token
        }
        // A service may issue a token again after its revocation failed. The pending revocation is cancelled.
        engine.revocations.cancel(token)
        let account = try await finish(
            login, context.provider, with: token, at: login.server, from: endpoint
        ) {
            let client = AuthorizedClient(
                ports.http, FixedToken(token: token.accessToken), context.description)
            return try await context.identify(
                SessionPorts(http: client, settings: context.settings, logger: ports.logger))
        }
        await registrations.store(for: context)
        return account
    }

    /// Throws before the user opens the browser if the client secret is missing. A locked keyring may contain it, so
    /// that is not an error.
    private func checkClientSecret(of provider: any OAuthLogin) async throws {
        let secret: Secret?
        do {
            secret = try await ports.secrets.lookUp(.provider(provider.info.id), unlocking: false)
        } catch {
            return
        }
        if secret == nil { throw Engine.notConfigured(provider) }
    }
}
