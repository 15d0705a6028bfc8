internal import EngineModel
internal import OAuth
internal import ProviderKit
internal import Quoting
internal import Services
internal import System
internal import Translation

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
            let replaced =
                token == nil || isRefused ? nil : await engine.storedToken(of: known, id)
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
