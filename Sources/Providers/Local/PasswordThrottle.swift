internal import EngineModel
internal import Synchronization
internal import System

/// A rate limit for password attempts.
///
/// The attempts of each user run one at a time, and each failure delays the next attempt for longer than the one
/// before. Users are never locked out, and no wait is long: if too many attempts are queued, further ones are rejected.
final class PasswordThrottle: Sendable {
    private struct Attempts {
        /// The number of failures since the last success.
        var failures = 0
        var lastFailure = ContinuousClock.now
        /// True during the pause after a failure.
        var isPausing = false
        /// The number of waiting and running attempts, with the one whose pause continues.
        var count = 0
        let queue = ChangeQueue()
    }

    /// The pause after the first failure. It doubles with each further one.
    static let firstPause = Duration.milliseconds(500)
    static let maximumPause = Duration.seconds(8)
    /// The maximum wait of a queued attempt, if all attempts fail. Clients time out after 25 seconds.
    static let maximumWait = Duration.seconds(16)
    /// The time after which failures no longer count.
    private static let failureRetention = Duration.seconds(900)

    private let clock: any Clock<Duration>
    /// The attempts of each user, by the key of the user.
    private let attempts = Mutex<[String: Attempts]>([:])

    init(clock: any Clock<Duration>) { self.clock = clock }

    /// Runs a password attempt when all earlier ones have ended.
    ///
    /// - Parameters:
    ///   - user: The key of the user.
    ///   - verify: Returns true if the password is correct. If it throws, the attempt does not count.
    /// - Returns: The value of `verify`; false only after the pause.
    /// - Throws: `EngineError.tooManyPasswords` if too many attempts are queued; `CancellationError`; the error of
    ///   `verify`.
    func run(_ user: String, _ verify: () async throws -> Bool) async throws -> Bool {
        let queue = try enqueue(user)
        await queue.begin()
        do {
            try Task.checkCancellation()
            if try await verify() {
                attempts.withLock { $0[user]?.failures = 0 }
                endTurn(user, queue)
                return true
            }
        } catch {
            endTurn(user, queue)
            throw error
        }
        let pause = recordFailure(user)
        // The queue is released even if the caller has been cancelled.
        Task { @MainActor [clock] in
            try? await clock.sleep(for: pause)
            endTurn(user, queue)
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

    /// Counts a new attempt of a user, and returns the queue of their attempts.
    private func enqueue(_ user: String) throws(EngineError) -> ChangeQueue {
        let queue = attempts.withLock { attempts -> ChangeQueue? in
            var own = attempts[user] ?? Attempts()
            defer { attempts[user] = own }
            if ContinuousClock.now - own.lastFailure > Self.failureRetention { own.failures = 0 }
            // A pause that continues belongs to the previous failure.
            let failures = own.failures - (own.isPausing ? 1 : 0)
            let wait = Self.pause(failures: failures, attempts: own.count + 1)
            guard wait <= Self.maximumWait else { return nil }
            own.count += 1
            return own.queue
        }
        guard let queue else { throw .tooManyPasswords }
        return queue
    }

    /// Records a wrong password, and returns the pause after it.
    private func recordFailure(_ user: String) -> Duration {
        attempts.withLock { attempts in
            let failures = attempts[user]?.failures ?? 0
            attempts[user]?.failures = failures + 1
            attempts[user]?.isPausing = true
            attempts[user]?.lastFailure = .now
            return Self.pause(failures: failures)
        }
    }

    private func endTurn(_ user: String, _ queue: ChangeQueue) {
        attempts.withLock { attempts in
            guard var own = attempts[user] else { return }
            own.count -= 1
            own.isPausing = false
            attempts[user] = own.count > 0 || own.failures > 0 ? own : nil
        }
        queue.end()
    }
}
