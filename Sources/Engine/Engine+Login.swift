internal import Logging
internal import OAuth
internal import ProviderKit

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
            throw EngineError.notFound("There is no provider \"\(id)\".")
        }
        if let account = options.account, account.provider.info.id != id {
            throw EngineError.invalidArgument("\(account.id) is no account of \(id).")
        }
        guard logins.count(where: { !$0.hasEnded }) < Login.maximumUnfinished else {
            throw EngineError.tooManyLogins
        }
        guard options.server == nil else {
            throw EngineError.notSupported("\(provider.info.name) has no servers to choose from.")
        }
        switch provider {
        case let provider as any PasswordLogin: return try logIn(provider, options)
        case let provider as any OAuthLogin: return try logIn(provider, options)
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
        let login = makeLogin(provider, for: options.account)
        login.begin { [self] in
            var request = request
            request.password = try await options.password?()
            let identity = try await provider.logIn(request)
            do {
                try login.proceed()
                try login.check(identity)
                if account(identity, of: provider)?.isLoggedIn == true {
                    throw EngineError.alreadyLoggedIn("\(identity.username) is logged in already.")
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
        let description = try provider.oauth(settings)
        let authorization = Authorization(
            description, clientID: clientID, redirects: options.isManual ? nil : redirects)
        let login = makeLogin(provider, for: options.account, authorization)
        if let error = authorization.listenerError {
            ports.logger.notice("The code has to be pasted", metadata: ["reason": "\(error)"])
        }
        login.begin { [self] in
            do {
                try await checkSecret(of: provider)
                let code = try await authorization.code()
                try login.proceed()
                let account = try await exchange(code, login, provider, settings, description)
                authorization.finish(.loggedIn)
                return account
            } catch {
                let error = Self.loginError(error, provider)
                if case EngineError.loginDenied = error {
                    authorization.finish(.denied)
                } else {
                    authorization.finish(
                        .failed((error as? SecretStoreError)?.message ?? "\(error)"))
                }
                throw error
            }
        }
        return login
    }

    /// Makes an account of a code: the token is stored first, and nothing is left if that fails.
    private func exchange(
        _ code: Secret, _ login: Login, _ provider: any OAuthLogin, _ settings: ProviderSettings,
        _ description: OAuthDescription
    ) async throws -> Account {
        guard let authorization = login.authorization else { throw CancellationError() }
        // Before the code is spent: whoever does not unlock the keyring can try again.
        try await ports.secrets.unlock()
        let endpoint = try await tokenEndpoint(provider, settings)
        let token = try await endpoint.exchange(code, for: authorization.request)
        do {
            let client = AuthorizedClient(
                ports.http, FixedToken(token: token.accessToken), description)
            let identity = try await provider.identify(
                SessionPorts(http: client, settings: settings, logger: ports.logger))
            try login.check(identity)
            return try await admit(identity, provider, with: token) { !login.hasEnded }
        } catch {
            Task { try? await endpoint.revoke(token) }
            throw error
        }
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

    /// What a login in the browser fails with, in the terms that clients are told in.
    private static func loginError(
        _ error: any Error, _ provider: any OAuthLogin
    ) -> any Error {
        let name = provider.info.name
        guard let error = error as? OAuthError else {
            return switch error {
            case ProviderError.unauthorized:
                EngineError.loginFailed("\(name) does not accept the token that it gave.")
            case HTTPError.tooLarge:
                ProviderError.failed("\(name) did not do its part: it answered without an end.")
            case is CancellationError: EngineError.cancelled("The login was cancelled.")
            default: error
            }
        }
        return switch error {
        case .denied: EngineError.loginDenied
        case .invalidGrant:
            EngineError.loginFailed("\(name) does not accept the code; log in again.")
        case .invalidClient:
            EngineError.loginFailed(
                "\(name) does not know the client id or its secret: run \"imagefeedctl configure "
                    + "\(provider.info.id)\".")
        case .refused(let text): EngineError.loginFailed("\(name) refused: \(text)")
        case .rateLimited(let until): ProviderError.rateLimited(until: until)
        case .serviceFailed(let text):
            ProviderError.failed("\(name) did not do its part: \(text)")
        case .invalidCode, .noRefreshToken, .portTaken, .cannotListen:
            EngineError.loginFailed("The login failed: \(error).")
        }
    }
}
