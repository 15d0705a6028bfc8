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

    private func open() throws -> Database { try Database(path: path, durability: .process) }

    private func count(_ table: String, _ database: Database) throws -> Int64? {
        try database.first("SELECT count(*) FROM \(table)") { $0.integer(0) }
    }

    // MARK: Migrations

    @Test func `a file from a newer version is refused`() throws {
        try open().migrate(["CREATE TABLE a (b)", "CREATE TABLE c (d)"])
        let older = try open()
        #expect(throws: StorageError.newerVersion(path: path, found: 2, known: 1)) {
            try older.migrate(["CREATE TABLE a (b)"])
        }
    }

    @Test func `each step is done once`() throws {
        let steps = ["CREATE TABLE a (b)", "INSERT INTO a VALUES (1)", "INSERT INTO a VALUES (2)"]
        for known in [1, 1, 3, 3] { try open().migrate(Array(steps.prefix(known))) }
        #expect(try count("a", open()) == 2)
    }

    @Test func `a step that fails leaves the file as it was`() throws {
        try open().migrate(["CREATE TABLE a (b)"])
        #expect(throws: StorageError.self) {
            try open().migrate(["CREATE TABLE a (b)", "INSERT INTO a VALUES (1)", "nonsense"])
        }
        let database = try open()
        #expect(try count("a", database) == 0)
        try database.migrate(["CREATE TABLE a (b)", "INSERT INTO a VALUES (7)"])
        #expect(try count("a", database) == 1)
    }

    // MARK: Transactions

    private struct Stop: Error {}

    @Test func `a transaction that fails stores nothing, the ones inside it included`() throws {
        let database = try open()
        try database.migrate(["CREATE TABLE a (b UNIQUE)"])
        #expect(throws: StorageError.self) {
            try database.transaction { () throws(StorageError) in
                try database.transaction { () throws(StorageError) in
                    try database.query("INSERT INTO a VALUES (1)")
                }
                try database.query("INSERT INTO a VALUES (1)")
            }
        }
        #expect(try count("a", database) == 0)
        try database.transaction { () throws(StorageError) in
            try database.query("INSERT INTO a VALUES (1)")
        }
        #expect(try count("a", open()) == 1)
    }

    @Test func `a snapshot stays as it is while another connection writes`() throws {
        let (reader, writer) = (try open(), try open())
        try writer.migrate(["CREATE TABLE a (b)"])
        let counts = try reader.snapshot { () throws(StorageError) -> [Int64?] in
            let before = try reader.first("SELECT count(*) FROM a") { $0.integer(0) }
            try writer.query("INSERT INTO a VALUES (1)")
            return [before, try reader.first("SELECT count(*) FROM a") { $0.integer(0) }]
        }
        #expect(counts == [0, 0])
        #expect(try count("a", reader) == 1)
    }

    // MARK: Values

    @Test(arguments: [
        "", "a\0b", "👩‍👩‍👧‍👦", "'; DROP TABLE a; --", String(repeating: "x", count: 100_000),
    ])
    func `a text comes back as it was`(text: String) throws {
        let database = try open()
        try database.migrate(["CREATE TABLE a (b TEXT NOT NULL)"])
        try database.query("INSERT INTO a VALUES (?)", [.text(text)])
        #expect(
            try database.first("SELECT b FROM a WHERE b = ?", [.text(text)]) { $0.text(0) } == text)
    }

    @Test(arguments: [[], [0], [0xff, 0, 0xfe], [UInt8](repeating: 7, count: 100_000)])
    func `bytes come back as they were`(bytes: [UInt8]) throws {
        let database = try open()
        try database.migrate(["CREATE TABLE a (b BLOB NOT NULL)"])
        try database.query("INSERT INTO a VALUES (?)", [.blob(bytes)])
        #expect(try database.first("SELECT b FROM a") { $0.blob(0) } == bytes)
    }

    @Test func `NULL is told from nothing`() throws {
        let database = try open()
        let found = try database.first("SELECT ?, ?, ?", [nil, "", 0]) { row in
            [row.isNull(0), row.isNull(1), row.isNull(2), row.text(0).isEmpty, row.blob(0).isEmpty]
        }
        #expect(found == [true, false, false, true, true])
    }

    @Test func `integers keep their 64 bits`() throws {
        let database = try open()
        for value in [Int64.min, -1, 0, .max] {
            #expect(try database.first("SELECT ?", [.integer(value)]) { $0.integer(0) } == value)
        }
    }

    // MARK: Failures

    @Test func `garbage is a damaged file`() throws {
        try folder.write("no database at all, for sure", to: "a.sqlite")
        #expect(throws: StorageError.damaged(path)) { try open() }
    }

    @Test func `what must not be lost is kept when it is damaged`() throws {
        func openKeeping() throws -> String? {
            try Database.open(keeping: path, ["CREATE TABLE a (b)"]) { (_) throws(StorageError) in
            }.damaged
        }
        #expect(try openKeeping() == nil)
        #expect(try openKeeping() == nil)
        for number in 1...2 {
            try folder.write("garbage \(number), and no database at all", to: "a.sqlite")
            let kept = try #require(try openKeeping())
            #expect(kept == "\(path).damaged-\(number)")
            #expect(folder.has("a.sqlite.damaged-\(number)"))
        }
        #expect(try openKeeping() == nil)
    }

    @Test func `what a newer version wrote is not set aside`() throws {
        try open().execute("PRAGMA user_version = 2")
        #expect(throws: StorageError.newerVersion(path: path, found: 2, known: 1)) {
            _ = try Database.open(keeping: path, ["CREATE TABLE a (b)"]) {
                (_) throws(StorageError) in
            }
        }
    }

    @Test func `a folder that is not there cannot be opened`() {
        #expect {
            try Database(path: folder.appending("none/a.sqlite"), durability: .full)
        } throws: { error in
            if case StorageError.cannotOpen = error { true } else { false }
        }
    }

    @Test func `a full file says so, stores nothing, and goes on`() throws {
        let database = try open()
        try database.migrate(["CREATE TABLE a (b)"])
        // What SQLite answers is what it answers for a full disk.
        try database.execute("PRAGMA max_page_count = 8")
        #expect(throws: StorageError.full) {
            try database.transaction { () throws(StorageError) in
                for _ in 0..<100 {
                    try database.query(
                        "INSERT INTO a VALUES (?)", [.blob([UInt8](repeating: 1, count: 4000))])
                }
            }
        }
        #expect(try count("a", database) == 0)
        try database.query("INSERT INTO a VALUES (1)")
        #expect(try count("a", database) == 1)
    }
}
