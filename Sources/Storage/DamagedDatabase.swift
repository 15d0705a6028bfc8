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
            let database = try? Database(path: ":memory:", durability: .process)
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
    /// - Returns: The number of rows that could be read and do not fit into the tables.
    /// - Throws: ``StorageError`` of the target.
    func copy(to target: Database) throws(StorageError) -> Int {
        let tables = try target.all(
            """
            SELECT name, sql LIKE '%WITHOUT ROWID%' FROM sqlite_master
            WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'format' ORDER BY rowid
            """
        ) { (name: $0.text(0), hasKey: $0.integer(1) != 0) }
        var rejected = 0
        for table in tables {
            let keys = table.hasKey ? try Self.keys(of: table.name, in: target) : ["rowid"]
            guard let copy = try TableCopy(table.name, keys, from: database, to: target) else {
                continue
            }
            rejected += try copy.run()
        }
        // The numbers that were used are not used again.
        let numbers = try? database.all("SELECT name, seq FROM sqlite_sequence") {
            ($0.text(0), $0.integer(1))
        }
        for (name, number) in numbers ?? [] {
            try target.query(
                "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?",
                [.integer(number), .text(name)])
        }
        return rejected
    }

    private static func keys(
        of table: String, in database: Database
    ) throws(StorageError) -> [String] {
        try database.all(
            "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", [.text(table)]
        ) { $0.text(0) }
    }
}

/// The copy of one table of a damaged database.
private struct TableCopy {
    private let source: Database
    private let target: Database
    private let table: String
    /// The columns by which the rows of the table are ordered in the file.
    private let keys: [String]
    private let columns: [(source: String, target: String)]

    /// The largest number of ranges of rows that are read between damaged pages.
    private static let maximumRanges = 1000

    /// Finds the columns; fails if the source does not have the table.
    init?(
        _ table: String, _ keys: [String], from source: Database, to target: Database
    ) throws(StorageError) {
        func names(_ database: Database) throws(StorageError) -> [String] {
            try database.all(
                "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", [.text(table)]
            ) { $0.text(0) }
        }
        guard let old = try? names(source), !old.isEmpty else { return nil }
        let new = try names(target)
        columns = new.indices.compactMap { index in
            if old.contains(new[index]) { return (new[index], new[index]) }
            // The name of the column is damaged.
            guard old.count == new.count, !new.contains(old[index]) else { return nil }
            return (old[index], new[index])
        }
        (self.source, self.target, self.table, self.keys) = (source, target, table, keys)
    }

    private var hasNumbers: Bool { keys == ["rowid"] }

    /// Copies the rows from both ends up to the first damaged page. In a table with numbered rows, the ranges between
    /// damaged pages follow.
    ///
    /// - Returns: The number of rows that the target rejects.
    func run() throws(StorageError) -> Int {
        var rejected = 0
        var ranges = [(low: Int64.min, high: Int64.max)]
        var next = 0
        while next < min(ranges.count, Self.maximumRanges) {
            var (low, high) = ranges[next]
            next += 1
            if try copy("ASC", &low, &high, &rejected) { continue }
            // Without numbers, the rows that are copied already are rejected.
            var more = 0
            let isComplete = try copy("DESC", &low, &high, &more)
            guard hasNumbers else { continue }
            rejected += more
            if isComplete { continue }
            let middle = low / 2 + high / 2
            if low < middle, middle < high { ranges += [(low, middle + 1), (middle, high)] }
        }
        return rejected
    }

    /// Copies the rows between two numbers until one cannot be read.
    ///
    /// - Returns: False if a row could not be read; then the range is smaller.
    private func copy(
        _ order: String, _ low: inout Int64, _ high: inout Int64, _ rejected: inout Int
    ) throws(StorageError) -> Bool {
        func quoted(_ names: [String]) -> String {
            names.map { $0 == "rowid" ? $0 : "\"\($0)\"" }.joined(separator: ", ")
        }
        let number = hasNumbers ? ["rowid"] : []
        let sorting = keys.map { "\(quoted([$0])) \(order)" }.joined(separator: ", ")
        let select = """
            SELECT \(quoted(number + columns.map(\.source))) FROM "\(table)"
            \(hasNumbers ? "WHERE rowid > ? AND rowid < ?" : "") ORDER BY \(sorting)
            """
        let names = number + columns.map(\.target)
        let insert = """
            INSERT OR IGNORE INTO "\(table)" (\(quoted(names)))
            VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
            """
        var last: Int64?
        var failure: StorageError?
        do throws(StorageError) {
            try source.query(select, hasNumbers ? [.integer(low), .integer(high)] : []) {
                row throws(StorageError) in
                last = row.integer(0)
                let values = names.indices.map { row.value(Int32($0)) }
                do throws(StorageError) {
                    try target.query(insert, values)
                    if target.changedRows == 0 { rejected += 1 }
                } catch .failed(let code, _) where code & 0xff == SQLITE_CONSTRAINT {
                    rejected += 1
                } catch {
                    failure = error
                    throw error
                }
            }
            return true
        } catch {
            if let failure { throw failure }
            if let last, order == "ASC" { low = last } else if let last { high = last }
            return false
        }
    }
}
