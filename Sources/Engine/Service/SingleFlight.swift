/// Lets all who want the same thing at once share one piece of work.
///
/// The work belongs to nobody: it goes on when those who wait for it are cancelled.
final class SingleFlight<Key: Hashable, Value: Sendable> {
    private var running: [Key: Task<Value, any Error>] = [:]

    func isRunning(_ key: Key) -> Bool { running[key] != nil }

    /// Waits for the work that is under way for `key`, or begins it.
    ///
    /// - Throws: What the work throws, to all who wait for it.
    func run(
        _ key: Key, _ work: @escaping @MainActor () async throws -> Value
    ) async throws -> Value {
        if let task = running[key] { return try await task.value }
        let task = Task {
            defer { running[key] = nil }
            return try await work()
        }
        running[key] = task
        return try await task.value
    }
}
