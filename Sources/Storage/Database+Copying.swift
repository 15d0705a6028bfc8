internal import CSQLite

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

    /// Escapes all bytes except letters, digits, `/` and `.`.
    ///
    /// Source: sqlite.org/uri.html.
    private static func escape(_ path: String) -> String {
        path.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."):
                String(Unicode.Scalar(byte))
            default: (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
            }
        }.joined()
    }
}
