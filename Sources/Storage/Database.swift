internal import CSQLite
internal import Glibc
internal import System
package import Translation

/// One connection to an SQLite database.
///
/// Not `Sendable`: one owner uses it, one call at a time. A ``Store`` can be shared.
package final class Database {
    /// The path of the file, or `:memory:`.
    package let path: String
    let raw: OpaquePointer
    /// The error of every write to an in-memory copy of a file that cannot be written; otherwise nil.
    var readOnlyError: StorageError?
    /// True if the contents cannot be recreated.
    private let isDurable: Bool
    /// The identity of the open file; nil for a database in memory.
    private(set) var identity: FileIdentity?
    private var statements: [String: Statement] = [:]
    private var isInTransaction = false

    /// True if SQLite accepted the process-wide configuration, which must precede its first use.
    private static let isConfigured = shim_sqlite3_allocate_pages_one_by_one() == SQLITE_OK

    /// Opens or creates a file, or a database in memory for the path `:memory:`.
    ///
    /// - Parameters:
    ///   - path: The path. Its folder must exist.
    ///   - isDurable: True if the contents cannot be recreated: a commit waits until the data are on the disk, and
    ///     survives a loss of power. Otherwise, it survives the end of the process.
    ///   - cacheKibibytes: The size of the connection's page cache.
    ///   - isExclusive: True if no other connection uses the file. Then a file with a log needs no shared memory.
    /// - Throws: ``StorageError/cannotOpen(_:_:)``, ``StorageError/damaged(_:)``.
    package init(
        path: String, isDurable: Bool = false, cacheKibibytes: Int = 256, isExclusive: Bool = false
    ) throws(StorageError) {
        _ = Self.isConfigured
        self.path = path
        self.isDurable = isDurable
        identity = nil
        var opened: OpaquePointer?
        // The caller ensures that one thread at a time uses a connection.
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard let opened, code == SQLITE_OK else {
            let reason = opened.map { Self.reason($0, path) } ?? "out of memory"
            sqlite3_close_v2(opened)
            throw .cannotOpen(path, reason)
        }
        raw = opened
        sqlite3_extended_result_codes(raw, 1)
        // The other connection may be a daemon that is being replaced.
        sqlite3_busy_timeout(raw, 2000)
        if isExclusive { try execute("PRAGMA locking_mode = EXCLUSIVE") }
        // A journal that is truncated leaves nothing of a transaction behind, and needs no change of the folder.
        try execute("PRAGMA journal_mode = \(isDurable ? "TRUNCATE" : "WAL")")
        // The log is read at each start, so it is kept short.
        try execute("PRAGMA wal_autocheckpoint = 100")
        try execute("PRAGMA synchronous = \(isDurable ? "FULL" : "OFF")")
        try setCacheSize(kibibytes: cacheKibibytes)
        try execute("PRAGMA foreign_keys = ON")
        try execute("PRAGMA secure_delete = ON")
        try execute("PRAGMA trusted_schema = OFF")
        identity = FileStatus(path)?.identity
    }

    deinit {
        statements.removeAll()
        // The empty journal is deleted, unless it belongs to another file now.
        if isDurable, !isMoved(from: path) { try? execute("PRAGMA journal_mode = DELETE") }
        sqlite3_close_v2(raw)
    }

    /// The error of every write: the file is read-only, or this is an in-memory copy of a file that cannot be written.
    /// nil if the database can be written.
    package var writeError: StorageError? {
        if let readOnlyError { return readOnlyError }
        guard sqlite3_db_readonly(raw, "main") == 1 else { return nil }
        return .readOnly(path, Self.readOnlyReason(path))
    }

    /// Returns true if a path, such as that of a link, leads to another file than the open one, or to none.
    func isMoved(from path: String) -> Bool {
        identity != nil && FileStatus(path)?.identity != identity
    }

    /// Writes the contents to a new file.
    func copy(to path: String) throws(StorageError) {
        // The statement cannot be cached: its parameter is not a value of a table.
        let quoted = path.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "''")
        try execute("VACUUM INTO '\(quoted)'")
    }

    /// Replaces the contents by those of a file and its log, also of a file in a folder that cannot be written. No other
    /// process may change the file.
    func load(_ path: String) throws(StorageError) {
        var opened: OpaquePointer?
        defer { sqlite3_close_v2(opened) }
        // This VFS needs no lock, and exclusive mode no file of shared memory.
        try check(sqlite3_open_v2(path, &opened, SQLITE_OPEN_READONLY, "unix-none"))
        try Self.check(
            sqlite3_exec(opened, "PRAGMA locking_mode = EXCLUSIVE", nil, nil, nil), raw, path)
        let backup = sqlite3_backup_init(raw, "main", opened, "main")
        sqlite3_backup_step(backup, -1)
        try check(sqlite3_backup_finish(backup))
    }

    /// Runs statements without parameters and ignores their rows.
    package func execute(_ sql: String) throws(StorageError) {
        try check(sqlite3_exec(raw, sql, nil, nil, nil))
    }

    /// Runs one statement and calls `body` for each row.
    ///
    /// - Parameters:
    ///   - sql: One statement. It is cached in prepared form, so it must not be assembled from values.
    ///   - values: The parameters, in order.
    ///   - body: Reads the row, which is valid only during the call.
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
            case SQLITE_ROW:
                try body(Row(statement))
                // The rest of what cannot be created again remains usable.
                if statement.hasLimitedNumber, !isDurable, readOnlyError == nil {
                    throw .damaged(path)
                }
            case SQLITE_DONE: return
            case let code: try check(code)
            }
        }
    }

    /// Runs one statement and reads its first row; returns nil if there is none.
    package func first<Value>(
        _ sql: String, _ values: [SQLValue] = [], _ read: (borrowing Row) -> Value
    ) throws(StorageError) -> Value? {
        var result: Value?
        try query(sql, values) { row throws(StorageError) in
            if result == nil { result = read(row) }
        }
        return result
    }

    /// Runs one statement and returns the integer in its first row; nil if there is none.
    package func integer(
        _ sql: String, _ values: [SQLValue] = []
    ) throws(StorageError) -> Int64? {
        try first(sql, values) { $0.integer(0) }
    }

    /// Runs one statement and reads all its rows.
    package func all<Value>(
        _ sql: String, _ values: [SQLValue] = [], _ read: (borrowing Row) -> Value
    ) throws(StorageError) -> [Value] {
        var all: [Value] = []
        try query(sql, values) { row throws(StorageError) in all.append(read(row)) }
        return all
    }

    /// Runs one statement; returns true if it has a row.
    package func exists(_ sql: String, _ values: [SQLValue] = []) throws(StorageError) -> Bool {
        try first(sql, values) { _ in true } ?? false
    }

    /// The number of rows that the last statement inserted, updated or deleted.
    package var changedRows: Int { Int(sqlite3_changes(raw)) }

    /// The number of rows that all statements inserted, updated or deleted.
    var totalChanges: Int64 { sqlite3_total_changes64(raw) }

    /// The number of operations that cached statements have performed, for measurements.
    package var operationCount: Int { statements.values.reduce(0) { $0 + $1.operationCount } }

    /// Runs `body` in a transaction, which is stored completely or not at all. A nested call joins the outer
    /// transaction.
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
            // SQLite may have rolled back automatically.
            if sqlite3_get_autocommit(raw) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// Runs `body` in a read transaction, so that all its queries read the same state of the database.
    package func snapshot<Value>(_ body: () throws -> Value) throws -> Value {
        guard !isInTransaction else { return try body() }
        // `query` caches the prepared statements, `execute` does not.
        try query("BEGIN")
        isInTransaction = true
        defer {
            isInTransaction = false
            // The transaction has written nothing.
            try? query("ROLLBACK")
        }
        return try body()
    }

    /// Removes all deleted data from the file and its log. The time and the additional disk space are proportional to
    /// the size of the remaining data.
    package func scrub() throws(StorageError) {
        let result = Result { () throws(StorageError) in try execute("VACUUM") }
        // Another connection that reads prevents it.
        guard try integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0 else {
            throw .failed(code: SQLITE_BUSY, message: "the log is being read")
        }
        try result.get()
    }

    /// Sets the size of the page cache of this connection.
    package func setCacheSize(kibibytes: Int) throws(StorageError) {
        try execute("PRAGMA cache_size = -\(kibibytes)")
    }

    /// Releases cached memory. The C function is `sqlite3_db_release_memory`.
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
        access(path, W_OK) == 0 && access(StoreFile(path).folder, W_OK) == 0
            ? "it is read-only" : String(cString: strerror(errno))
    }

    /// Returns the text of the last system error, or of the SQLite error if there is none.
    private static func reason(_ raw: OpaquePointer, _ path: String) -> String {
        let code = sqlite3_system_errno(raw)
        // SQLite opens a journal that it cannot create for reading, and has the error of that.
        if code == ENOENT, access(path, F_OK) == 0 { return readOnlyReason(path) }
        return code == 0 ? String(cString: sqlite3_errmsg(raw)) : String(cString: strerror(code))
    }

    private static func check(
        _ code: Int32, _ raw: OpaquePointer, _ path: String
    ) throws(StorageError) {
        switch code & 0xff {
        case SQLITE_OK, SQLITE_ROW, SQLITE_DONE: return
        case SQLITE_FULL: throw .full
        // SQLite has an error of its own only for an ordinary write on a full disk.
        case SQLITE_IOERR where [ENOSPC, EDQUOT].contains(sqlite3_system_errno(raw)): throw .full
        case SQLITE_CORRUPT, SQLITE_NOTADB: throw .damaged(path)
        case SQLITE_READONLY:
            throw .readOnly(path, readOnlyReason(path))
        case SQLITE_CANTOPEN, SQLITE_PERM: throw .cannotOpen(path, reason(raw, path))
        case SQLITE_IOERR:
            throw .failed(code: code, message: "\(path): \(String(cString: sqlite3_errmsg(raw)))")
        default: throw .failed(code: code, message: String(cString: sqlite3_errmsg(raw)))
        }
    }
}

