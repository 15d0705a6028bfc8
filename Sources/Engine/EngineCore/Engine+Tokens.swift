internal import EngineModel
internal import OAuth
internal import ProviderKit
internal import Services
internal import System
internal import Translation

/// Token endpoints, and the revocation of tokens that are no longer used.
extension Engine {
    /// Returns the endpoint at which a token is renewed and revoked, with the client that the token was issued to.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - provider: The provider, which may be unusable.
    ///   - settings: The settings of the provider.
    /// - Returns: The endpoint.
    /// - Throws: ``ProviderError``; ``OAuthError/noRefreshToken`` for a token without a client.
    func tokenEndpoint(
        for token: OAuthToken, _ provider: any Provider, _ settings: ProviderSettings
    ) async throws -> TokenEndpoint {
        guard var client = token.client else { throw OAuthError.noRefreshToken }
        guard let provider = provider.loginMethod.oauth else {
            return TokenEndpoint(client, ports.http)
        }
        if client.id == settings["ClientId"],
            // The user may have renewed the client secret since then.
            let configured = try? await tokenEndpoint(provider, settings)
        {
            return configured
        }
        client.description = try provider.oauth(settings)
        return TokenEndpoint(client, ports.http)
    }

    /// Returns the token endpoint of a provider. Reads the client secret.
    ///
    /// - Throws: ``EngineError/notConfigured(_:)``, ``SecretStoreError``, ``ProviderError``.
    func tokenEndpoint(
        _ provider: any OAuthLogin, _ settings: ProviderSettings
    ) async throws -> TokenEndpoint {
        guard let clientID = settings["ClientId"],
            let secret = try await ports.secrets.lookUp(.provider(provider.info.id))
        else { throw Self.notConfigured(provider, settings) }
        let client = RegisteredClient(
            description: try provider.oauth(settings), id: clientID, secret: secret)
        return TokenEndpoint(client, ports.http)
    }

    /// Returns the error for a provider whose client ID or client secret is missing.
    static func notConfigured(
        _ provider: any OAuthLogin, _ settings: ProviderSettings
    ) -> EngineError {
        let info = provider.info
        return .notConfigured(
            settings["ClientId"] == nil
                ? Message(
                    "{provider} is not configured; set ClientId in section [Provider {section}] of imagefeed.conf, and the client secret.",
                    ["provider": info.name, "section": info.id])
                : Message(
                    "The client secret of {provider} is missing; set it, too.",
                    ["provider": info.name]))
    }

    /// Revokes a token in the background, unless an account has it.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - provider: The provider that issued it. Does nothing for a key, which the user created.
    ///   - server: The server; empty for a service that is not federated.
    ///   - user: The user of the token; nil if unknown.
    ///   - endpoint: The token endpoint, if it is known already.
    func revoke(
        _ token: OAuthToken, of provider: any Provider, at server: String,
        user: AccountIdentity? = nil, with endpoint: TokenEndpoint? = nil
    ) {
        let method = provider.loginMethod
        guard token.isIssued || token.client != nil else { return }
        let settings = ports.settings(provider.info.id)
        let owner = user.flatMap { accounts.account($0, of: provider) }
        let account = token.isIssued ? owner : nil
        account?.hasUnrevokedToken = true
        revocations.revoke(token, of: owner?.id) { [weak self] in
            // An account may have received the token since the last attempt.
            guard let self, await !isInUse(token, of: provider, user), !Task.isCancelled
            else { return }
            if token.isIssued {
                do {
                    try await revokeIssued(token, method, at: server, settings)
                } catch {
                    // A removal waits for this attempt, and a change of the account for the removal.
                    Task { await store(token, forRevocationOf: account) }
                    throw error
                }
                return await deleteRevocation(of: account)
            }
            let endpoint =
                if let endpoint { endpoint } else {
                    try await tokenEndpoint(for: token, provider, settings)
                }
            try await endpoint.revoke(token)
        }
    }

    /// Stores a password that could not be revoked: it would be valid for ever if the daemon ended now.
    private func store(_ token: OAuthToken, forRevocationOf account: Account?) async {
        guard let account else { return }
        // The first attempt may fail before the logout has ended.
        let isKept = await accounts.changes.run {
            !account.isLoggedIn && account.hasUnrevokedToken && accounts[account.id] === account
        }
        guard isKept, storedRevocations.insert(account.id).inserted else { return }
        // Best effort: without a keyring, the revocation is repeated while the daemon runs.
        try? await ports.secrets.store(
            token.encoded, for: .revocation(account.id.text),
            label: account.provider.secretLabel(for: account.identity))
    }

