internal import EngineModel
internal import OAuth
internal import ProviderKit
internal import Quoting
internal import Services
internal import System
internal import Translation

/// The list of unfinished logins, and of finished logins that are retained for late callers.
package final class LoginList {
    /// The logins in the order of their start.
    package var all: [Login] { logins.all }
    private lazy var logins = RetainedList<Login>(ports.clock) { [unowned engine] login in
        engine.emit(.loginRemoved(login))
    }
    /// The listeners for the redirects of browsers, which logins share.
    let redirects: RedirectListeners
    /// The exchanges of codes for tokens, by the number of the login. They continue after the end of a login, so
    /// that its token can be revoked.
    let exchanges = SingleFlight<Int, OAuthToken>()
    /// The polls for the credentials of logins, by the number of the login. They also continue after the login.
    let polls = SingleFlight<Int, PolledLogin.Poll>()
    /// The checks of client secrets, by the ID of the provider.
    let secretChecks = SingleFlight<String, Bool>()
    /// The time limit of a check of the client secret, for which `Login` waits.
    static let secretCheckTime = Duration.seconds(1)
    let registrations: ClientRegistrations
    unowned let engine: Engine
    var ports: EnginePorts { engine.ports }

    init(_ engine: Engine) {
        self.engine = engine
        redirects = RedirectListeners(clock: engine.ports.clock)
        registrations = ClientRegistrations(engine)
    }

    /// Starts a login.
    ///
    /// - Parameters:
    ///   - id: The ID of the provider.
    ///   - options: The options of the caller.
    /// - Returns: The login, which runs in the background.
    /// - Throws: ``EngineError/notFound(_:)``, ``EngineError/notConfigured(_:)``,
    ///   ``EngineError/notSupported(_:)``, ``EngineError/invalidArgument(_:)``,
    ///   ``EngineError/tooManyLogins``. ``Login/wait()`` throws all other errors.
    package func start(_ id: String, _ options: LoginOptions) throws -> Login {
        guard let provider = engine.provider(id) else {
            throw EngineError.notFound("There is no provider \(id.quoted).")
        }
        if let account = options.account, account.provider.info.id != id {
            throw EngineError.invalidArgument("The account \(account.id) does not belong to \(id).")
        }
        guard logins.hasRoom(for: options.client) else { throw EngineError.tooManyLogins }
        switch provider.loginMethod {
        case .none where options.server != nil, .oauth where options.server != nil:
            throw EngineError.singleServer(provider)
        case .oauth(let provider): return try start(provider, options)
        case .federated(let provider): return try start(provider, options)
        case .key(let provider): return try start(provider, options)
        case .polling(let provider): return try start(provider, options)
        case .none:
            if let folder = provider.folder { return try start(folder, options) }
            let name = provider.info.name
            throw EngineError.notSupported(
                provider.installed.map {
                    Message(
                        "{provider} cannot be used: {reason}",
                        messages: [
                            "provider": Message(verbatim: name), "reason": $0.condition.reason,
                        ])
                } ?? Message("{provider} has no login.", ["provider": name]))
        }
    }

    // MARK: The list

    /// Adds a login.
    ///
    /// - Parameters:
    ///   - provider: The provider.
    ///   - options: The options of the caller.
    ///   - authorization: The authorization request, for a login in the browser.
    ///   - server: The server; empty for a service that is not federated.
    ///   - isPreparing: True if the authorization request is set later.
    /// - Returns: The login.
    func add(
        _ provider: any Provider, _ options: LoginOptions, _ authorization: Authorization? = nil,
        server: String = "", isPreparing: Bool = false
    ) -> Login {
        let login = logins.add { number in
            Login(
                number: number, provider, options, at: server, authorization,
                isPreparing: isPreparing, in: engine)
        }
        engine.updateSecretsConnection()
        engine.emit(.loginAdded(login))
        engine.loginBegan(login)
        return login
    }

    /// Limits the number of finished logins.
    func finish(_ login: Login) {
        logins.finish(login)
        engine.updateSecretsConnection()
    }

    // MARK: Login with a user name

    private func start(_ provider: any FolderProvider, _ options: LoginOptions) throws -> Login {
        let username = options.username ?? options.account?.identity.username ?? ""
        try provider.check(username: username)
        let login = add(provider, options)
        login.begin { [self] in
            let password = try await options.password?()
            let identity = try await provider.logIn(
                username: username, password: password, registers: options.registers)
            do {
                try login.proceed()
                try login.check(identity)
                return try await completeLogin(
                    identity, provider, registers: options.registers
                ) { !login.hasEnded }
            } catch {
                if options.registers {
                    // This is a separate task, because the present one may be cancelled. If the user cannot be removed,
                    // the error of the login is thrown anyway.
                    _ = await Task { try await provider.removeUser(identity) }.result
                }
                throw error
            }
        }
        return login
    }

    // MARK: Servers

    /// Returns the address of a server with `https` if the server redirects there from `http`.
    ///
    /// Call this before a login sends a secret to an address that the user entered with `http`.
    ///
    /// - Parameters:
    ///   - server: The server.
    ///   - login: The login. The server of a known account does not change.
    /// - Returns: The server to log in to.
    /// - Throws: ``HTTPError/unreachable(_:)``, `CancellationError`. The login reports other errors of the server.
    func secured(_ server: String, for login: Login) async throws -> String {
        guard login.expectedAccount == nil,
            let address = try? ServerAddress(server, keepsPath: true),
            address.origin.hasPrefix("http://")
        else { return server }
        var request = HTTPRequest(.get, address.base + "/")
        request.allowedHosts = AllowedHosts(patterns: [], origins: [address.origin])
        do {
            let secure = try await ports.http.send(request).secureOrigin
            return secure.map { $0 + address.path } ?? server
        } catch HTTPError.unreachable(let reason) {
            throw HTTPError.unreachable(reason)
        } catch is HTTPError {
            return server
        }
    }

    // MARK: Secrets

    /// Unlocks secrets, and the keyring for new ones, because of an action of the user. May prompt.
    func unlockSecrets(_ keys: [SecretKey]) async throws {
        try await ports.secrets.unlock(keys, isForStoring: true)
        // Other accounts may wait for the same keyring.
        engine.retryNow()
    }

    /// Unlocks the token that a login replaces. Call it outside of the queue of changes, which must not wait for
    /// prompts.
    func unlockToken(
        of identity: AccountIdentity, _ provider: any Provider, _ expected: Account?
    ) async throws {
        let id =
            expected?.id ?? engine.accounts.account(identity, of: provider)?.id
            ?? AccountID(provider: provider.info.id, identity) { engine.accounts[$0] != nil }
        try await ports.secrets.unlock([.account(id.text)], isForStoring: true)
    }
}