/// The errors of database files.
package enum StorageError: Error, Equatable {
    /// The file cannot be opened or created. The values are the path and the reason of the system.
    case cannotOpen(String, String)
    /// The file can be read but not written. The values are the path and the reason of the system.
    case readOnly(String, String)
    /// The disk is full, or the user's quota is used up. Nothing of the transaction was written.
    case full
    /// The file is damaged or not a database.
    case damaged(String)
    /// Another file is at the path than the one whose contents are in use, or one whose contents could not be read before.
    case replaced(String)
    /// A newer version of the program wrote the file. The values are its format and the newest known format.
    case newerVersion(path: String, found: Int, known: Int)
    /// Any other error, with SQLite's extended result code and message.
    case failed(code: Int32, message: String)
}

extension StorageError {
    /// Returns the error of a file that cannot be opened for a reason of the system, a value of `errno`.
    static func cannotOpen(_ path: String, _ code: Int32) -> StorageError {
        .cannotOpen(path, String(cString: strerror(code)))
    }

    /// Returns the error of a file or a folder that cannot be created, of which a full disk is one.
    static func cannotCreate(_ path: String, _ code: Int32) -> StorageError {
        code == ENOSPC || code == EDQUOT ? .full : .cannotOpen(path, code)
    }

    /// True if the contents of the file cause the error, so that a new file helps. Missing tables and columns count,
    /// too.
    var isAboutContents: Bool {
        switch self {
        case .damaged, .newerVersion: true
        case .failed(let code, _): code & 0xff == SQLITE_ERROR
        default: false
        }
    }

