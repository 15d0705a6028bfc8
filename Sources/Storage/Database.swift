internal import CSQLite
internal import Glibc

/// One connection to an SQLite database.
///
/// Not `Sendable`: whoever made it uses it, one call at a time. ``DatabaseQueue`` is one that others can
/// share.
package final class Database {
    /// How much a commit waits for.
    package enum Durability: String {
        /// The disk has it: survives a loss of power.
        case full = "FULL"
        /// The kernel has it: survives the end of the process.
        case process = "OFF"
    }

    /// The path of the file, or `:memory:`.
    package let path: String
    let raw: OpaquePointer
    /// The error of every write, for a copy in memory of a file that cannot be written; otherwise nil.
    var readOnlyError: StorageError?
    private var statements: [String: Statement] = [:]
    private var isInTransaction = false

    /// Whether SQLite took what we set for the whole process, which it does before its first use.
    private static let isConfigured = shim_sqlite3_allocate_pages_one_by_one() == SQLITE_OK

    /// Opens, or creates, the file at `path` in WAL mode.
    ///
    /// - Parameters:
    ///   - path: Its folder must exist.
    ///   - durability: How much a commit waits for.
    ///   - cacheKibibytes: How much memory the connection may keep pages in.
    /// - Throws: ``StorageError/cannotOpen(_:_:)``, ``StorageError/damaged(_:)``.
    package init(
        path: String, durability: Durability, cacheKibibytes: Int = 256
    ) throws(StorageError) {
        _ = Self.isConfigured
        self.path = path
        do throws(StorageError) {
            raw = try Self.open(path, isShared: true)
        } catch {
            // What is shared with others takes room, and on a disk that is full there is none. Alone, what is there
            // can still be read, and written once there is room.
            guard case .failed(let code, _) = error, code & 0xff == SQLITE_IOERR else {
                throw error
            }
            raw = try Self.open(path, isShared: false)
        }
        // The log is read at each start: it stays short.
        try execute("PRAGMA wal_autocheckpoint = 100")
        try execute("PRAGMA synchronous = \(durability.rawValue)")
        try execute("PRAGMA cache_size = -\(cacheKibibytes)")
        try execute("PRAGMA foreign_keys = ON")
        try execute("PRAGMA secure_delete = ON")
        try execute("PRAGMA trusted_schema = OFF")
    }

    deinit {
        statements.removeAll()
        sqlite3_close_v2(raw)
    }

    private static func open(
        _ path: String, isShared: Bool
    ) throws(StorageError) -> OpaquePointer {
        var opened: OpaquePointer?
        // The caller sees to it that one thread at a time uses a connection.
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard let raw = opened, code == SQLITE_OK else {
            let reason = opened.map(Self.reason) ?? "out of memory"
            sqlite3_close_v2(opened)
            throw .cannotOpen(path, reason)
        }
        sqlite3_extended_result_codes(raw, 1)
        // The other side may be a daemon that is just being replaced.
        sqlite3_busy_timeout(raw, 2000)
        do throws(StorageError) {
            if !isShared {
                try check(
                    sqlite3_exec(raw, "PRAGMA locking_mode = EXCLUSIVE", nil, nil, nil), raw, path)
            }
            try check(sqlite3_exec(raw, "PRAGMA journal_mode = WAL", nil, nil, nil), raw, path)
        } catch {
            sqlite3_close_v2(raw)
            throw error
        }
        return raw
    }

    /// The error of every write: the file is read-only, or this is a copy of a file that cannot be written; nil if
    /// the database can be written.
    package var writeError: StorageError? {
        if let readOnlyError { return readOnlyError }
        guard sqlite3_db_readonly(raw, "main") == 1 else { return nil }
        return .readOnly(path, Self.readOnlyReason(path))
    }

    /// Runs statements that have no parameters and whose rows nobody wants.
    package func execute(_ sql: String) throws(StorageError) {
        try check(sqlite3_exec(raw, sql, nil, nil, nil))
    }

    /// Runs one statement and calls `body` for each row.
    ///
    /// - Parameters:
    ///   - sql: One statement. It is kept prepared, so it must not be put together from values.
    ///   - values: Its parameters, in their order.
    ///   - body: Reads the row, which is valid during the call alone.
    /// - Throws: ``StorageError``.
    package func query(
        _ sql: String, _ values: [SQLValue] = [],
        _ body: (borrowing Row) throws(StorageError) -> Void = { _ throws(StorageError) in }
    ) throws(StorageError) {
        let statement = try prepare(sql)
        defer { statement.reset() }
        try check(statement.bind(values))
        while true {
            switch statement.step() {
            case SQLITE_ROW: try body(Row(statement))
            case SQLITE_DONE: return
            case let code: try check(code)
            }
        }
    }

    /// Runs one statement and reads its first row, if there is one.
    package func first<Value>(
        _ sql: String, _ values: [SQLValue] = [], _ read: (borrowing Row) -> Value
    ) throws(StorageError) -> Value? {
        var result: Value?
        try query(sql, values) { row throws(StorageError) in
            if result == nil { result = read(row) }
        }
        return result
    }

    /// How many rows the last statement inserted, updated or deleted.
    package var changedRows: Int { Int(sqlite3_changes(raw)) }

    /// Runs `body` in a transaction: all of it is stored, or nothing. One inside another joins it.
    package func transaction<Value>(
        _ body: () throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        guard !isInTransaction else { return try body() }
        try execute("BEGIN IMMEDIATE")
        isInTransaction = true
        defer { isInTransaction = false }
        do {
            let value = try body()
            try execute("COMMIT")
            return value
        } catch {
            // SQLite may have rolled back by itself.
            if sqlite3_get_autocommit(raw) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// Runs `body`, whose queries all see one state of the database, whatever others write meanwhile.
    package func snapshot<Value>(
        _ body: () throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        guard !isInTransaction else { return try body() }
        // Queries, since those are kept prepared.
        try query("BEGIN")
        isInTransaction = true
        defer {
            isInTransaction = false
            // Nothing was written, so nothing is lost.
            try? query("ROLLBACK")
        }
        return try body()
    }

    /// Brings the file up to the newest format.
    ///
    /// - Parameter steps: What changes the format from each version, 0 being an empty file, to the next one.
    ///   Steps are only ever added. They run in one transaction.
    /// - Throws: ``StorageError/newerVersion(path:found:known:)`` for a file from the future.
    package func migrate(_ steps: [String]) throws(StorageError) {
        guard try version(atMost: steps.count) < steps.count else { return }
        try transaction { () throws(StorageError) in
            // Another connection may have been faster.
            for step in steps[try version(atMost: steps.count)...] { try execute(step) }
            try execute("PRAGMA user_version = \(steps.count)")
        }
    }

    private func version(atMost known: Int) throws(StorageError) -> Int {
        let found = try first("PRAGMA user_version") { Int($0.integer(0)) } ?? 0
        guard found <= known else {
            throw .newerVersion(path: path, found: found, known: known)
        }
        return found
    }

    /// Leaves nothing of what was deleted in the file and its log. Takes a while, and as much room again as
    /// the rest needs.
    package func scrub() throws(StorageError) {
        try execute("VACUUM")
        try execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Gives memory that is not needed now back. The C function is `sqlite3_db_release_memory`.
    package func releaseMemory() {
        statements.removeAll()
        sqlite3_db_release_memory(raw)
    }

    private func prepare(_ sql: String) throws(StorageError) -> Statement {
        if let statement = statements[sql] { return statement }
        var prepared: OpaquePointer?
        try check(
            sqlite3_prepare_v3(raw, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil))
        guard let prepared else { throw .failed(code: SQLITE_MISUSE, message: "empty statement") }
        let statement = Statement(owning: prepared)
        statements[sql] = statement
        return statement
    }

    func check(_ code: Int32) throws(StorageError) {
        if let readOnlyError, code & 0xff == SQLITE_READONLY { throw readOnlyError }
        try Self.check(code, raw, path)
    }

    private static func readOnlyReason(_ path: String) -> String {
        access(path, W_OK) == 0 ? "it is read-only" : String(cString: strerror(errno))
    }

    /// What went wrong last, as the system says, else as SQLite does.
    private static func reason(_ raw: OpaquePointer) -> String {
        let code = sqlite3_system_errno(raw)
        return code == 0 ? String(cString: sqlite3_errmsg(raw)) : String(cString: strerror(code))
    }

    private static func check(
        _ code: Int32, _ raw: OpaquePointer, _ path: String
    ) throws(StorageError) {
        switch code & 0xff {
        case SQLITE_OK, SQLITE_ROW, SQLITE_DONE: return
        case SQLITE_FULL: throw .full
        case SQLITE_CORRUPT, SQLITE_NOTADB: throw .damaged(path)
        case SQLITE_READONLY:
            throw .readOnly(path, readOnlyReason(path))
        case SQLITE_CANTOPEN, SQLITE_PERM: throw .cannotOpen(path, reason(raw))
        default: throw .failed(code: code, message: String(cString: sqlite3_errmsg(raw)))
        }
    }
}