    func deleteRevocation(of account: Account?) async {
        guard let account else { return }
        account.hasUnrevokedToken = false
        guard storedRevocations.remove(account.id) != nil else { return }
        try? await ports.secrets.delete(.revocation(account.id.text))
    }

    /// Repeats the revocations of passwords that failed before the daemon was started.
    func resumeRevocations() {
        for account in accounts.all where !account.isLoggedIn && !account.hasUnrevokedToken {
            switch account.provider.loginMethod {
            case .polling, .key: break
            case .none, .oauth, .federated: continue
            }
            Task {
                let key = SecretKey.revocation(account.id.text)
                guard let stored = try? await ports.secrets.lookUp(key),
                    let token = OAuthToken(encoded: stored), !account.isLoggedIn
                else { return }
                storedRevocations.insert(account.id)
                revoke(
                    token, of: account.provider, at: account.identity.server,
                    user: account.identity)
            }
        }
    }

    /// Revokes a token or a password that a service issued for a login without OAuth.
    private func revokeIssued(
        _ token: OAuthToken, _ method: LoginMethod, at server: String, _ settings: ProviderSettings
    ) async throws {
        let access = try method.access(settings, server: server)
        let session = ports.session(token, access, settings)
        switch method {
        case .key(let login):
            try await login.tokenLogin?.revokeToken(
                AccountIdentity(username: "", server: server), session)
        case .polling(let login):
            let description = try await login.describeLogin(
                server, ports.anonymousSession(access, settings))
            guard let request = description.revocation else { return }
            let response = try await session.http.send(request)
            // The status 401 means that the password is revoked already.
            guard response.isSuccess || response.status == 401 else {
                throw ProviderError.failed(
                    Message(
                        "{server} answered the revocation with status {status}.",
                        ["server": server, "status": "\(response.status)"]))
            }
        // The provider has another login since then.
        case .none, .oauth, .federated: break
        }
    }

    /// Returns true if an account has this token, or may have it: some services issue the same token to each login,
    /// and its revocation would log that account out.
    private func isInUse(
        _ token: OAuthToken, of provider: any Provider, _ user: AccountIdentity?
    ) async -> Bool {
        for account in accounts.all
        where account.provider.info.id == provider.info.id
            && user?.isSameUser(as: account.identity) != false
        {
            if await account.credentials?.mayHold(token) == true { return true }
        }
        return false
    }

    /// Returns the token of an account that a login is about to replace, or a token that remained in the secret store;
    /// nil if there is none.
    func storedToken(of account: Account?, _ id: AccountID) async -> OAuthToken? {
        // A cancelled login must also be able to restore or revoke the token.
        if let credentials = account?.credentials {
            return await Task { try? await credentials.load() }.value
        }
        let stored = try? await ports.secrets.lookUp(.account(id.text))
        return stored.flatMap { OAuthToken(encoded: $0) }
    }
}

/// The hosts and programs that receive the token of an account.
extension Engine {
    /// Returns the reason why a provider may not use the stored token of an account; nil if it may.
    ///
    /// Another version of a provider may send the token to other hosts, or pass it to another program. The user agrees
    /// to that with a new login.
    func recipientsProblem(of account: Account) -> Message? {
        guard let provider = account.provider.installed,
            !provider.tokenRecipients.isSubset(of: tokenRecipients[account.id] ?? [])
        else { return nil }
        let isKey = if case .key = provider.loginMethod { true } else { false }
        let name = provider.info.name
        return isKey
            ? Message(
                "The provider {provider} was changed and would pass the key to other hosts or another program; log in again.",
                ["provider": name])
            : Message(
                "The provider {provider} was changed and would pass the token to other hosts or another program; log in again.",
                ["provider": name])
    }

    /// Stores the recipients to which the user agreed with a login.
    func storeTokenRecipients(of provider: any Provider, for id: AccountID) async throws {
        guard let provider = provider.installed else { return }
        let recipients = provider.tokenRecipients
        guard tokenRecipients[id] != recipients else { return }
        try await store.saveTokenRecipients(recipients, of: id)
        tokenRecipients[id] = recipients
    }
}
