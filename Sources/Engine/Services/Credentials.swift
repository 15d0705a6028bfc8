package import EngineModel
package import OAuth
package import ProviderKit
internal import Quoting
internal import System
package import Translation

/// The token of an account.
///
/// It is read from the secret store at its first use, and renewed before it expires or if it is refused. One renewal
/// runs at a time.
@MainActor
package final class Credentials: AccessTokens {
    /// The state of the account, `locked` or `needsLogin`, while its token cannot be used; nil if it can be.
    private(set) var problem: AccountState? {
        didSet { if problem != oldValue { onChange() } }
    }

    private let key: SecretKey
    /// True if the account has a token. Otherwise the secret store is not used.
    private let isNeeded: Bool
    /// The key of the secret of the client of the tokens; nil if there is no client.
    private let clientKey: SecretKey?
    /// The text that a keyring manager shows for the token. Used when a token is stored.
    package var label: String
    private let secrets: any SecretStore
    private let endpoint: (OAuthToken) async throws -> TokenEndpoint
    private let revoke: (OAuthToken, TokenEndpoint?) -> Void
    private let now: () -> Timestamp
    /// Called when ``problem`` changed.
    var onChange: () -> Void = {}
    private var token: OAuthToken?
    private let loads = SingleFlight<SecretKey, OAuthToken>()
    private let renewals = SingleFlight<SecretKey, OAuthToken>()
    /// A renewed token that could not be stored. The stored one is no longer valid.
    private var unsaved: OAuthToken?
    /// The reason why the stored token must not be used; nil if it may.
    private var loginReason: Message?
    /// True after a logout: no token is stored from then on.
    private var isDiscarded = false

    /// - Parameters:
    ///   - account: The account.
    ///   - label: The text that a keyring manager shows for the token.
    ///   - secrets: The store of the token.
    ///   - clientKey: The key of the secret of the client of the tokens; nil if there is no client.
    ///   - isNeeded: True if the account has a token.
    ///   - now: Returns the current time.
    ///   - revoke: Revokes a token in the background. The endpoint is nil if it is not known yet.
    ///   - endpoint: Returns the endpoint at which a token is renewed. Called only when the endpoint is needed, because
    ///     it may read the client's secret.
    package init(
        _ account: AccountID, label: String, _ secrets: any SecretStore,
        clientKey: SecretKey? = nil, isNeeded: Bool = true, now: @escaping () -> Timestamp,
        revoke: @escaping (OAuthToken, TokenEndpoint?) -> Void = { _, _ in },
        endpoint: @escaping (OAuthToken) async throws -> TokenEndpoint
    ) {
        key = .account(account.text)
        self.label = label
        self.isNeeded = isNeeded
        self.clientKey = clientKey
        self.secrets = secrets
        self.now = now
        self.revoke = revoke
        self.endpoint = endpoint
    }

    // MARK: Reading

    /// Unlocks the token, and the secrets for its renewal, because of an action of the user, then reads the token. May
    /// prompt.
    ///
    /// - Throws: ``SecretStoreError``; the error of ``load()``.
    package func unlock() async throws {
        guard isNeeded else { return }
        if let token, unsaved == nil, !token.needsRefresh(now: now()) { return }
        do {
            try await secrets.unlock(
                [token == nil ? key : nil, clientKey].compactMap(\.self),
                isForStoring: unsaved != nil)
        } catch let error as SecretStoreError {
            guard token == nil else { return }
            problem = .locked(reason: error.message, remedy: error.remedy)
            throw error
        }
        await storeUnsavedToken()
        try await load()
    }

    /// Reads the token unless it is in memory. Never prompts.
    @discardableResult
    package func load() async throws -> OAuthToken {
        if let token { return token }
        guard isNeeded else { return .none(now: now()) }
        guard !isDiscarded else { throw ProviderError.unauthorized }
        return try await loads.run(key) { [self] in try await read() }
    }

    /// Prevents all use of the stored token until ``adopt(_:)``. Must be called before the first use.
    package func requireLogin(_ reason: Message) { loginReason = reason }

    private func read() async throws -> OAuthToken {
        if let loginReason {
            problem = .needsLogin(reason: loginReason)
            throw ProviderError.unauthorized
        }
        do {
            let stored = try await secrets.lookUp(key)
            // A login may have stored a newer one in the meantime.
            if let token { return token }
            guard let stored, let token = OAuthToken(encoded: stored) else {
                problem = .needsLogin(
                    reason: Message("The token is not in the keyring; log in again."))
                throw ProviderError.unauthorized
            }
            self.token = token
            problem = nil
            return token
        } catch let error as SecretStoreError {
            if let token { return token }
            problem = .locked(reason: error.message, remedy: error.remedy)
            throw error
        }
    }

    /// True if the service refused the token, which need not be revoked.
    package var isRefused: Bool { if case .needsLogin = problem { token != nil } else { false } }

    /// A token in memory. `isSaved` is true if the secret store has it.
    package typealias HeldToken = (token: OAuthToken, isSaved: Bool)

    /// The token in memory; nil if there is none, and during a logout.
    package var held: HeldToken? {
        isDiscarded ? nil : token.map { (token: $0, isSaved: unsaved == nil) }
    }

    /// Uses the token that a login has stored.
    package func adopt(_ token: OAuthToken) {
        self.token = token
        unsaved = nil
        isDiscarded = false
        loginReason = nil
        problem = nil
    }

    /// Uses the token of the previous session, unless a login is required.
    package func resume(with held: HeldToken) {
        guard loginReason == nil else { return }
        token = held.token
        unsaved = held.isSaved ? nil : held.token
    }

    /// Stores a token that could not be stored before. Never prompts.
    func storeUnsavedToken() async {
        if let unsaved { await save(unsaved) }
    }

    /// Stores a renewed token. If that fails, the token stays in ``unsaved``.
    private func save(_ token: OAuthToken) async {
        // After a failed logout, the token is stored.
        guard !isDiscarded else { return unsaved = token }
        // Only one caller at a time stores the token.
        unsaved = nil
        do {
            try await secrets.store(token.encoded, for: key, label: label)
            guard isDiscarded else { return }
            try? await secrets.delete(key)
        } catch {
            // The token stays in memory, because the service accepts no other one.
        }
        // A login may have replaced the token in the meantime, or a logout removed it.
        if self.token?.accessToken.matches(token.accessToken) == true { unsaved = token }
    }

    // MARK: AccessTokens

    package func validToken() async throws -> OAuthToken {
        await storeUnsavedToken()
        let token = try await load()
        if case .needsLogin = problem { throw ProviderError.unauthorized }
        guard token.needsRefresh(now: now()) else { return token }
        do {
            return try await renewed(token)
        } catch {
            // The old token is still valid.
            let isValid = token.expires.map { now() < $0 } ?? true
            guard isValid, problem == nil else { throw error }
            return token
        }
    }

    package func renew(insteadOf refused: Secret) async throws -> OAuthToken {
        let token = try await load()
        // Another caller renewed the token.
        guard token.accessToken.matches(refused) else { return token }
        return try await renewed(token)
    }

    package func refused(_ refused: Secret) {
        // A login may have replaced it in the meantime.
        guard let token, token.accessToken.matches(refused) else { return }
        problem = .needsLogin(
            reason: Message("The service no longer accepts the login; log in again."))
    }

    // MARK: Renewal

    private func renewed(_ token: OAuthToken) async throws -> OAuthToken {
        try await renewals.run(key) { [self] in try await refresh(token) }
    }

    private func refresh(_ token: OAuthToken) async throws -> OAuthToken {
        do {
            let new = try await endpoint(token).refresh(token)
            if let newer = newer(than: token) {
                // A login replaced the token during the renewal.
                revoke(new, nil)
                return newer
            }
            guard self.token != nil else {
                // The account was logged out during the renewal.
                revoke(new, nil)
                throw ProviderError.unauthorized
            }
            self.token = new
            await save(new)
            return new
        } catch let error as OAuthError {
            if let newer = newer(than: token) { return newer }
            throw refusal(of: token, error)
        }
    }

    /// Returns the token of a login during the renewal of another token; nil if there was none.
    private func newer(than token: OAuthToken) -> OAuthToken? {
        guard let current = self.token, !current.accessToken.matches(token.accessToken) else {
            return nil
        }
        return current
    }

    /// Returns the error for callers if a token cannot be renewed.
    private func refusal(of token: OAuthToken, _ error: OAuthError) -> ProviderError {
        switch error {
        // Services use different error codes for a refused refresh token, for example `invalid_request`. All of
        // them require a new login; temporary errors are `serviceFailed` and `rateLimited`.
        case .noRefreshToken, .invalidGrant, .refused, .denied:
            refused(token.accessToken)
            return .unauthorized
        case .invalidClient:
            // A new login registers the client again after the server deleted the registration.
            if case .server = clientKey {
                refused(token.accessToken)
                return .unauthorized
            }
            return .notConfigured(
                Message(
                    "The service rejected the client ID or the client secret; configure them again."
                ))
        case .rateLimited(let until): return .rateLimited(until: until)
        case .serviceFailed(let reason):
            return .failed(
                Message(
                    "The token could not be renewed: {reason}",
                    messages: ["reason": reason.sentence]))
        case .invalidCode, .portTaken, .cannotListen:
            return .failed(Message("The token could not be renewed; try again later."))
        }
    }

    /// Returns true if the account has this token, or may have it: some services issue the same token to each login.
    package func mayHold(_ token: OAuthToken) async -> Bool {
        guard !isDiscarded else { return false }
        guard let known = try? await load() else {
            // The contents of a locked keyring are not known.
            if case .locked = problem { return true }
            return false
        }
        return known.sharesSecret(with: token)
    }

    // MARK: Logout

    /// Unlocks the secrets that ``discard(_:)`` needs, because of an action of the user. May prompt.
    ///
    /// Denied access is not an error: the token can be deleted without being read.
    package func unlockToDiscard() async throws {
        guard isNeeded else { return }
        do {
            try await secrets.unlock([key, clientKey].compactMap(\.self), isForStoring: false)
        } catch SecretStoreError.denied {
            return
        }
    }

    /// Deletes the token, runs `body`, and revokes the token in the background. The keyring may prompt for a confirmation.
    ///
    /// - Parameter body: Stores that the account is logged out.
    /// - Throws: ``SecretStoreError`` if the token cannot be deleted; the error of `body`. The token is kept then.
    package func discard(_ body: () async throws -> Void) async throws {
        guard isNeeded else { return try await body() }
        _ = try? await load()
        // This is done before the deletion, because the keyring may deny the client secret afterwards.
        let endpoint = await tokenEndpoint()
        // This is done before the deletion, so that a renewal in progress does not store its token afterwards.
        isDiscarded = true
        do {
            try await secrets.delete(key)
            unsaved = token
            try await body()
        } catch {
            isDiscarded = false
            await storeUnsavedToken()
            throw error
        }
        forget(endpoint)
    }

    /// Removes the token from memory without deleting the stored one, and revokes it in the background.
    package func abandon() async {
        isDiscarded = true
        forget(await tokenEndpoint())
    }

    /// Returns the endpoint of the token; nil without a token, and if the client cannot be read.
    private func tokenEndpoint() async -> TokenEndpoint? {
        guard let token else { return nil }
        return try? await endpoint(token)
    }

    /// Removes the token from memory, and revokes it in the background: the service may be slow or not available.
    private func forget(_ endpoint: TokenEndpoint?) {
        // A token that was renewed in the meantime is the one to revoke.
        let token = token
        self.token = nil
        unsaved = nil
        if let token { revoke(token, endpoint) }
    }
}

nonisolated extension Message {
    /// The message as a sentence: the texts of services may have no full stop.
    package var sentence: Message {
        english.sentence == english ? self : Message(verbatim: english.sentence)
    }
}
