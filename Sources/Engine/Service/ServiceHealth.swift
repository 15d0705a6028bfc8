internal import ProviderKit

/// How a service has been answering lately, and when it may be asked again.
///
/// A value that decides: the clock, the timers and the requests are its owner's.
nonisolated struct ServiceHealth {
    /// How many failures in a row make an account `failed`.
    static let failureLimit = 3
    /// The pauses between tries while the service cannot be reached: the first, and the longest.
    static let pauses: ClosedRange<Duration> = .seconds(5) ... .seconds(900)
    /// How long a service is left alone that does not say how long it wants to be.
    static let defaultRateLimitPause = Duration.seconds(900)
    /// How long a service is left alone at most; what lies further off was a mistake, or the clock was set.
    static let longestRateLimitPause = Duration.seconds(86_400)

    /// What stands in the way of asking.
    enum Trouble: Hashable {
        case offline(reason: String)
        case failing(reason: String)
        case rateLimited(until: Timestamp)
    }

    private var unreachable: String?
    private var failures: (count: Int, reason: String)?
    private var rateLimitedUntil: Timestamp?
    /// How often it was tried to get through again, the failure at the beginning included.
    private var tries = 0

    /// What an answer, or the lack of one, says about the service.
    enum Verdict: Hashable {
        case fine
        case unreachable(String)
        case failed(String)
        case rateLimited(until: Timestamp?)
        /// Nothing: the request never got there, or was taken back.
        case none

        init(_ error: any Error) {
            self =
                switch error {
                case HTTPError.unreachable: .unreachable("\(error)")
                case HTTPError.cannotWrite: .none
                case let error as HTTPError: .failed("\(error)")
                case ProviderError.failed(let reason): .failed(reason)
                case ProviderError.rateLimited(let until): .rateLimited(until: until)
                case ProviderError.unauthorized, is EngineError, is CancellationError: .none
                // A refusal is an answer, too.
                case is ProviderError: .fine
                default: .none
                }
        }
    }

    /// Takes note of how a request went.
    mutating func note(_ verdict: Verdict, now: Timestamp) {
        switch verdict {
        case .fine:
            unreachable = nil
            failures = nil
            tries = 0
        case .unreachable(let reason):
            unreachable = reason
            tries = max(tries, 1)
        case .failed(let reason):
            unreachable = nil
            failures = ((failures?.count ?? 0) + 1, reason)
            tries = max(tries, 1)
        case .rateLimited(let until):
            unreachable = nil
            rateLimitedUntil = min(
                max(until ?? now + Self.defaultRateLimitPause, now + .seconds(1)),
                now + Self.longestRateLimitPause)
        case .none: break
        }
    }

    /// Takes note of a try by itself: if it fails, too, the next one is further away. What callers ask for
    /// meanwhile does not count.
    mutating func noteTry() {
        if tries > 0 { tries += 1 }
    }

    /// Takes note that the pause a rate limit asked for is over, by a clock that nobody sets.
    mutating func rateLimitEnded() { rateLimitedUntil = nil }

    /// What keeps the service from being of use at the moment; nil if nothing does.
    func trouble(now: Timestamp) -> Trouble? {
        if let rateLimitedUntil, now < rateLimitedUntil,
            rateLimitedUntil <= now + Self.longestRateLimitPause
        {
            return .rateLimited(until: rateLimitedUntil)
        }
        if let unreachable { return .offline(reason: unreachable) }
        if let failures, failures.count >= Self.failureLimit {
            return .failing(reason: failures.reason)
        }
        return nil
    }

    /// How long to wait before the next try by itself, after the last one failed.
    ///
    /// Doubles with each try, and differs by a fifth, so that not everybody comes back at once.
    ///
    /// - Parameters:
    ///   - count: How often something else has failed in a row, if that is more often.
    ///   - jitter: 0 to 1.
    /// - Returns: 5 seconds to 15 minutes, and a fifth more or less.
    func pause(afterAtLeast count: Int = 0, jitter: Double) -> Duration {
        let doublings = min(max(tries - 1, count - 1, 0), 16)
        let pause = min(Self.pauses.lowerBound * (1 << doublings), Self.pauses.upperBound)
        return pause * (0.8 + 0.4 * jitter)
    }

    /// Whether a try by itself makes sense: the last one found nobody, or trouble.
    var wantsRetry: Bool { tries > 0 }
}
