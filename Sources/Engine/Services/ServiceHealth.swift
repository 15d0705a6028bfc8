internal import EngineModel
internal import ProviderKit
internal import System
internal import Translation

/// The recent results of requests to a service, and the time of the next retry.
///
/// This type only decides; its owner has the clock, the timers and the requests.
nonisolated struct ServiceHealth {
    /// The number of consecutive failures after which an account is `failed`.
    static let failureLimit = 3
    /// The pause after a rate limit without a time.
    static let defaultRateLimitPause = Duration.seconds(900)
    /// The longest pause after a rate limit. A later time is an error, or the clock was set.
    static let longestRateLimitPause = Duration.seconds(86_400)

    private var unreachable: Message?
    private var failures: (count: Int, reason: Message)?
    private var rateLimitedUntil: Timestamp?
    /// True if likes could not be sent.
    private var hasWaitingLikes = false
    /// The pauses between retries. Requests of callers count once, retries count each.
    private var backoff = Backoff(first: .seconds(5), factor: 2, longest: .seconds(900))

    /// The part of the result of a request that concerns the service.
    enum Verdict: Hashable {
        case available
        case unreachable(Message)
        case failed(Message)
        case rateLimited(until: Timestamp?)
        /// No result: the request was not sent, or was cancelled.
        case none

        init(_ error: any Error) {
            self =
                switch error {
                case HTTPError.unreachable: .unreachable(Message(error))
                case HTTPError.cannotWrite: .none
                case let error as HTTPError: .failed(error.message)
                case ProviderError.failed(let reason): .failed(reason)
                case ProviderError.rateLimited(let until): .rateLimited(until: until)
                case ProviderError.unauthorized, is EngineError, is CancellationError: .none
                // A refusal is a response.
                case is ProviderError: .available
                default: .none
                }
        }
    }

    /// Records the result of a request.
    mutating func record(_ verdict: Verdict, now: Timestamp) {
        switch verdict {
        case .available:
            unreachable = nil
            failures = nil
        case .unreachable(let reason): unreachable = reason
        case .failed(let reason):
            unreachable = nil
            failures = ((failures?.count ?? 0) + 1, reason)
        case .rateLimited(let until):
            unreachable = nil
            rateLimitedUntil = min(
                max(until ?? now + Self.defaultRateLimitPause, now + .seconds(1)),
                now + Self.longestRateLimitPause)
        case .none: break
        }
        updateBackoff()
    }

    /// Records if likes could not be sent. Other requests may succeed meanwhile.
    mutating func setWaitingLikes(_ hasWaitingLikes: Bool) {
        self.hasWaitingLikes = hasWaitingLikes
        updateBackoff()
    }

    private mutating func updateBackoff() {
        if !wantsRetry {
            backoff.recordSuccess()
        } else if backoff.failures == 0 {
            backoff.recordFailure()
        }
    }

    /// Records a retry, which makes the next pause longer. Requests of callers do not count.
    mutating func recordRetry() {
        if wantsRetry { backoff.recordFailure() }
    }

    /// Records that the pause of a rate limit ended, by a monotonic clock.
    mutating func rateLimitEnded() { rateLimitedUntil = nil }

    /// Returns the reason why the service is not available; nil if it is.
    ///
    /// - Parameter now: The current time.
    /// - Returns: The state of its accounts.
    func problem(now: Timestamp) -> AccountState? {
        if let rateLimitedUntil, now < rateLimitedUntil,
            rateLimitedUntil <= now + Self.longestRateLimitPause
        {
            return .rateLimited(until: rateLimitedUntil)
        }
        if let unreachable { return .offline(reason: unreachable) }
        if let failures, failures.count >= Self.failureLimit {
            return .failed(reason: failures.reason, remedy: .retry)
        }
        return nil
    }

    /// Returns the pause before the next retry: 5 seconds to 15 minutes, plus or minus a fifth. It doubles with each retry.
    ///
    /// - Parameter jitter: A random number from 0 to 1.
    /// - Returns: The pause.
    func pause(jitter: Double) -> Duration { backoff.pause(jitter: jitter) }

    /// True if the last request failed.
    var hasFailed: Bool { unreachable != nil || failures != nil }
    /// True if a retry is necessary, because the last request failed, or likes could not be sent.
    var wantsRetry: Bool { hasFailed || hasWaitingLikes }
}
