internal import OAuth
internal import ProviderKit

/// Logins with a key that the service issued to the user, with a user name and a password, or without any secret.
extension LoginList {
    func start(_ provider: any KeyLogin, _ options: LoginOptions) throws -> Login {
        let info = provider.info
        guard !options.registers else {
            throw EngineError.notSupported("\(info.name) cannot register new users here.")
        }
        let settings = ports.settings.settings(of: info.id)
        let server = options.server?.lowercased() ?? options.account?.identity.server ?? ""
        let description = try provider.access(settings, server: server)
        guard description.needsServer != server.isEmpty else {
            throw description.needsServer
                ? EngineError.serverMissing(provider)
                : EngineError.notSupported(
                    "\(info.name) has only one server; log in without a server name.")
        }
        let takesKey = description.keyField != nil
        guard takesKey == (options.password != nil) else {
            throw takesKey
                ? EngineError.invalidArgument(
                    "\(info.name) requires a key; create one there and pass it as the password.")
                : EngineError.notSupported("\(info.name) uses no password; log in without one.")
        }
        let username = options.username ?? options.account?.identity.username ?? ""
        let login = add(provider, for: options.account, server: server, client: options.client)
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
                throw EngineError.loginFailed("\(info.name) does not accept the key.")
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
            let token = OAuthToken.issued(
                try await issueToken(to: named, provider, password, description, settings),
                now: ports.now())
            return try await finish(login, provider, with: token, at: named.server) {
                try await provider.identify(
                    named, ports.session(token.accessToken, description, settings))
            }
        }
    }

    /// Requests a token for a user. The request carries no credentials of another account.
    private func issueToken(
        to named: AccountIdentity, _ provider: any TokenLogin, _ password: Secret,
        _ description: KeyDescription, _ settings: ProviderSettings
    ) async throws -> Secret {
        let token = try await provider.requestToken(
            named, password: password, ports.anonymousSession(description, settings))
        guard token.isCode else {
            throw ProviderError.failed("\(provider.info.name) sent an invalid token.")
        }
        return token
    }
}
