internal import CSQLite
internal import Glibc

extension Database {
    /// Opens a file with data that cannot be recreated, in a folder that is created if necessary.
    ///
    /// A damaged file is renamed and a new one is created. If the file cannot be written, the result is a copy of it in
    /// memory, or an empty database if it cannot be read; every write to it fails with ``writeError``.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - migrations: The argument of ``migrate(_:)``.
    ///   - read: Reads the values that are needed immediately, so that damage is detected now.
    /// - Returns: The database, the result of `read`, and the new name of a damaged file; nil if it was not damaged.
    /// - Throws: ``StorageError``. A file of a newer version is not changed.
    package static func open<Value>(
        preserving path: String, _ migrations: [String],
        read: (Database) throws(StorageError) -> Value
    ) throws(StorageError) -> (database: Database, value: Value, damaged: String?) {
        do throws(StorageError) {
            try PrivateFolder.create(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
            let (database, value) = try openSound(path, migrations, read)
            return (database, value, nil)
        } catch {
            switch error {
            case .damaged:
                guard let newName = renameDamaged(path) else {
                    return try openCopy(path, error, migrations, read)
                }
                let (database, value) = try openSound(path, migrations, read)
                return (database, value, newName)
            case .cannotOpen(_, let reason), .readOnly(_, let reason):
                return try openCopy(path, .readOnly(path, reason), migrations, read)
            case .full: return try openCopy(path, error, migrations, read)
            case .newerVersion, .failed: throw error
            }
        }
    }

    private static func openSound<Value>(
        _ path: String, _ migrations: [String],
        _ read: (Database) throws(StorageError) -> Value
    ) throws(StorageError) -> (Database, Value) {
        let database = try Database(path: path, durability: .full)
        try database.migrate(migrations)
        return (database, try read(database))
    }

    /// Reads a file that cannot be written into memory.
    private static func openCopy<Value>(
        _ path: String, _ error: StorageError, _ migrations: [String],
        _ read: (Database) throws(StorageError) -> Value
    ) throws(StorageError) -> (database: Database, value: Value, damaged: String?) {
        func open(_ isCopy: Bool) throws(StorageError) -> (Database, Value) {
            let database = try Database(path: ":memory:", durability: .process)
            if isCopy { try database.copy(from: path) }
            try database.migrate(migrations)
            return (database, try read(database))
        }
        var (database, value): (Database, Value)
        do throws(StorageError) {
            (database, value) = try open(true)
        } catch .newerVersion(_, let found, let known) {
            throw .newerVersion(path: path, found: found, known: known)
        } catch {
            (database, value) = try open(false)
        }
        try database.execute("PRAGMA query_only = ON")
        database.readOnlyError = error
        return (database, value, nil)
    }

    /// Renames a damaged file.
    ///
    /// - Returns: The new name; nil if the file cannot be renamed.
    private static func renameDamaged(_ path: String) -> String? {
        for number in 1..<1000 {
            let newName = "\(path).damaged-\(number)"
            guard access(newName, F_OK) != 0 else { continue }
            guard rename(path, newName) == 0 else { return nil }
            // The contents of the log may help to repair the file, and would damage a new one.
            rename("\(path)-wal", "\(newName)-wal")
            unlink("\(path)-shm")
            return newName
        }
        return nil
    }
}

extension Database {
    /// Replaces the contents with those of a file that cannot be written.
    ///
    /// Changes in the write-ahead log are included if the log and its index are readable, as they are after the process
    /// that wrote them was killed.
    ///
    /// - Parameters:
    ///   - path: The file, which no other process may write meanwhile.
    ///   - maximumBytes: The largest accepted size of the file.
    /// - Throws: ``StorageError``; the contents of this database are undefined then.
    ///
    /// The corresponding C functions are `sqlite3_backup_init`, `sqlite3_backup_step` and `sqlite3_backup_finish`.
    package func copy(from path: String, maximumBytes: Int = 32 << 20) throws(StorageError) {
        let source = try ReadOnlyFile(path)
        guard source.bytes <= maximumBytes else { throw .cannotOpen(path, "it is too large") }
        guard let backup = sqlite3_backup_init(raw, "main", source.raw, "main") else {
            throw .failed(code: sqlite3_errcode(raw), message: String(cString: sqlite3_errmsg(raw)))
        }
        sqlite3_backup_step(backup, -1)
        try check(sqlite3_backup_finish(backup))
        let report = try first("PRAGMA quick_check(1)") { $0.text(0) }
        guard report == "ok" else { throw .damaged(path) }
    }
}

/// A database file that is opened for reading.
private struct ReadOnlyFile: ~Copyable {
    let raw: OpaquePointer
    let bytes: Int

    init(_ path: String) throws(StorageError) {
        // Without a log, SQLite reads a file in WAL mode only if the file is declared immutable.
        guard let raw = Self.open(path, "") ?? Self.open(path, "?immutable=1") else {
            throw .cannotOpen(path, "it cannot be read")
        }
        self.raw = raw
        bytes = Self.number("PRAGMA page_count", raw) * Self.number("PRAGMA page_size", raw)
    }

    /// Opens the file and reads its schema; nil if that fails.
    private static func open(_ path: String, _ parameters: String) -> OpaquePointer? {
        var raw: OpaquePointer?
        let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX
        let code = sqlite3_open_v2("file:\(escape(path))\(parameters)", &raw, flags, nil)
        guard code == SQLITE_OK,
            sqlite3_exec(raw, "SELECT 1 FROM sqlite_master", nil, nil, nil) == SQLITE_OK
        else {
            sqlite3_close_v2(raw)
            return nil
        }
        return raw
    }

    deinit { sqlite3_close_v2(raw) }

    private static func number(_ sql: String, _ raw: OpaquePointer) -> Int {
        var statement: OpaquePointer?
        sqlite3_prepare_v2(raw, sql, -1, &statement, nil)
        defer { sqlite3_finalize(statement) }
        return sqlite3_step(statement) == SQLITE_ROW ? Int(sqlite3_column_int64(statement, 0)) : 0
    }

    /// Escapes the characters that end the path of an address, and the escape character.
    ///
    /// Source: sqlite.org/uri.html.
    private static func escape(_ path: String) -> String {
        path.unicodeScalars.map { scalar in
            "%?#".unicodeScalars.contains(scalar)
                ? "%" + String(scalar.value, radix: 16) : String(scalar)
        }.joined()
    }
}
