internal import Logging
internal import OAuth
internal import ProviderKit
internal import Quoting

/// Letting people in.
extension Engine {
    /// Starts a login.
    ///
    /// - Parameters:
    ///   - id: The provider's id.
    ///   - options: What the caller gave.
    /// - Returns: The login, which goes on by itself.
    /// - Throws: ``EngineError/notFound(_:)``, ``EngineError/notConfigured(_:)``,
    ///   ``EngineError/notSupported(_:)``, ``EngineError/invalidArgument(_:)``,
    ///   ``EngineError/tooManyLogins``. All else is told by the login.
    package func logIn(_ id: String, _ options: LoginOptions) throws -> Login {
        guard let provider = self.provider(id) else {
            throw EngineError.notFound("There is no provider \(id.quoted).")
        }
        if let account = options.account, account.provider.info.id != id {
            throw EngineError.invalidArgument("\(account.id) is no account of \(id).")
        }
        let unfinished = logins.filter { !$0.hasEnded }
        guard unfinished.count < Login.maximumUnfinished,
            unfinished.count(where: { $0.client == options.client })
                < Login.maximumUnfinishedPerClient
        else { throw EngineError.tooManyLogins }
        guard
            options.server == nil || provider is any FederatedLogin || provider is any KeyLogin
        else {
            throw EngineError.notSupported("\(provider.info.name) has no servers to choose from.")
        }
        switch provider {
        case let provider as any PasswordLogin: return try logIn(provider, options)
        case let provider as any OAuthLogin: return try logIn(provider, options)
        case let provider as any FederatedLogin: return try logIn(provider, options)
        case let provider as any KeyLogin: return try logIn(provider, options)
        case let provider as any InstalledProvider:
            throw EngineError.notSupported(
                "\(provider.info.name) cannot be used: \(provider.condition.reason)")
        default:
            throw EngineError.notSupported("\(provider.info.name) cannot be logged in to.")
        }
    }

    // MARK: With a name

    private func logIn(_ provider: any PasswordLogin, _ options: LoginOptions) throws -> Login {
        let request = PasswordLoginRequest(
            username: options.username ?? options.account?.identity.username ?? "",
            hasPassword: options.password != nil, registers: options.registers)
        try provider.check(request)
        let login = makeLogin(provider, for: options.account, client: options.client)
        login.begin { [self] in
            var request = request
            request.password = try await options.password?()
            let identity = try await provider.logIn(request)
            do {
                try login.proceed()
                try login.check(identity)
                // Who could be registered was lost by the provider, whatever the account says.
                if !request.registers, account(identity, of: provider)?.isLoggedIn == true {
                    throw EngineError.alreadyLoggedIn(
                        "\(identity.username.excerpt) is logged in already.")
                }
                return try await admit(identity, provider) { !login.hasEnded }
            } catch {
                if request.registers {
                    // In a task of its own, since this one may be cancelled. What cannot be taken back
                    // stays; the error that led here is the one to tell.
                    _ = await Task { try await provider.removeUser(identity) }.result
                }
                throw error
            }
        }
        return login
    }

    // MARK: In the browser

    private func logIn(_ provider: any OAuthLogin, _ options: LoginOptions) throws -> Login {
        guard options.password == nil, !options.registers else {
            throw EngineError.notSupported("\(provider.info.name) is logged in to in the browser.")
        }
        let settings = ports.settings.settings(of: provider.info.id)
        guard let clientID = settings["ClientId"] else { throw Self.notConfigured(provider) }
        let entrance = BrowserLoginContext(
            provider: provider, name: provider.info.name, settings: settings,
            description: try provider.oauth(settings), clientID: clientID,
            secretKeys: [.provider(provider.info.id)],
            advice: "run \"imagefeedctl configure \(provider.info.id)\"",
            endpoint: { [self] in try await tokenEndpoint(provider, settings) },
            identify: { try await provider.identify($0) })
        let authorization = makeAuthorization(entrance, isManual: options.isManual)
        let login = makeLogin(
            provider, for: options.account, authorization, client: options.client)
        login.begin { [self] in
            do {
                try await checkSecret(of: provider)
            } catch {
                authorization.finish(.failed("\(error)"))
                throw error
            }
            return try await finish(login, authorization, entrance)
        }
        return login
    }

    func makeAuthorization(_ entrance: BrowserLoginContext, isManual: Bool) -> Authorization {
        let authorization = Authorization(
            entrance.description, clientID: entrance.clientID,
            redirects: isManual ? nil : redirects)
        if let error = authorization.listenerError {
            ports.logger.notice("The code has to be pasted", metadata: ["reason": "\(error)"])
        }
        return authorization
    }

