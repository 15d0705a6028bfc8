internal import CSQLite

/// A file whose tables are read as far as possible, without changing it.
struct DamagedDatabase {
    private let database: Database

    /// Reads a file; fails if that is not possible.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - maximumBytes: The size of the largest file that is read.
    init?(_ file: StoreFile, maximumBytes: Int) {
        guard var bytes = file.bytes(maximumBytes: maximumBytes), bytes.count >= Self.pageBytes,
            let database = try? Database(path: ":memory:")
        else { return nil }
        Self.repairHeader(&bytes)
        guard let copy = sqlite3_malloc64(UInt64(bytes.count)) else { return nil }
        copy.copyMemory(from: bytes, byteCount: bytes.count)
        let flags = UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE)
        let code = sqlite3_deserialize(
            database.raw, "main", copy, Int64(bytes.count), Int64(bytes.count), flags)
        // Otherwise one damaged line of the schema would make all tables unreadable.
        guard code == SQLITE_OK, (try? database.execute("PRAGMA writable_schema = ON")) != nil
        else { return nil }
        self.database = database
    }

    private static let pageBytes = 4096

    /// Restores the fields of the header that are equal in all our files or follow from the size.
    ///
    /// Source: sqlite.org/fileformat.html, section 1.3.
    private static func repairHeader(_ bytes: inout [UInt8]) {
        bytes += repeatElement(0, count: -bytes.count & (pageBytes - 1))
        bytes.replaceSubrange(0..<16, with: Array("SQLite format 3\0".utf8))
        // The size of a page, the journal instead of a log, no reserved bytes, and the fractions of payloads.
        bytes.replaceSubrange(16..<24, with: [0x10, 0, 1, 1, 0, 64, 32, 32])
        let pages = UInt32(bytes.count / pageBytes)
        bytes.replaceSubrange(28..<32, with: withUnsafeBytes(of: pages.bigEndian, Array.init))
        // The free pages are not used. The formats of the schema and of texts follow.
        bytes.replaceSubrange(32..<40, with: repeatElement(0, count: 8))
        bytes.replaceSubrange(44..<48, with: [0, 0, 0, 4])
        bytes.replaceSubrange(52..<60, with: [0, 0, 0, 0, 0, 0, 0, 1])
        bytes.replaceSubrange(60..<92, with: repeatElement(0, count: 32))
        bytes.replaceSubrange(92..<96, with: bytes[24..<28])
    }

    /// Copies the rows of all tables into a new database, in the order in which its tables were created.
    ///
    /// - Parameter target: The database with empty tables.
    /// - Returns: The number of rows that were found and not copied.
    /// - Throws: ``StorageError`` of the target.
    func copy(to target: Database) throws(StorageError) -> Int {
        let tables = try target.all(
            """
            SELECT name, sql LIKE '%WITHOUT ROWID%' FROM sqlite_master
            WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'format' ORDER BY rowid
            """
        ) { (name: $0.text(0), hasKey: $0.integer(1) != 0) }
        let numbered = try target.numberedTables()
        // The numbers that were used are not used again, also not for rows whose number is damaged: rows of other tables
        // may refer to them.
        let numbers = try? database.all("SELECT name, seq FROM sqlite_sequence") {
            ($0.text(0), $0.anyInteger(1))
        }
        for (name, number) in numbers ?? []
        where numbered.contains(name) && 0...TableFormat.largestKeptNumber ~= number {
            try target.query(
                "INSERT INTO sqlite_sequence VALUES (?, ?)", [.text(name), .integer(number)])
        }
        var lost = 0
        for table in tables {
            let keys = table.hasKey ? try Self.keys(of: table.name, in: target) : ["rowid"]
            var copy = try DamagedTable(
                table.name, keys, isNumbered: numbered.contains(table.name), from: database,
                to: target)
            lost += try copy?.copy() ?? 0
        }
        return lost
    }

    private static func keys(
        of table: String, in database: Database
    ) throws(StorageError) -> [String] {
        try database.all(
            "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", [.text(table)]
        ) { $0.text(0) }
    }
}
