/// The tables of one module in a store, and the version of their format.
package struct TableFormat: Sendable {
    /// The name of the module, for example `accounts`.
    package let name: String
    /// The version, from 1.
    package let version: Int
    /// One `CREATE` for each table, index and trigger of the version.
    package let sql: String
    /// The changes from each version to the next, beginning with version 1. A file of a version without a step is
    /// copied table by table, like a damaged one.
    package let steps: [String]

    /// The largest number of a row that a table numbers itself.
    package static let largestNumber: Int64 = 1 << 48
    /// The largest such number of an undamaged file, so that enough remain for new rows.
    static let largestSoundNumber = largestNumber / 2
    /// The largest such number that is kept after damage, so that the new file is undamaged for long.
    package static let largestKeptNumber = largestNumber / 4

    package init(_ name: String, version: Int = 1, sql: String, steps: [String] = []) {
        self.name = name
        self.version = version
        self.sql = sql
        self.steps = steps
    }
}

extension Database {
    /// Opens a database in memory with the tables of formats.
    package static func inMemory(_ formats: [TableFormat]) throws(StorageError) -> Database {
        let database = try Database(path: ":memory:")
        try database.prepare(formats)
        return database
    }

    /// Creates the missing tables of formats, and changes older ones.
    ///
    /// - Parameter formats: The formats. Those of other modules in the file are ignored.
    /// - Throws: ``StorageError/newerVersion(path:found:known:)``; ``StorageError/damaged(_:)`` if a table is missing or
    ///   has other columns, and for a file of another program.
    package func prepare(_ formats: [TableFormat]) throws(StorageError) {
        let known = try versions()
        if formats.contains(where: { known?[$0.name] != $0.version }) {
            try transaction { () throws(StorageError) in
                if known == nil { try execute(Self.formatTable) }
                for format in formats { try upgrade(format, from: known?[format.name]) }
            }
        }
        if path != ":memory:" { try checkLayout(formats) }
    }

    /// Opens a copy of a file in memory.
    ///
    /// - Throws: ``StorageError`` if the file cannot be read or has a problem of any kind.
    static func inMemory(copyOf path: String, _ formats: [TableFormat]) throws(StorageError)
        -> Database
    {
        let database = try Database(path: ":memory:")
        try database.load(path)
        try database.verify()
        try database.prepare(formats)
        try database.checkLayout(formats)
        return database
    }

    private func checkLayout(_ formats: [TableFormat]) throws(StorageError) {
        // A file has the text of each CREATE. To create tables for a comparison takes longer than all other steps of opening
        // a file; this is only necessary if a step has changed a table.
        let isUnchanged = try exists(
            """
            SELECT 1 WHERE (length(?1) - length(replace(?1, 'CREATE ', ''))) / 7
                = (SELECT count(*) FROM sqlite_master WHERE instr(?1, sql))
            """, [.text(formats.map(\.sql).joined())])
        guard !isUnchanged else { return }
        let expected = try Self.inMemory(formats).layout()
        guard try expected.isSubset(of: layout()) else { throw .damaged(path) }
    }

    private static let formatTable = """
        CREATE TABLE format (name TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID
        """

    /// Returns the version of each format in the file; nil for an empty file.
    private func versions() throws(StorageError) -> [String: Int]? {
        guard try exists("SELECT 1 FROM sqlite_master WHERE name = 'format'") else {
            guard try !exists("SELECT 1 FROM sqlite_master") else { throw .damaged(path) }
            return nil
        }
        let rows = try all("SELECT name, version FROM format") { ($0.text(0), Int($0.integer(1))) }
        return Dictionary(rows) { $1 }
    }

    private func upgrade(_ format: TableFormat, from version: Int?) throws(StorageError) {
        if let version {
            guard version <= format.version else {
                throw .newerVersion(path: path, found: version, known: format.version)
            }
            guard version > 0, format.version - version <= format.steps.count else {
                throw .damaged(path)
            }
            let count = format.version - version
            for step in format.steps.suffix(count) { try execute(step) }
        } else {
            try execute(format.sql)
        }
        try query(
            "INSERT OR REPLACE INTO format VALUES (?, ?)",
            [.text(format.name), .integer(format.version)])
    }

    /// Returns a line for each column, index and trigger.
    private func layout() throws(StorageError) -> Set<String> {
        Set(
            try all(
                """
                SELECT t.name || '.' || c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || c.pk
                FROM sqlite_master AS t, pragma_table_xinfo(t.name) AS c WHERE t.type = 'table'
                UNION ALL SELECT type || ' ' || name || ' ' || tbl_name FROM sqlite_master
                """
            ) { $0.text(0) })
    }

    /// Checks the structure of the file, the constraints of all values, the references between tables, and that numbers
    /// remain for new rows.
    ///
    /// - Throws: ``StorageError/damaged(_:)``.
    func verify() throws(StorageError) {
        guard try first("PRAGMA integrity_check(1)", [], { $0.text(0) }) == "ok",
            try !exists("PRAGMA foreign_key_check"), try !hasUsedAllNumbers()
        else { throw .damaged(path) }
    }

    /// Returns true if too few numbers remain for new rows.
    func hasUsedAllNumbers() throws(StorageError) -> Bool {
        let limit = [SQLValue.integer(TableFormat.largestSoundNumber)]
        for table in try numberedTables()
        where try exists("SELECT 1 FROM \"\(table)\" WHERE rowid > ?", limit) {
            return true
        }
        guard try exists("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'") else {
            return false
        }
        return try exists("SELECT 1 FROM sqlite_sequence WHERE seq > ?", limit)
    }

    /// Returns the names of the tables that number new rows themselves.
    func numberedTables() throws(StorageError) -> [String] {
        try all(
            """
            SELECT name FROM sqlite_master WHERE type = 'table'
                AND (sql LIKE '%AUTOINCREMENT%' OR sql LIKE '%\(TableFormat.largestNumber)%')
            """
        ) { $0.text(0) }
    }
}
