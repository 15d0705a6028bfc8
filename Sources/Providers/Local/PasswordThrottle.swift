internal import ProviderKit
internal import Synchronization

/// A rate limit for password attempts.
///
/// The attempts of each user run one at a time, and each failure delays the next attempt for longer than the one
/// before. Users are never locked out, and no wait is long: if too many attempts are queued, further ones are rejected.
final class PasswordThrottle: Sendable {
    private struct AttemptQueue {
        /// The number of failures since the last success.
        var failures = 0
        var lastFailure = ContinuousClock.now
        /// True if an attempt runs, or the pause after a failure continues.
        var isBusy = false
        /// True during the pause after a failure.
        var isPausing = false
        var waiters: [CheckedContinuation<Void, Never>] = []

        /// The number of running and waiting attempts.
        var count: Int { (isBusy ? 1 : 0) + waiters.count }
    }

    /// The pause after the first failure. It doubles with each further one.
    static let firstPause = Duration.milliseconds(500)
    static let maximumPause = Duration.seconds(8)
    /// The maximum wait of a queued attempt, if all attempts fail. Clients time out after 25 seconds.
    static let maximumWait = Duration.seconds(16)
    /// The time after which failures no longer count.
    private static let failureRetention = Duration.seconds(900)

    private let clock: any Clock<Duration>
    private let queues = Mutex<[String: AttemptQueue]>([:])

    init(clock: any Clock<Duration>) { self.clock = clock }

    /// Runs a password attempt when all earlier ones have ended.
    ///
    /// - Parameters:
    ///   - user: The key of the user.
    ///   - verify: Returns true if the password is correct. If it throws, the attempt does not count.
    /// - Returns: The value of `verify`; false only after the pause.
    /// - Throws: `ProviderError.rateLimited` if too many attempts are queued; `CancellationError`; the error of
    ///   `verify`.
    func run(_ user: String, _ verify: () async throws -> Bool) async throws -> Bool {
        try await waitForTurn(user)
        let result: Bool
        do {
            try Task.checkCancellation()
            result = try await verify()
        } catch {
            endTurn(user)
            throw error
        }
        guard !result else {
            recordResult(user, succeeded: true)
            endTurn(user)
            return true
        }
        let pause = recordResult(user, succeeded: false)
        // The queue is released even if the caller has been cancelled.
        Task { @MainActor [clock] in
            try? await clock.sleep(for: pause)
            endTurn(user)
        }
        try await clock.sleep(for: pause)
        return false
    }

    /// Returns the total pause of a number of attempts, if all of them fail.
    static func pause(failures: Int, attempts: Int = 1) -> Duration {
        (0..<attempts).reduce(.zero) { sum, index in
            sum + min(maximumPause, firstPause * (1 << min(failures + index, 10)))
        }
    }

    private func waitForTurn(_ user: String) async throws(ProviderError) {
        let isFull = queues.withLock { queues in
            if let queue = queues[user],
                ContinuousClock.now - queue.lastFailure > Self.failureRetention
            {
                queues[user]?.failures = 0
            }
            let queue = queues[user] ?? AttemptQueue()
            // A pause that continues belongs to the previous failure.
            let failures = queue.failures - (queue.isPausing ? 1 : 0)
            return Self.pause(failures: failures, attempts: queue.count + 1) > Self.maximumWait
        }
        guard !isFull else { throw .rateLimited(until: nil) }
        await withCheckedContinuation { continuation in
            let isFirst = queues.withLock { queues in
                guard queues[user, default: AttemptQueue()].isBusy else {
                    queues[user, default: AttemptQueue()].isBusy = true
                    return true
                }
                queues[user, default: AttemptQueue()].waiters.append(continuation)
                return false
            }
            if isFirst { continuation.resume() }
        }
    }

    @discardableResult
    private func recordResult(_ user: String, succeeded: Bool) -> Duration {
        queues.withLock { queues in
            let failures = queues[user]?.failures ?? 0
            queues[user]?.failures = succeeded ? 0 : failures + 1
            queues[user]?.isPausing = !succeeded
            queues[user]?.lastFailure = .now
            return Self.pause(failures: failures)
        }
    }

    private func endTurn(_ user: String) {
        let next = queues.withLock { queues -> CheckedContinuation<Void, Never>? in
            guard var queue = queues[user] else { return nil }
            // The queue stays busy for the next attempt, so that no other one can start first.
            let next = queue.waiters.isEmpty ? nil : queue.waiters.removeFirst()
            queue.isBusy = next != nil
            queue.isPausing = false
            queues[user] = queue.isBusy || queue.failures > 0 ? queue : nil
            return next
        }
        next?.resume()
    }
}