    /// Waits for the code, and makes an account of it; the browser is told how it went.
    func finish(
        _ login: Login, _ authorization: Authorization, _ entrance: BrowserLoginContext
    ) async throws -> Account {
        do {
            let code = try await authorization.code()
            try login.proceed()
            let account = try await exchange(code, login, authorization, entrance)
            authorization.finish(.loggedIn)
            return account
        } catch {
            let error = BrowserLoginContext.loginError(
                error, entrance.name, advice: entrance.advice)
            if case EngineError.loginDenied = error {
                authorization.finish(.denied)
            } else {
                authorization.finish(.failed((error as? SecretStoreError)?.message ?? "\(error)"))
            }
            throw error
        }
    }

    /// Makes an account of a code: the token is stored first, and nothing is left if that fails.
    private func exchange(
        _ code: Secret, _ login: Login, _ authorization: Authorization,
        _ entrance: BrowserLoginContext
    ) async throws -> Account {
        // Before the code is spent: whoever does not unlock the keyring can try again.
        try await unlockSecrets(
            entrance.secretKeys + (login.expectedAccount.map { [.account($0.id.text)] } ?? []))
        let endpoint = try await entrance.endpoint()
        let request = authorization.request
        let token = try await exchanges.run(login.number) { [self] in
            let token = try await endpoint.exchange(code, for: request)
            guard !login.hasEnded else {
                // The caller does not wait any more.
                revoke(token, of: entrance.provider, at: login.server, with: endpoint)
                throw CancellationError()
            }
            return token
        }
        // A service may issue a token again whose revocation failed.
        revocations.cancel(token)
        do {
            let client = AuthorizedClient(
                ports.http, FixedToken(token: token.accessToken), entrance.description)
            let identity = try await entrance.identify(
                SessionPorts(http: client, settings: entrance.settings, logger: ports.logger))
            try login.check(identity)
            try await unlockToken(of: identity, entrance.provider, login.expectedAccount)
            let account = try await admit(
                identity, entrance.provider, as: login.expectedAccount, with: token
            ) { !login.hasEnded }
            await storeRegistration(of: entrance)
            return account
        } catch {
            revoke(token, of: entrance.provider, at: login.server, with: endpoint)
            throw error
        }
    }

    /// Unlocks secrets, and prepares the keyring for new ones, because of an action of the user. May prompt.
    func unlockSecrets(_ keys: [SecretKey]) async throws {
        try await ports.secrets.unlock(keys, isForStoring: true)
        // Other accounts may wait for the same keyring.
        tryAgain()
    }

    /// Unlocks the token that a login replaces: outside the queue of changes, which does not wait for prompts.
    func unlockToken(
        of identity: AccountIdentity, _ provider: any Provider, _ expected: Account? = nil
    ) async throws {
        let id =
            expected?.id ?? account(identity, of: provider)?.id
            ?? AccountID(provider: provider.info.id, identity) { account($0) != nil }
        try await ports.secrets.unlock([.account(id.text)], isForStoring: true)
    }

    /// Spares the user the way through the browser if the client's secret is certainly not there. Whether a
    /// keyring that is locked has it is seen later.
    private func checkSecret(of provider: any OAuthLogin) async throws {
        let secret: Secret?
        do {
            secret = try await ports.secrets.lookUp(
                .provider(provider.info.id), unlocking: false)
        } catch {
            return
        }
        if secret == nil { throw Self.notConfigured(provider) }
    }

    /// Where a provider's tokens are made. Reads the client's secret.
    ///
    /// - Throws: ``EngineError/notConfigured(_:)``, ``SecretStoreError``.
    func tokenEndpoint(
        _ provider: any OAuthLogin, _ settings: ProviderSettings
    ) async throws -> TokenEndpoint {
        guard let clientID = settings["ClientId"],
            let secret = try await ports.secrets.lookUp(
                .provider(provider.info.id), unlocking: false)
        else { throw Self.notConfigured(provider) }
        return TokenEndpoint(
            try provider.oauth(settings), OAuthClient(id: clientID, secret: secret), ports.http)
    }

    static func notConfigured(_ provider: any OAuthLogin) -> EngineError {
        .notConfigured(
            "\(provider.info.name) is not configured: run \"imagefeedctl configure \(provider.info.id)\". "
                + provider.registrationHelp.split(separator: "\n").joined(separator: " "))
    }
}
