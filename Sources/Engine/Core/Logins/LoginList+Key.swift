internal import Accounts
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
        let settings = ports.settings.settings(of: info.id)
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
        let login = add(provider, options, server: server)
        if let provider = provider.tokenLogin, options.username?.isEmpty == false {
            begin(login, provider, username, options)
            return login
        }
        login.begin { [self] in
            let key = try await options.password?()
            guard key?.isCode ?? true else {
                throw EngineError.invalidArgument("The key is empty or contains spaces.")
            }
            // This is done before the request: if the user does not unlock the keyring, nothing is sent.
            if key != nil { try await unlockSecrets([]) }
            try login.proceed()
            let server = try await secured(server, for: login)
            let access = try provider.access(settings, server: server)
            let identity: AccountIdentity
            do {
                identity = try await provider.identify(
                    AccountIdentity(username: username, server: server),
                    ports.session(key ?? Secret(""), isIssued: false, access, settings))
            } catch ProviderError.unauthorized {
                throw EngineError.loginFailed(
                    Message("{provider} does not accept the key.", ["provider": info.name]))
            }
            try login.check(identity)
            if key != nil { try await unlockToken(of: identity, provider) }
            return try await completeLogin(
                identity, provider, as: login.expectedAccount,
                with: key.map { .key($0, now: ports.now()) }
            ) { !login.hasEnded }
        }
        return login
    }

    /// Starts a login with a user name and a password. Only the token that the service issues is stored.
    private func begin(
        _ login: Login, _ provider: any TokenLogin, _ username: String, _ options: LoginOptions
    ) {
        let settings = ports.settings.settings(of: provider.info.id)
        login.begin { [self] in
            guard let password = try await options.password?(), !password.isEmpty else {
                throw EngineError.invalidArgument("The password is empty.")
            }
            try await unlockSecrets([])
            try login.proceed()
            let named = AccountIdentity(
                username: username, server: try await secured(login.server, for: login))
            let description = try provider.access(settings, server: named.server)
            // The request carries no credentials of another account.
            let issued = try await provider.requestToken(
                named, password: password, ports.anonymousSession(description, settings))
            guard issued.isCode else {
                throw ProviderError.failed(
                    Message("{provider} sent an invalid token.", ["provider": provider.info.name]))
            }
            let token = OAuthToken.issued(issued, now: ports.now())
            return try await finish(login, provider, with: token, at: named.server) {
                try await provider.identify(
                    named, ports.session(token.accessToken, description, settings))
            }
        }
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
        let settings = ports.settings.settings(of: info.id)
        let server = try provider.server(text, settings)
        let login = add(provider, options, server: server, isPreparing: true)
        login.begin(within: Login.pollingTimeLimit) { [self] in
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
                let polled = try await PolledLogin.start(
                    description, at: description.server.excerpt, plain.http, now: ports.now())
                try login.setAddress(polled.url)
                let (username, token) = try await confirmation(
                    of: polled, plain.http, login, description)
                return try await finish(login, provider, with: token, at: description.server) {
                    let access = try provider.access(settings, server: description.server)
                    return try await provider.identify(
                        AccountIdentity(username: username, server: description.server),
                        ports.session(token.accessToken, access, settings))
                }
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
                if case .confirmed(let username, let password) = poll, login.hasEnded {
                    let token = Self.token(username, password, now: engine.ports.now())
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
            case .confirmed(let username, let password):
                return (username, Self.token(username, password, now: ports.now()))
            }
        }
    }

    private static func token(
        _ username: String, _ password: Secret, now: Timestamp
    ) -> OAuthToken {
        .issued(PolledLogin.basic(username: username, password: password), now: now)
    }
}