    /// True if the file cannot be used, whatever its contents.
    var isAboutFile: Bool {
        switch self {
        case .cannotOpen, .readOnly: true
        case .failed(let code, _): code & 0xff == SQLITE_IOERR
        default: false
        }
    }

    /// Returns the error of a file that cannot be read either, because it has a part of the transaction of a journal.
    func withJournal(_ journal: String) -> StorageError {
        switch self {
        case .cannotOpen(let path, let reason), .readOnly(let path, let reason):
            .cannotOpen(path, "\(reason), and \(journal) must be applied first")
        default: self
        }
    }

    /// The error of a write to a file that is kept in memory because of this error.
    var ofWrite: StorageError {
        if case .cannotOpen(let path, let reason) = self { .readOnly(path, reason) } else { self }
    }
}

extension StorageError: ExplainedError, CustomStringConvertible {
    package var message: Message {
        switch self {
        case .cannotOpen(let path, let reason):
            Message("{file} cannot be opened: {reason}.", ["file": path, "reason": reason])
        case .readOnly(let path, let reason):
            Message("{file} cannot be written: {reason}.", ["file": path, "reason": reason])
        case .full: Message("The disk is full; free some space and try again.")
        case .damaged(let path): Message("{file} is damaged.", ["file": path])
        case .replaced(let path):
            Message(
                "{file} was replaced or can be used now, and Image Feed starts again with it; try again.",
                ["file": path])
        case .newerVersion(let path, let found, let known):
            Message(
                "{file} was written by a newer version of Image Feed (its format is {found}, this version supports up to {known}). Install the newer version again.",
                ["file": path, "found": "\(found)", "known": "\(known)"])
        case .failed(let code, let message):
            Message(
                "The database reported an error: {reason} ({code}).",
                ["reason": message, "code": "\(code)"])
        }
    }
}
