internal import Accounts
internal import ProviderKit
internal import Translation

/// The recent results of requests to a service, and the time of the next retry.
///
/// This type only decides; its owner has the clock, the timers and the requests.
nonisolated struct ServiceHealth {
    /// The number of consecutive failures after which an account is `failed`.
    static let failureLimit = 3
    /// The first and the longest pause between retries.
    static let pauses: ClosedRange<Duration> = .seconds(5) ... .seconds(900)
    /// The pause after a rate limit without a time.
    static let defaultRateLimitPause = Duration.seconds(900)
    /// The longest pause after a rate limit. A later time is an error, or the clock was set.
    static let longestRateLimitPause = Duration.seconds(86_400)

    private var unreachable: Message?
    private var failures: (count: Int, reason: Message)?
    private var rateLimitedUntil: Timestamp?
    /// The number of attempts since the last success: the first failure and the retries.
    private var attempts = 0

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
            attempts = 0
        case .unreachable(let reason):
            unreachable = reason
            attempts = max(attempts, 1)
        case .failed(let reason):
            unreachable = nil
            failures = ((failures?.count ?? 0) + 1, reason)
            attempts = max(attempts, 1)
        case .rateLimited(let until):
            unreachable = nil
            rateLimitedUntil = min(
                max(until ?? now + Self.defaultRateLimitPause, now + .seconds(1)),
                now + Self.longestRateLimitPause)
        case .none: break
        }
    }

    /// Records a retry, which makes the next pause longer. Requests of callers do not count.
    mutating func recordRetry() {
        if attempts > 0 { attempts += 1 }
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

    /// Returns the pause before the next retry.
    ///
    /// The pause doubles with each attempt. A random fifth prevents that all accounts retry at the same time.
    ///
    /// - Parameters:
    ///   - count: A minimum for the number of attempts.
    ///   - jitter: A random number from 0 to 1.
    /// - Returns: 5 seconds to 15 minutes, plus or minus a fifth.
    func pause(afterAtLeast count: Int = 0, jitter: Double) -> Duration {
        let doublings = min(max(attempts - 1, count - 1, 0), 16)
        let pause = min(Self.pauses.lowerBound * (1 << doublings), Self.pauses.upperBound)
        return pause * (0.8 + 0.4 * jitter)
    }

    /// True if a retry is necessary, because the last request failed.
    var wantsRetry: Bool { attempts > 0 }
}
