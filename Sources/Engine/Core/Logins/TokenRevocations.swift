internal import Logging
internal import OAuth
internal import ProviderKit
internal import System

/// The revocations of tokens, which run in the background.
///
/// A revocation that fails for a temporary reason is repeated while the daemon runs. The tokens are in memory only,
/// because a logout deletes them from the secret store.
final class TokenRevocations {
    /// The delays before the second and all further attempts.
    nonisolated static let retryDelays: [Duration] = [
        .seconds(60), .seconds(600), .seconds(3600), .seconds(21600), .seconds(86400),
    ]
    /// The largest number of revocations that are not finished. Beyond it, the oldest is dropped.
    nonisolated static let maximumCount = 64

    private final class Revocation {
        let token: OAuthToken
        let send: () async throws -> Void
        let isInUse: () async -> Bool
        var failures = 0
        /// The attempt in progress.
        var attempt: Task<Void, Never>?
        /// Waits for the next attempt.
        var delay: Task<Void, Never>?

        init(
            _ token: OAuthToken, _ send: @escaping () async throws -> Void,
            _ isInUse: @escaping () async -> Bool
        ) {
            self.token = token
            self.send = send
            self.isInUse = isInUse
        }
    }

    private let clock: any Clock<Duration>
    private let logger: Logger
    private var pending: [Revocation] = []

    init(clock: any Clock<Duration>, logger: Logger) {
        self.clock = clock
        self.logger = logger
    }

    /// Starts the revocation of a token.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - send: Sends the revocation, once for each attempt.
    ///   - isInUse: Returns true if an account has the token. Called before each attempt: some services issue the
    ///     same token to each login.
    func revoke(
        _ token: OAuthToken, by send: @escaping () async throws -> Void,
        unless isInUse: @escaping () async -> Bool
    ) {
        let revocation = Revocation(token, send, isInUse)
        pending.append(revocation)
        if pending.count > Self.maximumCount, let oldest = pending.first { remove(oldest) }
        start(revocation)
    }

    /// Attempts all revocations that wait: the network or the keyring is available again.
    func retryNow() {
        for revocation in pending { start(revocation) }
    }

    /// Drops the revocations of a token that a login has received, and of tokens that share a secret with it.
    func cancel(_ token: OAuthToken) {
        for revocation in pending where revocation.token.sharesSecret(with: token) {
            remove(revocation)
        }
    }

    /// Drops all revocations.
    func stop() {
        for revocation in pending { remove(revocation) }
    }

    private func start(_ revocation: Revocation) {
        guard revocation.attempt == nil else { return }
        revocation.delay?.cancel()
        revocation.delay = nil
        revocation.attempt = Task { [weak self] in
            let isFinished = await self?.attempt(revocation) ?? true
            revocation.attempt = nil
            self?.finishAttempt(of: revocation, isFinished: isFinished)
        }
    }

    private func finishAttempt(of revocation: Revocation, isFinished: Bool) {
        guard pending.contains(where: { $0 === revocation }) else { return }
        guard !isFinished, revocation.failures < Self.retryDelays.count else {
            return remove(revocation)
        }
        revocation.delay = clock.after(Self.retryDelays[revocation.failures]) { [weak self] in
            self?.start(revocation)
        }
        revocation.failures += 1
    }

    private func remove(_ revocation: Revocation) {
        pending.removeAll { $0 === revocation }
        revocation.attempt?.cancel()
        revocation.delay?.cancel()
    }

    /// Sends the revocation.
    ///
    /// - Returns: False if another attempt may succeed.
    private func attempt(_ revocation: Revocation) async -> Bool {
        guard await !revocation.isInUse(), !Task.isCancelled else { return true }
        do {
            try await revocation.send()
            return true
        } catch {
            logger.notice("A token cannot be revoked", metadata: ["error": "\(error)"])
            return !Self.isTemporary(error)
        }
    }

    private static func isTemporary(_ error: any Error) -> Bool {
        switch error {
        case HTTPError.unreachable, HTTPError.failed, OAuthError.rateLimited,
            OAuthError.serviceFailed, ProviderError.rateLimited, ProviderError.failed,
            is SecretStoreError:
            true
        default: false
        }
    }
}
