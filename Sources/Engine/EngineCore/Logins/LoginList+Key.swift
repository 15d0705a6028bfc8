internal import EngineModel
internal import OAuth
internal import ProviderKit
internal import Quoting
internal import System
internal import Translation

/// Logins with a key that the service issued to the user, with a user name and a password, or without any secret.
extension LoginList {
    func start(_ provider: any KeyLogin, _ options: LoginOptions) throws -> Login {
        let info = provider.info
        guard !options.registers else {
            throw EngineError.notSupported(
                Message("{provider} cannot register new users here.", ["provider": info.name]))
        }
        let settings = ports.settings(info.id)
        let server = options.server?.lowercased() ?? options.account?.identity.server ?? ""
        let description = try provider.access(settings, server: server)
        guard description.needsServer != server.isEmpty else {
            throw description.needsServer
                ? EngineError.serverMissing(provider) : EngineError.singleServer(provider)
        }
        let takesKey = description.keyField != nil
        guard takesKey == (options.password != nil) else {
            throw takesKey
                ? EngineError.invalidArgument(
                    "\(info.name) requires a key; create one there and pass it as the password.")
                : EngineError.notSupported(
                    Message(
                        "{provider} uses no password; log in without one.", ["provider": info.name])
                )
        }
        let username = options.username ?? options.account?.identity.username ?? ""
        // A service that issues tokens receives a password if the caller names a user, else a key.
        let tokenLogin = options.username?.isEmpty == false ? provider.tokenLogin : nil
        let login = add(provider, options, server: server)
        login.begin { [self] in
            let secret = try await options.password?()
            guard tokenLogin == nil || secret?.isEmpty == false else {
                throw EngineError.invalidArgument("The password is empty.")
            }
            guard tokenLogin != nil || secret?.isCode != false else {
                throw EngineError.invalidArgument("The key is empty or contains spaces.")
            }
            // This is done before the request: if the user does not unlock the keyring, nothing is sent.
            if secret != nil { try await unlockSecrets([]) }
            try login.proceed()
            let user = AccountIdentity(
                username: username, server: try await secured(server, for: login))
            let access = try provider.access(settings, server: user.server)
            if let tokenLogin, let secret {
                let token = try await requestToken(tokenLogin, user, secret, access, settings)
                return try await finish(login, with: token, as: user, access)
            }
            do {
                let key = secret.map { OAuthToken.key($0, now: ports.now()) }
                return try await finish(login, with: key, as: user, access)
            } catch ProviderError.unauthorized {
                throw EngineError.loginFailed(
                    Message("{provider} does not accept the key.", ["provider": info.name]))
            }
        }
        return login
    }

    /// Requests a token for a user name and a password, which is not stored.
    private func requestToken(
        _ provider: any TokenLogin, _ user: AccountIdentity, _ password: Secret,
        _ access: KeyDescription, _ settings: ProviderSettings
    ) async throws -> OAuthToken {
        // The request carries no credentials of another account.
        let issued = try await provider.requestToken(
            user, password: password, ports.anonymousSession(access, settings))
        guard issued.isCode else {
            throw ProviderError.failed(
                Message("{provider} sent an invalid token.", ["provider": provider.info.name]))
        }
        return .issued(issued, now: ports.now())
    }
}

/// Logins in the browser at a server that the user names. The application polls the server for the result.
extension LoginList {
    /// Starts a login at the server that the caller named, or at the server of a known account.
    func start(_ provider: any PollingLogin, _ options: LoginOptions) throws -> Login {
        try checkNoPassword(provider, options)
        let info = provider.info
        guard !options.isManual else {
            throw EngineError.notSupported(
                Message(
                    "{provider} shows no code; log in without the option manual, and confirm in the browser.",
                    ["provider": info.name])
            )
        }
        guard let text = options.server ?? options.account?.identity.server else {
            throw EngineError.serverMissing(provider)
        }
        let settings = ports.settings(info.id)
        let server = try provider.server(text, settings)
        let login = add(provider, options, server: server, isPreparing: true)
        login.begin { [self] in
            do {
                // This is done first, so that no password is issued that cannot be stored.
                try await unlockSecrets([])
                let server = try await secured(server, for: login)
                let access = try provider.access(settings, server: server)
                let plain = ports.anonymousSession(access, settings)
                let description = try await limited(Self.discoveryTime, server) {
                    try await provider.describeLogin(server, plain)
                }
                try check(description.server, of: login.expectedAccount)
                let found = try provider.access(settings, server: description.server)
                let polled = try await PolledLogin.start(
                    description, at: description.server.excerpt, plain.http, now: ports.now())
                try login.setAddress(polled.url)
                let (username, token) = try await confirmation(
                    of: polled, plain.http, login, description)
                let user = AccountIdentity(username: username, server: description.server)
                return try await finish(login, with: token, as: user, found)
            } catch {
                throw BrowserLoginContext.loginError(error, server.excerpt)
            }
        }
        return login
    }

    /// Polls until the user has confirmed.
    ///
    /// Only a confirmation, a refusal of the server, and the end of the login end the polls, because the user may need
    /// minutes and the network may fail meanwhile.
    private func confirmation(
        of polled: PolledLogin, _ http: any HTTPClient, _ login: Login,
        _ description: PollingDescription
    ) async throws -> (username: String, token: OAuthToken) {
        var delay = PolledLogin.interval
        while true {
            try await ports.clock.sleep(for: delay)
            // The server returns the password once. A poll continues after the end of the login, so that the password
            // can be revoked.
            let poll = try await polls.run(login.number) { [engine] in
                let poll = try await polled.poll(http, now: engine.ports.now())
                if case .confirmed(_, let token) = poll, login.hasEnded {
                    engine.revoke(token, of: login.provider, at: description.server)
                    throw CancellationError()
                }
                return poll
            }
            switch poll {
            case .pending: delay = PolledLogin.interval
            case .failed(let retryAfter):
                delay = min(delay * 2, PolledLogin.maximumDelay)
                if let retryAfter {
                    delay = max(delay, min(retryAfter, PolledLogin.maximumRetryDelay))
                }
            case .confirmed(let username, let token): return (username, token)
            }
        }
    }
}
