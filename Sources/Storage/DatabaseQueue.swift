internal import Dispatch
internal import Synchronization

/// A database with its own serial queue: tasks run one at a time, in the order of the calls.
package final class DatabaseQueue: Sendable {
    private let queue: DispatchQueue
    private let open: @Sendable () throws -> Database
    // Accessed only on `queue`.
    nonisolated(unsafe) private var database: Database?
    /// The number of tasks that are queued or running.
    private let pending = Atomic(0)
    private let runs = Atomic(0)

    /// The number of tasks so far, for measurements.
    package var runCount: Int { runs.load(ordering: .relaxed) }

    /// Takes ownership of `database`, which the caller must not use any more.
    package init(_ database: sending Database, label: String) {
        queue = DispatchQueue(label: label)
        self.database = database
        open = { throw StorageError.failed(code: 0, message: "the database was opened before") }
    }

    /// Takes ownership of `database`, which the caller must not use any more.
    ///
    /// - Parameters:
    ///   - database: The database. If it is read-only, it is opened again for each write, until that succeeds.
    ///   - label: The label of the queue.
    ///   - open: Opens the database again.
    package init(
        _ database: sending Database, label: String,
        open: @escaping @Sendable () throws -> Database
    ) {
        queue = DispatchQueue(label: label)
        self.database = database
        self.open = open
    }

    /// Creates a queue that opens the database with the first task. After a failure, the next task opens it again.
    package init(label: String, open: @escaping @Sendable () throws -> Database) {
        queue = DispatchQueue(label: label)
        self.open = open
    }

    /// Runs `body` on the queue.
    ///
    /// - Throws: The errors of `body`, and of opening the database.
    package func run<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            pending.add(1, ordering: .relaxed)
            runs.add(1, ordering: .relaxed)
            queue.async { [self] in
                let result = Result { try perform(body) }
                pending.subtract(1, ordering: .relaxed)
                continuation.resume(with: result)
            }
        }
    }

    /// Runs `body` on the queue and blocks the calling thread until `body` returns. Must not be called on the main
    /// thread or on this queue.
    ///
    /// - Throws: The errors of `body`, and of opening the database.
    package func runAndWait<Value>(_ body: (Database) throws -> Value) throws -> Value {
        pending.add(1, ordering: .relaxed)
        defer { pending.subtract(1, ordering: .relaxed) }
        return try queue.sync { try body(opened()) }
    }

    /// Runs `body` immediately, on the caller's thread, if the database is idle and open; otherwise on the queue.
    ///
    /// For tasks that take less time than two thread switches, such as reading some rows by an index.
    ///
    /// - Throws: The errors of `body`, and of opening the database.
    package func runBriefly<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        if let result = runIfIdle(body) {
            runs.add(1, ordering: .relaxed)
            return try result.get()
        }
        return try await run(body)
    }

    private func runIfIdle<Value>(
        _ body: (Database) throws -> Value
    ) -> Result<Value, any Error>? {
        let isFree = pending.compareExchange(expected: 0, desired: 1, ordering: .relaxed).exchanged
        guard isFree else { return nil }
        defer { pending.subtract(1, ordering: .relaxed) }
        // The queue is empty, so this does not wait.
        return queue.sync { database.map { _ in Result { try perform(body) } } }
    }

    /// Releases cached memory, after the earlier tasks.
    package func releaseMemory() async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                database?.releaseMemory()
                continuation.resume()
            }
        }
    }

    /// Closes the database after the earlier tasks, and runs `body` before the next task opens it again.
    package func close(_ body: @escaping @Sendable () -> Void = {}) async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                database = nil
                body()
                continuation.resume()
            }
        }
    }

    /// Waits for the queued tasks and closes the database, which writes its log into the file. Blocks; only for use at
    /// the end of a program.
    package func close() { queue.sync { database = nil } }

    private func perform<Value>(_ body: (Database) throws -> Value) throws -> Value {
        do {
            return try body(opened())
        } catch let error as StorageError where database?.writeError != nil {
            // The disk may be writable again. Connections to one file share the state that its log is read-only.
            database = nil
            let reopened = try opened()
            guard reopened.writeError == nil else { throw error }
            return try body(reopened)
        }
    }

    private func opened() throws -> Database {
        if let database { return database }
        let opened = try open()
        database = opened
        return opened
    }
}
