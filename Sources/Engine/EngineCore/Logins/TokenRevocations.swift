internal import EngineModel
internal import Logging
internal import OAuth
internal import ProviderKit
internal import System

/// The revocations of tokens, which run in the background.
///
/// A revocation that fails for a temporary reason is repeated while the daemon runs. The tokens are in memory, because a
/// logout deletes them from the secret store; only passwords are stored there again, see ``Engine/resumeRevocations()``.
final class TokenRevocations {
    /// The number of attempts. The delays between them are a minute, then six times as long each time.
    nonisolated static let attempts = 6
    /// The largest number of revocations that are not finished. Beyond it, the oldest is dropped.
    nonisolated static let maximumCount = 64
    /// The time for which a removal waits for the first attempts.
    nonisolated static let removalLimit = Duration.seconds(5)

    private final class Revocation {
        let token: OAuthToken
        /// The account that had the token; nil if it is unknown.
        let account: AccountID?
        let send: () async throws -> Void
        /// The result of the first attempt: true if another one follows.
        let firstAttempt = OneShotResult<Bool, Never>()
        /// All attempts, and the delays between them.
        var attempts: Task<Void, Never>?
        /// Waits for the next attempt.
        var delay: Task<Void, Never>?

        init(
            _ token: OAuthToken, of account: AccountID?, _ send: @escaping () async throws -> Void
        ) {
            self.token = token
            self.account = account
            self.send = send
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
    ///   - account: The account that had the token; nil if it is unknown.
    ///   - send: Sends the revocation, once for each attempt.
    func revoke(
        _ token: OAuthToken, of account: AccountID?, by send: @escaping () async throws -> Void
    ) {
        let revocation = Revocation(token, of: account, send)
        pending.append(revocation)
        if pending.count > Self.maximumCount, let oldest = pending.first { remove(oldest) }
        revocation.attempts = Task { [weak self, clock, logger] in
            var backoff = Backoff(first: .seconds(60), factor: 6, longest: .seconds(86_400))
            while await Self.mayRepeat(revocation, logger), !Task.isCancelled {
                backoff.recordFailure()
                guard backoff.failures < Self.attempts else { break }
                let delay = clock.after(backoff.pause) {}
                revocation.delay = delay
                await delay.value
                guard !Task.isCancelled else { return }
            }
            self?.remove(revocation)
        }
    }

    /// Waits for the first attempts to revoke the tokens of an account, within a time limit.
    ///
    /// - Returns: True if a token could not be revoked so far.
    func areDue(of account: AccountID) async -> Bool {
        let attempts = pending.filter { $0.account == account }.map(\.firstAttempt)
        guard !attempts.isEmpty else { return false }
        let areDue = try? await withTimeLimit(Self.removalLimit, clock) {
            for attempt in attempts where await attempt.value() { return true }
            return false
        } onTimeout: {
            true
        }
        return areDue ?? true
    }

    /// Attempts all revocations that wait: the network or the keyring is available again.
    func retryNow() {
        for revocation in pending { revocation.delay?.cancel() }
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

    private func remove(_ revocation: Revocation) {
        pending.removeAll { $0 === revocation }
        revocation.attempts?.cancel()
        revocation.delay?.cancel()
        revocation.firstAttempt.complete(.success(false))
    }

    /// Sends the revocation.
    ///
    /// - Returns: True if that failed, and another attempt may succeed.
    private static func mayRepeat(_ revocation: Revocation, _ logger: Logger) async -> Bool {
        do {
            try await revocation.send()
            return false
        } catch {
            logger.notice("A token cannot be revoked", metadata: ["error": "\(error)"])
            let mayRepeat = isTemporary(error)
            revocation.firstAttempt.complete(.success(mayRepeat))
            return mayRepeat
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
