internal import OAuth
internal import ProviderKit
internal import Quoting

/// Logins in the browser at a server that the user names. The application polls the server for the result.
extension LoginList {
    /// Starts a login at the server that the caller named, or at the server of a known account.
    func start(_ provider: any PollingLogin, _ options: LoginOptions) throws -> Login {
        try checkNoPassword(provider, options)
        let info = provider.info
        guard !options.isManual else {
            throw EngineError.notSupported(
                "\(info.name) shows no code; log in without the option manual, and confirm in the browser."
            )
        }
        guard let text = options.server ?? options.account?.identity.server else {
            throw EngineError.serverMissing(provider)
        }
        let settings = ports.settings.settings(of: info.id)
        let server = try provider.server(text, settings)
        let login = add(
            provider, for: options.account, server: server, isPreparing: true,
            client: options.client)
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
                try check(login, description)
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

    private func check(_ login: Login, _ description: PollingDescription) throws {
        guard let identity = login.expectedAccount?.identity,
            identity.server != description.server
        else { return }
        throw EngineError.invalidArgument(
            "\(identity.username.excerpt) is at another server, not at \(description.server.excerpt)."
        )
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
