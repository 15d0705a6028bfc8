internal import Dispatch
internal import Synchronization
internal import System

/// A database with its own serial queue: tasks run one at a time, in the order of the calls.
package final class DatabaseQueue: Sendable {
    private let queue: DispatchQueue
    /// The path of a database that was opened before; nil for another one.
    private let path: String?
    private let open: @Sendable () throws -> Database
    private let repair: @Sendable (StorageError) -> (() -> Void)?
    // Accessed only on `queue`.
    nonisolated(unsafe) private var database: Database?
    // Accessed only on `queue`.
    nonisolated(unsafe) private var isDeleted = false
    private let runs = Atomic(0)

    /// The number of tasks so far, for measurements.
    package var runCount: Int { runs.load(ordering: .relaxed) }

    /// - Parameters:
    ///   - database: The database, of which the queue takes ownership; nil if the first task opens it. After a failure,
    ///     the next task opens it again. If it is read-only, it is opened again for each write, until that succeeds.
    ///   - label: The label of the queue.
    ///   - repair: Returns the action after which a task is repeated with another database, because of its error; nil if
    ///     that does not help. The open database is closed before the action.
    ///   - open: Opens the database.
    package init(
        _ database: sending Database? = nil, label: String,
        repair: @escaping @Sendable (StorageError) -> (() -> Void)? = { _ in nil },
        open: @escaping @Sendable () throws -> Database
    ) {
        queue = DispatchQueue(label: label)
        path = database?.path
        self.database = database
        self.repair = repair
        self.open = open
    }

    /// Opens a file whose data cannot be recreated; see ``Database/open(preserving:_:read:)``. A file that cannot be
    /// written is opened again for each write.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - migrations: The argument of ``Database/migrate(_:)``.
    ///   - label: The label of the queue.
    ///   - lock: The lock of its folder. A folder that could not be locked because it is read-only is locked before the
    ///     file is opened for writing.
    ///   - read: Reads the values that are needed immediately.
    /// - Returns: The queue, the values, the new path of a damaged file, and the reason why nothing can be stored; nil if
    ///   the file was intact or can be written.
    /// - Throws: ``StorageError``.
    package static func open<Value: Sendable>(
        preserving path: String, _ migrations: [String], label: String,
        lock: FolderLock? = nil,
        read: @Sendable (Database) throws(StorageError) -> Value
    ) throws(StorageError) -> (
        queue: DatabaseQueue, value: Value, damagedFile: String?, writeError: StorageError?
    ) {
        let (database, value, damaged) = try Database.open(
            preserving: path, migrations, read: read)
        let writeError = database.writeError
        database.releaseMemory()
        let queue = DatabaseQueue(database, label: label) {
            if case .inUse = lock?.attempt() {
                throw StorageError.readOnly(path, "another imagefeedd uses it")
            }
            return try Database.open(preserving: path, migrations) { _ throws(StorageError) in }
                .database
        }
        return (queue, value, damaged, writeError)
    }

    /// Runs `body` on the queue.
    ///
    /// - Throws: The errors of `body`, and of opening the database.
    package func run<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        runs.add(1, ordering: .relaxed)
        return try await queue.run { [self] () throws -> Value in try perform(body) }
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
        await queue.run { [self] () -> Void in database?.releaseMemory() }
    }

    /// Closes the database after the earlier tasks. The next task opens it again.
    package func close() async {
        await queue.run { [self] () -> Void in database = nil }
    }

    /// Closes the database after the earlier tasks, and deletes its file. Later tasks fail.
    package func delete() async {
        await queue.run { [self] () -> Void in
            database = nil
            isDeleted = true
            if let path { Database.delete(path) }
        }
    }

    /// Waits for the queued tasks and closes the database, which writes its log into the file. Blocks; only for use at
    /// the end of a program.
    package func close() { queue.sync { database = nil } }

    private func perform<Value>(_ body: (Database) throws -> Value) throws -> Value {
        do {
            return try body(opened())
        } catch let error as StorageError {
            if let prepare = repair(error) {
                database = nil
                prepare()
                return try body(opened())
            }
            guard database?.writeError != nil else { throw error }
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
        if isDeleted, let path { throw StorageError.readOnly(path, "it was deleted") }
        let opened = try open()
        database = opened
        return opened
    }
}
