import Storage
import TestSupport
import Testing

@Suite struct DatabaseTests {
    private let folder: TemporaryDirectory
    private let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.appending("a.sqlite")
    }

    private func open() throws -> Database { try Database(path: path) }

    // MARK: Transactions

    @Test func `a failed transaction stores nothing, including nested transactions`() throws {
        let database = try open()
        try database.execute("CREATE TABLE a (b UNIQUE)")
        #expect(throws: StorageError.self) {
            try database.transaction { () throws(StorageError) in
                try database.transaction { () throws(StorageError) in
                    try database.query("INSERT INTO a VALUES (1)")
                }
                try database.query("INSERT INTO a VALUES (1)")
            }
        }
        #expect(try database.count("a") == 0)
        try database.transaction { () throws(StorageError) in
            try database.query("INSERT INTO a VALUES (1)")
        }
        #expect(try open().count("a") == 1)
    }

    @Test func `a snapshot does not see writes of other connections`() throws {
        let (reader, writer) = (try open(), try open())
        try writer.execute("CREATE TABLE a (b)")
        let counts = try reader.snapshot { () throws(StorageError) -> [Int64?] in
            let before = try reader.integer("SELECT count(*) FROM a")
            try writer.query("INSERT INTO a VALUES (1)")
            return [before, try reader.integer("SELECT count(*) FROM a")]
        }
        #expect(counts == [0, 0])
        #expect(try reader.count("a") == 1)
    }

    // MARK: Values

    @Test(arguments: [
        "", "a\0b", "👩‍👩‍👧‍👦", "'; DROP TABLE a; --", String(repeating: "x", count: 100_000),
    ])
    func `text survives a round trip`(text: String) throws {
        let database = try open()
        try database.execute("CREATE TABLE a (b TEXT NOT NULL)")
        try database.query("INSERT INTO a VALUES (?)", [.text(text)])
        // No client could read a text with a NUL on the bus.
        #expect(
            try database.first("SELECT b FROM a WHERE b = ?", [.text(text)]) { $0.text(0) }
                == text.replacing("\0", with: ""))
    }

    @Test(arguments: [[], [0], [0xff, 0, 0xfe], [UInt8](repeating: 7, count: 100_000)])
    func `bytes survive a round trip`(bytes: [UInt8]) throws {
        let database = try open()
        try database.execute("CREATE TABLE a (b BLOB NOT NULL)")
        try database.query("INSERT INTO a VALUES (?)", [.blob(bytes)])
        #expect(try database.first("SELECT b FROM a") { $0.blob(0) } == bytes)
    }

    @Test func `NULL differs from empty values`() throws {
        let database = try open()
        let found = try database.first("SELECT ?, ?, ?", [.null, .text(""), .integer(0)]) { row in
            [row.isNull(0), row.isNull(1), row.isNull(2), row.text(0).isEmpty, row.blob(0).isEmpty]
        }
        #expect(found == [true, false, false, true, true])
    }

    @Test func `integers have 64 bits`() throws {
        let database = try open()
        for value in [Int64.min, -1, 0, .max] {
            #expect(try database.first("SELECT ?", [.integer(value)]) { $0.anyInteger(0) } == value)
        }
    }

    // MARK: Failures

    @Test func `a file that is not a database is reported as damaged`() throws {
        try folder.write("no database at all, for sure", to: "a.sqlite")
        #expect(throws: StorageError.damaged(path)) { try open() }
    }

    @Test func `opening a file in a missing folder fails`() {
        #expect {
            try Database(path: folder.appending("none/a.sqlite"), isDurable: true)
        } throws: { error in
            if case StorageError.cannotOpen = error { true } else { false }
        }
    }

    @Test func `a transaction on a full disk fails, stores nothing, and can be followed by others`()
        throws
    {
        let database = try open()
        try database.execute("CREATE TABLE a (b)")
        // SQLite returns the same error as for a full disk.
        try database.execute("PRAGMA max_page_count = 8")
        #expect(throws: StorageError.full) {
            try database.transaction { () throws(StorageError) in
                for _ in 0..<100 {
                    try database.query(
                        "INSERT INTO a VALUES (?)", [.blob([UInt8](repeating: 1, count: 4000))])
                }
            }
        }
        #expect(try database.count("a") == 0)
        try database.query("INSERT INTO a VALUES (1)")
        #expect(try database.count("a") == 1)
    }
}
