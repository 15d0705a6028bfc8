internal import Dispatch
internal import Synchronization

/// A database whose work is done on a queue of its own, one piece at a time, in the order of the calls.
package final class DatabaseQueue: Sendable {
    private let queue: DispatchQueue
    private let open: @Sendable () throws -> Database
    // Touched on `queue` alone.
    nonisolated(unsafe) private var database: Database?
    /// How many pieces of work are queued or being done.
    private let pending = Atomic(0)
    private let runs = Atomic(0)

    /// The number of pieces of work so far, for measurements.
    package var runCount: Int { runs.load(ordering: .relaxed) }

    /// Takes over `database`; its maker must not use it any more.
    package init(_ database: sending Database, label: String) {
        queue = DispatchQueue(label: label)
        self.database = database
        open = { throw StorageError.failed(code: 0, message: "the database was opened before") }
    }

    /// Takes over `database`, which its maker must not use any more.
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

    /// Opens the database when it is first needed, and again if that failed.
    package init(label: String, open: @escaping @Sendable () throws -> Database) {
        queue = DispatchQueue(label: label)
        self.open = open
    }

    /// Runs `body` on the queue.
    ///
    /// - Throws: What `body` throws.
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

    /// Runs `body` on the queue, and blocks the calling thread until it returns. Not for the main thread, and not for
    /// the queue itself.
    ///
    /// - Throws: The error of `body`.
    package func runAndWait<Value>(_ body: (Database) throws -> Value) throws -> Value {
        pending.add(1, ordering: .relaxed)
        defer { pending.subtract(1, ordering: .relaxed) }
        return try queue.sync { try body(opened()) }
    }

    /// Runs `body` at once, on the caller's thread, if nobody else uses the database and it is open; on the
    /// queue otherwise.
    ///
    /// For what takes less time than a change of threads and back does: reading some rows by an index.
    ///
    /// - Throws: What `body` throws.
    package func runBriefly<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        if let result = tryNow(body) {
            runs.add(1, ordering: .relaxed)
            return try result.get()
        }
        return try await run(body)
    }

    private func tryNow<Value>(
        _ body: (Database) throws -> Value
    ) -> Result<Value, any Error>? {
        let isFree = pending.compareExchange(expected: 0, desired: 1, ordering: .relaxed).exchanged
        guard isFree else { return nil }
        defer { pending.subtract(1, ordering: .relaxed) }
        // The queue is empty, so this does not wait.
        return queue.sync { database.map { _ in Result { try perform(body) } } }
    }

    /// Gives memory that is not needed now back, after what was asked before.
    package func releaseMemory() async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                database?.releaseMemory()
                continuation.resume()
            }
        }
    }

    /// Closes the database, after what was asked before, and runs `body` before anybody opens it again, as the
    /// next call does.
    package func close(_ body: @escaping @Sendable () -> Void = {}) async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                database = nil
                body()
                continuation.resume()
            }
        }
    }

    /// Waits for the work that is queued, and closes the database: what is in its log goes into the
    /// file. Blocks; only for the end of a program.
    package func close() { queue.sync { database = nil } }

    private func perform<Value>(_ body: (Database) throws -> Value) throws -> Value {
        do {
            return try body(opened())
        } catch let error as StorageError where database?.writeError != nil {
            // The disk may be writable again. Connections to one file share whether its log is read-only.
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
