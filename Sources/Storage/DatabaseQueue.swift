internal import Dispatch

/// A database whose work is done on a queue of its own, one piece at a time, in the order of the calls.
package final class DatabaseQueue: Sendable {
    private let queue: DispatchQueue
    private let open: @Sendable () throws -> Database
    // Touched on `queue` alone.
    nonisolated(unsafe) private var database: Database?

    /// Takes over `database`; its maker must not use it any more.
    package init(_ database: sending Database, label: String) {
        queue = DispatchQueue(label: label)
        self.database = database
        open = { throw StorageError.failed(code: 0, message: "the database was opened before") }
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
            queue.async { [self] in
                continuation.resume(with: Result { try body(opened()) })
            }
        }
    }

    /// Closes the database, after what was asked before. The next call opens it again.
    package func close() async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                database = nil
                continuation.resume()
            }
        }
    }

    /// Waits for the work that is queued, and closes the database: what is in its log goes into the
    /// file. Blocks; only for the end of a program.
    package func close() { queue.sync { database = nil } }

    private func opened() throws -> Database {
        if let database { return database }
        let opened = try open()
        database = opened
        return opened
    }
}
