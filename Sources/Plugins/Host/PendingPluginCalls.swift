internal import PluginProtocol

/// The calls of a plugin that wait for an answer.
///
/// This type only decides; the connection sends messages, sets timers and resumes continuations.
struct PendingPluginCalls<Answer> {
    struct Call {
        let method: PluginMethod
        let account: PluginAccount?
        /// The waiting caller; nil if the call was cancelled. The plugin must still answer the call.
        var continuation: CheckedContinuation<Answer, any Error>?
        let limit: Duration
        let end: SuspendingClock.Instant
    }

    private var calls: [Int64: Call] = [:]
    private var lastID: Int64 = 0
    /// The accounts of all calls, including ended calls, by their IDs.
    private(set) var knownAccounts: [String: PluginAccount] = [:]

    var isEmpty: Bool { calls.isEmpty }

    /// The earliest time limit; nil if there is no call.
    var firstEnd: SuspendingClock.Instant? { calls.values.lazy.map(\.end).min() }

    /// Returns the ID of the next call.
    mutating func makeID() -> Int64 {
        lastID += 1
        return lastID
    }

    mutating func add(_ id: Int64, _ call: Call) {
        calls[id] = call
        if let account = call.account { knownAccounts[account.id] = account }
    }

    /// Removes and returns a call that was answered; nil if the ID is unknown.
    mutating func remove(_ id: Int64) -> Call? { calls.removeValue(forKey: id) }

    /// Removes and returns the caller of a call; nil if no caller waits. The call remains until its answer arrives.
    mutating func abandon(_ id: Int64) -> CheckedContinuation<Answer, any Error>? {
        let continuation = calls[id]?.continuation
        calls[id]?.continuation = nil
        return continuation
    }

    mutating func removeAll() -> [Call] {
        defer { calls = [:] }
        return Array(calls.values)
    }

    /// Returns the account of a waiting call; nil if no call concerns the account.
    func account(_ id: String) -> PluginAccount? {
        calls.values.lazy.compactMap(\.account).first { $0.id == id }
    }

    /// Returns the time limit of an HTTP request for an account, which leaves the plugin time to answer the call.
    func timeLeft(for account: PluginAccount, at now: SuspendingClock.Instant) -> Duration {
        let reserve = Duration.seconds(1)
        let ends = calls.values.lazy.filter { $0.account === account }.map(\.end)
        guard let end = ends.min() else { return reserve }
        return max(reserve, end - reserve - now)
    }

    /// Returns a call whose time limit has passed.
    func overdue(at now: SuspendingClock.Instant) -> Call? {
        calls.values.first { $0.end <= now }
    }
}
