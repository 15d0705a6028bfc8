internal import ProviderKit
internal import Synchronization

/// Slows down whoever guesses passwords.
///
/// The tries of one user stand in line, and each wrong one holds the line up for longer than the one before. Nobody
/// is locked out, and nobody waits for long: a line that has become too long takes no more.
final class PasswordThrottle: Sendable {
    private struct Line {
        /// How many tries were wrong since the last right one.
        var failures = 0
        var lastFailure = ContinuousClock.now
        /// Whether somebody is at the front, or the line is held up.
        var isBusy = false
        /// Whether the try at the front was wrong.
        var isHeldUp = false
        var waiters: [CheckedContinuation<Void, Never>] = []

        /// How many are in line.
        var count: Int { (isBusy ? 1 : 0) + waiters.count }
    }

    /// After the first wrong try; each one more doubles it.
    static let firstPause = Duration.milliseconds(500)
    static let longestPause = Duration.seconds(8)
    /// How long the last in line may have to wait, if all are wrong: clients give up after 25 seconds.
    static let longestLine = Duration.seconds(16)
    /// When wrong tries are forgotten.
    private static let memory = Duration.seconds(900)

    private let clock: any Clock<Duration>
    private let lines = Mutex<[String: Line]>([:])

    init(clock: any Clock<Duration>) { self.clock = clock }

    /// Tries a password, when it is this one's turn.
    ///
    /// - Parameters:
    ///   - user: Whose password it is.
    ///   - isRight: Whether it is right. What it throws is no try.
    /// - Returns: Whether it is right. If not, it returns after the pause.
    /// - Throws: `ProviderError.rateLimited` when too many stand in line; `CancellationError`; what
    ///   `isRight` throws.
    func run(_ user: String, _ isRight: () async throws -> Bool) async throws -> Bool {
        try await enter(user)
        let result: Bool
        do {
            try Task.checkCancellation()
            result = try await isRight()
        } catch {
            leave(user)
            throw error
        }
        guard !result else {
            note(user, wasRight: true)
            leave(user)
            return true
        }
        let pause = note(user, wasRight: false)
        // Also if nobody waits for this try any more.
        Task { @MainActor [clock] in
            try? await clock.sleep(for: pause)
            leave(user)
        }
        try await clock.sleep(for: pause)
        return false
    }

    /// How long the tries hold the line up, if all of them are wrong.
    static func pause(failures: Int, tries: Int = 1) -> Duration {
        (0..<tries).reduce(.zero) { sum, index in
            sum + min(longestPause, firstPause * (1 << min(failures + index, 10)))
        }
    }

    private func enter(_ user: String) async throws(ProviderError) {
        let isFull = lines.withLock { lines in
            if let line = lines[user], ContinuousClock.now - line.lastFailure > Self.memory {
                lines[user]?.failures = 0
            }
            let line = lines[user] ?? Line()
            // The pause that goes on is that of the failure before.
            let failures = line.failures - (line.isHeldUp ? 1 : 0)
            return Self.pause(failures: failures, tries: line.count + 1) > Self.longestLine
        }
        guard !isFull else { throw .rateLimited(until: nil) }
        await withCheckedContinuation { continuation in
            let isFirst = lines.withLock { lines in
                guard lines[user, default: Line()].isBusy else {
                    lines[user, default: Line()].isBusy = true
                    return true
                }
                lines[user, default: Line()].waiters.append(continuation)
                return false
            }
            if isFirst { continuation.resume() }
        }
    }

    @discardableResult
    private func note(_ user: String, wasRight: Bool) -> Duration {
        lines.withLock { lines in
            let failures = lines[user]?.failures ?? 0
            lines[user]?.failures = wasRight ? 0 : failures + 1
            lines[user]?.isHeldUp = !wasRight
            lines[user]?.lastFailure = .now
            return Self.pause(failures: failures)
        }
    }

    private func leave(_ user: String) {
        let next = lines.withLock { lines -> CheckedContinuation<Void, Never>? in
            guard var line = lines[user] else { return nil }
            // Handed on while busy: nobody gets in between.
            let next = line.waiters.isEmpty ? nil : line.waiters.removeFirst()
            line.isBusy = next != nil
            line.isHeldUp = false
            lines[user] = line.isBusy || line.failures > 0 ? line : nil
            return next
        }
        next?.resume()
    }
}
