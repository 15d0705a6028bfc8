internal import Dispatch
internal import Synchronization

/// A database with its own serial queue: tasks run one at a time, in the order of the calls.
package final class DatabaseQueue: Sendable {
    private let queue: DispatchQueue
    private let open: @Sendable () throws -> Database
    // Accessed only on `queue`.
    nonisolated(unsafe) private var database: Database?
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
            runs.add(1, ordering: .relaxed)
            queue.async { [self] in continuation.resume(with: Result { try perform(body) }) }
        }
    }

    /// Runs `body` on the queue and blocks the calling thread until `body` returns. Must not be called on the main
    /// thread or on this queue.
    ///
    /// - Throws: The errors of `body`, and of opening the database.
    package func runAndWait<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try queue.sync { try body(opened()) }
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
        if let database {
            guard database.isDeleted else { return database }
            // Its folder was deleted. The contents are still readable through the open file.
            try database.writeAgain()
            self.database = nil
        }
        let opened = try open()
        database = opened
        return opened
    }
}