/// The completion of a login.
extension LoginList {
    /// Identifies the user of a login, and creates the account. After a failure, a token that the service issued is
    /// revoked.
    ///
    /// - Parameters:
    ///   - login: The login.
    ///   - token: The new token or the key; nil for a login without credentials.
    ///   - user: The user name and the server, as far as they are known.
    ///   - access: The description of the requests that carry the token.
    ///   - endpoint: The endpoint that issued the token; nil for a token without OAuth.
    /// - Returns: The account.
    /// - Throws: The errors of ``completeLogin(_:_:as:with:registers:while:)``, and those of the request for the user.
    func finish(
        _ login: Login, with token: OAuthToken?, as user: AccountIdentity,
        _ access: KeyDescription, from endpoint: TokenEndpoint? = nil
    ) async throws -> Account {
        let provider = login.provider
        do {
            try login.proceed()
            let identity =
                try await provider.loginMethod.identify(
                    user, ports.session(token, access, login.settings)) ?? user
            try login.check(identity)
            if token != nil {
                try await unlockToken(of: identity, provider, login.expectedAccount)
            }
            return try await completeLogin(
                identity, provider, as: login.expectedAccount, with: token
            ) { !login.hasEnded }
        } catch {
            if let token { engine.revoke(token, of: provider, at: user.server, with: endpoint) }
            throw error
        }
    }

    /// Creates the account of a user after a login, or logs a known account in again.
    ///
    /// - Parameters:
    ///   - identity: The identity of the user.
    ///   - provider: The provider of the login.
    ///   - expected: The known account that is logged in again; nil to find it by the identity.
    ///   - token: The token to store in the secret store; nil if there is none.
    ///   - registers: True if the provider of a folder has registered the user for this login.
    ///   - isWanted: Called when everything is stored. Returns false if the login was cancelled: then all changes are
    ///     undone.
    /// - Returns: The account, which is logged in.
    /// - Throws: ``EngineError/alreadyLoggedIn(_:)`` for a user of a folder; `CancellationError` if the login was
    ///   cancelled; the errors of the stores.
    func completeLogin(
        _ identity: AccountIdentity, _ provider: any Provider, as expected: Account? = nil,
        with token: OAuthToken? = nil, registers: Bool = false, while isWanted: () -> Bool
    ) async throws -> Account {
        let accounts = engine.accounts
        return try await accounts.changes.run {
            // A removal may have deleted the user since the password was checked.
            try await provider.folder?.checkUser(identity)
            let known =
                accounts.all.first { $0 === expected } ?? accounts.account(identity, of: provider)
            let id =
                known?.id
                ?? AccountID(provider: provider.info.id, identity) { accounts[$0] != nil }
            let wasLoggedIn = known?.isLoggedIn == true
            // A registration succeeds although the account exists if the provider lost the user. That is no error.
            if wasLoggedIn, !registers, provider.folder != nil {
                throw EngineError.alreadyLoggedIn(
                    Message("{user} is already logged in.", ["user": identity.username.excerpt]))
            }
            let isRefused = known?.credentials?.isRefused == true
            let replaced = token == nil || isRefused ? nil : await engine.storedToken(of: known, id)
            // The secret is stored before the account, so that no account lacks its token.
            if let token {
                try await storeToken(token, of: id, identity, provider)
                engine.notifications.resolve(.tokenRemains, about: .account(id))
            }
            do {
                let account: Account
                if let known {
                    try await accounts.change(known, while: isWanted) {
                        $0.update(identity)
                        $0.isLoggedIn = true
                    }
                    guard isWanted() || wasLoggedIn else { throw CancellationError() }
                    if let token { known.service?.adopt(token) }
                    known.service?.checkLikesAgain()
                    account = known
                } else {
                    account = try await accounts.add(id, identity, provider, token, while: isWanted)
                }
                if let replaced {
                    engine.revoke(replaced, of: provider, at: identity.server, user: identity)
                }
                engine.revocations.retryNow()
                return account
            } catch {
                // The caller revokes the new token.
                if let replaced, wasLoggedIn {
                    try? await storeToken(replaced, of: id, identity, provider)
                } else if token != nil {
                    try? await ports.secrets.delete(.account(id.text))
                }
                throw error
            }
        }
    }

    private func storeToken(
        _ token: OAuthToken, of id: AccountID, _ identity: AccountIdentity,
        _ provider: any Provider
    ) async throws {
        try await ports.secrets.store(
            token.encoded, for: .account(id.text), label: provider.secretLabel(for: identity))
        try await engine.storeTokenRecipients(of: provider, for: id)
    }
}
