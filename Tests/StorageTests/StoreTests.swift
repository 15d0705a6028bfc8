import Dispatch
import FoundationEssentials
import Glibc
import Logging
import Storage
import Synchronization
import TestSupport
import Testing
import Translation

/// The tables of two modules, one of which refers to the other.
let testFormats = [
    TableFormat(
        "accounts",
        sql: """
            CREATE TABLE account (
                position INTEGER PRIMARY KEY,
                id TEXT NOT NULL UNIQUE,
                is_logged_in INTEGER NOT NULL CHECK (is_logged_in IN (0, 1))
            );
            CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
            """),
    TableFormat(
        "likes",
        sql: """
            CREATE TABLE liked (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
                photo TEXT NOT NULL,
                UNIQUE (account, photo)
            );
            """),
]

extension Database {
    func add(account: String) throws(StorageError) {
        try query("INSERT INTO account (id, is_logged_in) VALUES (?, 1)", [.text(account)])
    }

    func add(photos: Range<Int>, of account: String) throws(StorageError) {
        try transaction { () throws(StorageError) in
            for photo in photos {
                try query(
                    "INSERT INTO liked (account, photo) VALUES (?, ?)",
                    [.text(account), .text("photo \(photo)")])
            }
        }
    }

    func count(_ table: String) throws(StorageError) -> Int {
        Int(try integer("SELECT count(*) FROM \(table)") ?? 0)
    }
}

extension Store {
    func add(account: String) throws { try runAndWait { try $0.add(account: account) } }

    func add(photos: Range<Int>, of account: String) throws {
        try runAndWait { try $0.add(photos: photos, of: account) }
    }

    func count(_ table: String) throws -> Int { try runAndWait { try $0.count(table) } }

    /// The notices in English.
    var sentences: [String] { notices.map(\.english) }
}

@Suite struct StoreTests {
    private let folder: TemporaryDirectory
    private let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.appending("data/data.sqlite")
    }

    private func durable(
        _ formats: [TableFormat] = testFormats, onNotices: @escaping @Sendable () -> Void = {},
        onReplaced: @escaping @Sendable () -> Void = {}
    ) -> Store { Store(path, .durable, formats, onNotices: onNotices, onReplaced: onReplaced) }

    private func disposable(hasReader: Bool = false) -> Store {
        Store(path, .disposable, testFormats, hasReader: hasReader)
    }

    private var damaged: StorageError { .damaged(path) }

    private var names: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: folder.appending("data")).sorted()
        }
    }

    /// Stores an account with likes, and closes the file.
    private func fill(_ store: Store, photos: Int = 3) throws {
        try store.runAndWait { database in
            try database.add(account: "a")
            try database.add(photos: 0..<photos, of: "a")
        }
        store.close()
    }

    private func write(_ bytes: [UInt8], at offset: Int) {
        let file = open(path, O_WRONLY)
        defer { close(file) }
        #expect(pwrite(file, bytes, bytes.count, off_t(offset)) == bytes.count)
    }

    /// Makes the path a link to an empty file elsewhere.
    private func link() throws {
        mkdir(folder.appending("data"), 0o700)
        symlink(folder.appending("other.sqlite"), path)
        try folder.write("", to: "other.sqlite")
    }

    private func edit(_ sql: String) throws {
        let database = try Database(path: path, isDurable: true)
        try database.execute("PRAGMA foreign_keys = OFF")
        try database.execute(sql)
    }

    // MARK: Formats

    @Test func `a format of an earlier version is changed step by step`() throws {
        try durable([TableFormat("a", sql: "CREATE TABLE a (b)")]).runAndWait {
            try $0.query("INSERT INTO a VALUES (1)")
        }
        let newer = TableFormat(
            "a", version: 3, sql: "CREATE TABLE a (b, c, d)",
            steps: ["ALTER TABLE a ADD COLUMN c DEFAULT 2", "ALTER TABLE a ADD COLUMN d DEFAULT 3"])
        for _ in 0..<2 {
            let store = durable([newer])
            let values = try store.runAndWait { database in
                try database.all("SELECT b, c, d FROM a") { row in (0..<3).map { row.integer($0) } }
            }
            #expect(values == [[1, 2, 3]])
            #expect(store.notices.isEmpty)
        }
    }

    @Test func `another module adds its tables to a file`() throws {
        try fill(durable())
        let added = durable(testFormats + [TableFormat("b", sql: "CREATE TABLE b (c)")])
        #expect(try added.runAndWait { try $0.count("b") + $0.count("account") } == 1)
        // The tables of the other module remain.
        #expect(try (durable().count("account"), names) == (1, ["data.sqlite"]))
    }

    @Test func `a file of a newer version is set aside`() throws {
        try fill(durable())
        try edit("UPDATE format SET version = 2 WHERE name = 'likes'")
        let store = durable()
        #expect(try (store.count("account"), names) == (0, ["data.sqlite", "data.sqlite.newer-1"]))
        let notice =
            "\(path) was written by a newer version of Image Feed; it was renamed to \(path).newer-1, and a new file was created."
        #expect(store.sentences == [notice])
    }

    // MARK: Damage

    @Test(arguments: [
        "UPDATE format SET version = 0", "DELETE FROM format WHERE name = 'likes'",
        "DROP TABLE format",
        "PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = replace(sql, 'is_logged_in', 'is_logged_iN_')",
        "PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = 'CREATE TABLE setting (key' WHERE name = 'setting'",
        "PRAGMA ignore_check_constraints = 1; UPDATE setting SET value = 5; UPDATE account SET is_logged_in = 7",
        "ALTER TABLE setting RENAME TO settinh",
        "INSERT INTO liked (account, photo) VALUES ('nobody', 'x')",
    ])
    func `the tables of a damaged file are copied`(damage: String) throws {
        try fill(durable())
        try edit(damage)
        let changes = Atomic(0)
        let store = durable { changes.add(1, ordering: .relaxed) }
        #expect(try [store.count("account"), store.count("liked")] == [1, 3])
        if damage.hasSuffix("is_logged_in = 7") {
            let flag = "SELECT is_logged_in FROM account"
            #expect(try store.runAndWait { try $0.integer(flag) } == 1)
        }
        #expect(try names == ["data.sqlite", "data.sqlite.damaged-1"])
        #expect(store.notices.count == 1 && changes.load(ordering: .relaxed) == 1)
        store.close()
        let again = durable()
        #expect(try (again.count("liked"), again.sentences) == (3, []))
    }

    @Test func `the header of a file is restored`() throws {
        try fill(durable())
        write([UInt8](repeating: 0xa5, count: 100), at: 0)
        #expect(try durable().count("liked") == 3)
    }

    @Test func `rows between damaged pages are copied`() throws {
        try fill(durable(), photos: 20_000)
        let pages = try #require(
            try Database(path: path, isDurable: true).integer("PRAGMA page_count"))
        for page in stride(from: 20, to: Int(pages), by: 40) {
            write([UInt8](repeating: 0, count: 4096), at: page * 4096)
        }
        let store = durable()
        let (count, last) = try store.runAndWait { database in
            (try database.count("liked"), try database.integer("SELECT max(number) FROM liked"))
        }
        // About every fortieth page is missing.
        #expect(18_500..<20_000 ~= count)
        #expect(last == 20_000)
    }

    @Test func `rows between damaged rows of a table without numbers are copied`() throws {
        let store = durable()
        try store.runAndWait { database in
            try database.transaction { () throws(StorageError) in
                for number in 1000..<1600 {
                    try database.query(
                        "INSERT INTO setting VALUES (?, 'x')", [.text("key \(number)")])
                }
            }
        }
        store.close()
        let bytes = try Data(contentsOf: URL(filePath: path))
        for number in [1030, 1031, 1570, 1599] {
            let key = try #require(bytes.firstRange(of: Data("key \(number)".utf8)))
            // The first byte of a row is the size of its header, which has one byte for each column.
            write([0x43], at: key.lowerBound - 3)
        }
        #expect(try durable().count("setting") == 596)
    }

    @Test(arguments: [0, 2])
    func `numbers of deleted rows are not used again in a copy`(remaining: Int) throws {
        let store = durable()
        try store.runAndWait { database in
            try database.add(account: "a")
            try database.add(photos: 0..<9, of: "a")
            try database.query("DELETE FROM liked WHERE number > ?", [.integer(remaining)])
        }
        store.close()
        try edit("UPDATE format SET version = 0")
        try durable().runAndWait { database in
            try database.add(photos: 20..<21, of: "a")
            #expect(try database.integer("SELECT max(number) FROM liked") == 10)
        }
    }

    @Test func `a row with a new number gets no rows that refer to a lost row`() throws {
        let users = TableFormat(
            "users",
            sql: """
                CREATE TABLE user (number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL);
                CREATE TABLE mark (
                    user INTEGER NOT NULL REFERENCES user (number), photo TEXT NOT NULL
                );
                """)
        let store = durable([users])
        try store.runAndWait { database in
            try database.execute("INSERT INTO user (name) VALUES ('a'), ('b'), ('c')")
            try database.execute("INSERT INTO mark VALUES (1, 'x'), (2, 'y')")
        }
        store.close()
        try edit(
            "DELETE FROM user WHERE name = 'b'; UPDATE user SET number = 1 << 60 WHERE name = 'c'")
        let marks = try durable([users]).runAndWait { database in
            try database.all(
                "SELECT name, photo FROM user LEFT JOIN mark ON user = number ORDER BY name"
            ) { [$0.text(0), $0.text(1)] }
        }
        #expect(marks == [["a", "x"], ["c", ""]])
    }

    @Test(arguments: [
        "UPDATE sqlite_sequence SET seq = 9223372036854775807",
        "UPDATE liked SET number = 1 << 60 WHERE number = 3; UPDATE format SET version = 0",
        "UPDATE liked SET number = 1 << 48 WHERE number = 3",
    ])
    func `a damaged number leaves numbers for new rows`(damage: String) throws {
        try fill(durable())
        try edit(damage)
        let store = durable()
        try store.add(photos: 9..<10, of: "a")
        let numbers = try store.runAndWait { database in
            try database.all("SELECT number FROM liked ORDER BY number") { $0.integer(0) }
        }
        // The numbers that were used are not used again.
        #expect(numbers.count == 4 && numbers.allSatisfy { $0 < 6 })
    }

    @Test func `damage that a task finds is repaired, and the task runs again`() throws {
        let store = durable()
        try store.add(account: "a")
        write([UInt8](repeating: 0xa5, count: 40), at: 0)
        try store.add(account: "b")
        #expect(try store.count("account") == 2)
        #expect(try names.contains("data.sqlite.damaged-1"))
    }

    @Test func `an empty file beside a journal is damaged, and alone it is new`() throws {
        try folder.write("", to: "data/data.sqlite")
        #expect(try (durable().count("account"), names) == (0, ["data.sqlite"]))
        truncate(path, 0)
        try folder.write("journal", to: "data/data.sqlite-journal")
        #expect(try durable().count("account") == 0)
        #expect(
            try names == ["data.sqlite", "data.sqlite.damaged-1", "data.sqlite.damaged-1-journal"])
    }

    @Test func `a journal that is set aside without a file is named`() throws {
        try fill(durable())
        unlink(path)
        try folder.write("journal", to: "data/data.sqlite-journal")
        let store = durable()
        #expect(try store.count("account") == 0)
        #expect(try names == ["data.sqlite", "data.sqlite.damaged-1-journal"])
        let notice =
            "\(path)-journal was damaged; it was renamed to \(path).damaged-1-journal, and what could be read was taken over."
        #expect(store.sentences == [notice])
    }

    @Test(arguments: [off_t(1), 99])
    func `a file without a complete header is damaged`(bytes: off_t) throws {
        try fill(durable())
        truncate(path, bytes)
        let store = durable()
        #expect(try store.count("account") == 0)
        #expect(try names == ["data.sqlite", "data.sqlite.damaged-1"])
        #expect(store.notices.count == 1)
    }

    @Test func `a disposable file is created again after any damage`() throws {
        for damage in ["garbage that is no database", ""] {
            try fill(disposable())
            try folder.write(damage, to: "data/data.sqlite")
            let store = disposable()
            #expect(try (store.count("account"), store.sentences) == (0, []))
            store.close()
            #expect(try names == ["data.sqlite"])
        }
        for damage in [
            "DROP TABLE liked", "UPDATE format SET version = \(Int64.min)",
            "UPDATE format SET version = \(Int64.max)",
            "UPDATE sqlite_sequence SET seq = \(Int64.max)",
        ] {
            try fill(disposable())
            try edit(damage)
            try disposable().runAndWait { database in
                #expect(try database.count("account") == 0)
                try database.add(account: "b")
                try database.add(photos: 0..<3, of: "b")
            }
        }
    }

    @Test(.enabled(if: geteuid() == 0, "mounting takes root"))
    func `a disposable file on a full disk is read into memory and stays`() throws {
        try fill(disposable())
        let copy = folder.appending("copy.sqlite")
        #expect(rename(path, copy) == 0)
        let disk = folder.appending("data")
        try #require(mount("none", disk, "tmpfs", 0, "size=256k,mode=700") == 0)
        defer { umount2(disk, Int32(MNT_DETACH)) }
        try FileManager.default.copyItem(atPath: copy, toPath: path)
        let filling = creat("\(disk)/filling", 0o600)
        let block = [UInt8](repeating: 0, count: 4096)
        while Glibc.write(filling, block, block.count) > 0 {}
        close(filling)
        let store = disposable(hasReader: true)
        #expect(try store.count("liked") == 3)
        try store.add(account: "b")
        store.close()
        unlink("\(disk)/filling")
        #expect(try disposable(hasReader: true).count("liked") == 3)
    }

    @Test(arguments: [Int64.min, .max])
    func `a number that is too large for calculations is damage of a disposable file`(
        number: Int64
    ) throws {
        let positions = "SELECT position FROM account WHERE id <> ''"
        for isDurable in [false, true] {
            let store = isDurable ? durable() : disposable()
            try fill(store)
            try store.runAndWait { try $0.query("UPDATE account SET position = \(number)") }
            if isDurable {
                let found = try store.runAndWait { try $0.integer(positions) ?? 0 }
                #expect(found != 0 && (found - 1) + 1 == found)
            } else {
                #expect(throws: damaged) { try store.runAndWait { try $0.integer(positions) } }
                #expect(try store.count("account") == 0)
            }
            store.close()
            unlink(path)
        }
    }

    @Test func `a part of a new file that an ended process wrote is deleted`() throws {
        try fill(durable())
        try folder.write("a part", to: "data/data.sqlite.new")
        try folder.write("a part", to: "data/data.sqlite.new-journal")
        try durable().runAndWait { _ in }
        #expect(try names == ["data.sqlite"])
    }

    @Test(arguments: [false, true])
    func `a task learns that a disposable file was replaced`(hasReader: Bool) async throws {
        let store = disposable(hasReader: hasReader)
        try await store.run { try $0.add(account: "a") }
        #expect(try await store.read { try $0.count("account") } == 1)
        try FileManager.default.removeItem(atPath: folder.appending("data"))
        await #expect(throws: damaged) { try await store.run { try $0.count("account") } }
        #expect(try await store.read { try $0.count("account") } == 0)
        try await store.run { try $0.execute("DROP TABLE liked") }
        await #expect(throws: damaged) { try await store.run { try $0.count("liked") } }
        #expect(try await store.read { try $0.count("liked") } == 0)
    }

    @Test(arguments: [false, true])
    func `a disposable file is created again at the path if a link there was removed`(
        hasReader: Bool
    ) async throws {
        try fill(disposable())
        #expect(rename(path, folder.appending("other.sqlite")) == 0)
        symlink(folder.appending("other.sqlite"), path)
        let store = disposable(hasReader: hasReader)
        #expect(try await store.run { try $0.count("account") } == 1)
        unlink(path)
        await #expect(throws: damaged) { try await store.run { try $0.count("account") } }
        try await store.run { try $0.add(account: "b") }
        #expect(try names.contains("data.sqlite"))
    }

    // MARK: Files that are not databases

    enum Alien: CaseIterable { case fifo, folder, deadLink, link, unreadable, foreign, protected }

    private func replaceFile(by alien: Alien) throws {
        if [.fifo, .folder, .deadLink, .link].contains(alien) { unlink(path) }
        switch alien {
        case .unreadable: chmod(path, 0o200)
        case .protected: chmod(path, 0o400)
        case .foreign: try #require(chown(path, 12_345, 12_345) == 0)
        case .fifo: mkfifo(path, 0o600)
        case .folder: mkdir(path, 0o700)
        case .deadLink: symlink("/nowhere/else", path)
        case .link:
            mkfifo(folder.appending("fifo"), 0o600)
            symlink(folder.appending("fifo"), path)
        }
    }

    @Test(.enabled(if: geteuid() == 0), arguments: Alien.allCases)
    func `a file that cannot be used is read-only with a reason and stays`(alien: Alien) throws {
        try fill(durable())
        try replaceFile(by: alien)
        let store = durable()
        let isReadable = alien == .foreign || alien == .protected
        #expect(try store.count("liked") == (isReadable ? 3 : 0))
        #expect(store.sentences.first?.contains("data.sqlite") == true)
        let error = #expect(throws: StorageError.self) { try store.add(account: "b") }
        let isReadOnly = if case .readOnly = error { true } else { false }
        #expect(isReadOnly, "\(String(describing: error))")
        #expect(try names == ["data.sqlite"])
        store.close()
        let cache = disposable()
        try cache.add(account: "c")
        #expect(FileManager.default.fileExists(atPath: path))
        #expect(alien != .link || folder.has("fifo"))
    }

    @Test func `a read-only file with a part of a transaction is not read`() throws {
        try fill(durable())
        let database = try Database(path: path, isDurable: true, cacheKibibytes: 16)
        try database.execute(
            """
            BEGIN;
            INSERT INTO liked (account, photo)
                WITH RECURSIVE n (i) AS (SELECT 9 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
                SELECT 'a', i FROM n;
            """)
        let copy = folder.appending("copy/data.sqlite")
        mkdir(folder.appending("copy"), 0o700)
        for suffix in ["", "-journal"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        try database.execute("ROLLBACK")
        chmod(copy, 0o400)
        let store = Store(copy, .durable, testFormats)
        #expect(try store.count("liked") == 0)
        let notice =
            "\(copy) cannot be opened: Permission denied, and \(copy)-journal must be applied first."
        #expect(store.sentences == [notice])
        chmod(copy, 0o600)
        #expect(throws: StorageError.replaced(copy)) { try store.add(account: "b") }
        let next = Store(copy, .durable, testFormats)
        #expect(try (next.count("liked"), next.sentences) == (3, []))
    }

    @Test func `a folder that the user may not write is reported with this reason`() async {
        await #expect(processExitsWith: .success) {
            await recordErrors {
                let folder = try OrdinaryUser.become(copying: [])
                let path = folder.appending("data/data.sqlite")
                #expect(mkdir(folder.appending("data"), 0o500) == 0)
                let store = Store(path, .durable, testFormats)
                #expect(try store.count("account") == 0)
                #expect(store.sentences == ["\(path) cannot be opened: Permission denied."])
            }
        }
    }

    @Test func `a journal that is not a file is named`() throws {
        try fill(durable())
        mkfifo("\(path)-journal", 0o600)
        let store = durable()
        #expect(try store.count("liked") == 3)
        #expect(store.notices.first?.english.contains("data.sqlite-journal") == true)
        unlink("\(path)-journal")
        try store.add(account: "b")
        #expect(store.notices.isEmpty)
    }

    @Test func `a link to a file of the user is followed`() throws {
        try link()
        try fill(durable())
        try edit("UPDATE format SET version = 0")
        #expect(try (durable().count("liked"), names) == (3, ["data.sqlite"]))
        #expect(folder.has("other.sqlite.damaged-1"))
    }

    // MARK: Deleted folders

    @Test func `a durable file that is deleted with its folder is written again whole`() throws {
        let store = durable()
        try store.add(account: "a")
        for isBlocked in [false, true] {
            try FileManager.default.removeItem(atPath: folder.appending("data"))
            if isBlocked {
                try folder.write("", to: "data")
                #expect(throws: StorageError.self) { try store.add(account: "c") }
                unlink(folder.appending("data"))
            }
            try store.add(account: isBlocked ? "c" : "b")
            #expect(try durable().count("account") == (isBlocked ? 3 : 2))
        }
    }

    @Test func `a file that cannot be written while it is used is reported until it can`() throws {
        let store = durable()
        try store.add(account: "a")
        unlink(path)
        mkfifo(path, 0o600)
        #expect(throws: StorageError.self) { try store.add(account: "b") }
        #expect(store.sentences == ["\(path) cannot be opened: it is not a regular file."])
        unlink(path)
        try store.add(account: "c")
        #expect(store.notices.isEmpty)
    }

    @Test func `a file whose mode forbids to write is written once it permits`() throws {
        try fill(durable())
        chmod(path, 0o400)
        let store = durable()
        #expect(throws: StorageError.self) { try store.runAndWait { try $0.add(account: "b") } }
        chmod(path, 0o600)
        try store.runAndWait { try $0.add(account: "b") }
        #expect(try store.runAndWait { try $0.count("liked") } == 3)
        #expect(store.notices.isEmpty)
    }

    @Test func `an error of the disk is reported with the file until a write succeeds`() throws {
        try fill(durable())
        let store = durable()
        _ = try store.count("account")
        mkdir("\(path)-journal", 0o700)
        #expect(throws: StorageError.self) { try store.add(account: "b") }
        #expect(store.sentences.first?.contains(path) == true)
        rmdir("\(path)-journal")
        _ = try store.count("account")
        #expect(!store.notices.isEmpty)
        try store.add(account: "c")
        #expect(store.notices.isEmpty)
    }

    @Test(arguments: ["x", String(repeating: "text", count: 3000)])
    func `a damaged file in place of the open one is set aside`(text: String) throws {
        let store = durable()
        try store.add(account: "a")
        try folder.write(text, to: "data/other")
        #expect(rename(folder.appending("data/other"), path) == 0)
        try store.add(account: "b")
        #expect(try names.contains("data.sqlite.damaged-1"))
        let notice =
            "\(path) was damaged; it was renamed to \(path).damaged-1, and the data in use were written to a new file."
        #expect(store.sentences == [notice])
        store.close()
        let again = durable()
        #expect(try (again.count("account"), again.sentences) == (2, []))
    }

    // MARK: Replaced files

    /// Expects that all tasks of a store fail, that it reports that once, and that the file stays as it is.
    private func expectReplaced(
        _ store: Store, _ reports: borrowing Atomic<Int>,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let before = try Data(contentsOf: URL(filePath: path))
        for _ in 0..<2 {
            #expect(throws: StorageError.replaced(path), sourceLocation: sourceLocation) {
                try store.add(account: "b")
            }
            #expect(throws: StorageError.replaced(path), sourceLocation: sourceLocation) {
                try store.count("account")
            }
        }
        await store.scrub()
        store.close()
        #expect(reports.load(ordering: .relaxed) == 1, sourceLocation: sourceLocation)
        let after = try Data(contentsOf: URL(filePath: path))
        #expect(after == before, sourceLocation: sourceLocation)
        let next = durable()
        #expect(
            try (next.count("account"), next.count("liked"), next.sentences) == (1, 3, []),
            sourceLocation: sourceLocation)
    }

    @Test(arguments: [false, true])
    func `a whole file that replaces the open one is not used`(isFolder: Bool) async throws {
        try fill(durable())
        let (data, backup) = (folder.appending("data"), folder.appending("backup"))
        try FileManager.default.copyItem(atPath: data, toPath: backup)
        let reports = Atomic(0)
        let store = durable(onReplaced: { reports.add(1, ordering: .relaxed) })
        try store.add(account: "c")
        if isFolder {
            #expect(rename(data, folder.appending("old")) == 0 && rename(backup, data) == 0)
        } else {
            #expect(rename("\(backup)/data.sqlite", path) == 0)
        }
        try await expectReplaced(store, reports)
    }

    @Test func `closing reports no other file and does not change it`() throws {
        try fill(durable())
        let backup = folder.appending("backup.sqlite")
        try FileManager.default.copyItem(atPath: path, toPath: backup)
        let reports = Atomic(0)
        let store = durable(onReplaced: { reports.add(1, ordering: .relaxed) })
        try store.add(account: "c")
        #expect(rename(backup, path) == 0)
        store.close()
        #expect(reports.load(ordering: .relaxed) == 0)
        #expect(try durable().count("account") == 1)
    }

    @Test(arguments: [Alien.folder, .deadLink, .fifo])
    func `a file that could not be read is not used when it can be`(alien: Alien) async throws {
        try fill(durable())
        let away = folder.appending("away.sqlite")
        #expect(rename(path, away) == 0)
        switch alien {
        case .folder: mkdir(path, 0o700)
        case .fifo: mkfifo(path, 0o600)
        default: symlink(folder.appending("data/disk/data.sqlite"), path)
        }
        let reports = Atomic(0)
        let store = durable(onReplaced: { reports.add(1, ordering: .relaxed) })
        #expect(try store.count("account") == 0)
        for _ in 0..<2 {
            let error = #expect(throws: StorageError.self) { try store.add(account: "b") }
            #expect(error != .replaced(path))
        }
        if alien == .folder { rmdir(path) } else { unlink(path) }
        #expect(rename(away, path) == 0)
        try await expectReplaced(store, reports)
    }

    @Test func `a file is created once that is possible`() throws {
        try folder.write("", to: "data")
        let reports = Atomic(0)
        let store = durable(onReplaced: { reports.add(1, ordering: .relaxed) })
        #expect(try store.count("account") == 0)
        unlink(folder.appending("data"))
        try store.add(account: "a")
        #expect(try (durable().count("account"), store.sentences) == (1, []))
        #expect(reports.load(ordering: .relaxed) == 0)
    }

    // MARK: Files beside the database

    @Test func `a durable file needs no log, and none of the files has a transaction`() throws {
        let store = durable()
        try store.add(account: "secret")
        #expect(try names == ["data.sqlite", "data.sqlite-journal"])
        #expect(try Data(contentsOf: URL(filePath: "\(path)-journal")).isEmpty)
        store.close()
        #expect(try names == ["data.sqlite"])
    }

    @Test(arguments: [false, true])
    func `a disposable file has no shared memory in the folder`(hasReader: Bool) async throws {
        try folder.write("short", to: "data/data.sqlite-shm")
        let store = disposable(hasReader: hasReader)
        try await store.run { try $0.add(account: "a") }
        #expect(try await store.read { try $0.count("account") } == 1)
        #expect(try names == ["data.sqlite", "data.sqlite-wal"])
    }

    @Test(.timeLimit(.minutes(10))) func `a reader reads while a task writes`() async throws {
        let store = disposable(hasReader: true)
        try await store.run { try $0.add(account: "a") }
        _ = try await store.read { try $0.count("account") }
        let read = DispatchSemaphore(value: 0)
        let writing = Task {
            try await store.run { database in
                try database.execute("BEGIN")
                try database.add(account: "b")
                read.wait()
                try database.execute("COMMIT")
            }
        }
        #expect(try await store.read { try $0.count("account") } == 1)
        read.signal()
        try await writing.value
        #expect(try await store.read { try $0.count("account") } == 2)
    }

    @Test func `the log of a reader is truncated, and the next read uses the other connection`()
        async throws
    {
        let store = disposable(hasReader: true)
        try await store.run { database in
            try database.add(account: "a")
            try database.add(photos: 0..<1000, of: "a")
        }
        #expect(try await store.read { try $0.count("account") } == 1)
        truncate("\(path)-wal", 0)
        #expect(try await store.read { try $0.count("liked") } == 1000)
    }

    // MARK: Deleted data

    @Test(arguments: [true, false])
    func `scrubbed data are in no file`(isDurable: Bool) async throws {
        let store = isDurable ? durable() : disposable()
        let secret = "a secret title"
        try await store.run { database in
            for number in 0..<500 {
                try database.query(
                    "INSERT INTO setting VALUES (?, ?)", [.text("\(number)"), .text(secret)])
            }
            try database.add(account: secret)
        }
        if isDurable {
            try folder.write("before \(secret) after", to: "data/data.sqlite.damaged-1")
            try folder.write("another", to: "data/data.sqlite.damaged-2")
        }
        try await store.run { try $0.execute("DELETE FROM setting; DELETE FROM account") }
        await store.scrub(copiesWith: secret)
        for name in try names {
            let bytes = try Data(contentsOf: URL(filePath: folder.appending("data/\(name)")))
            #expect(bytes.firstRange(of: Data(secret.utf8)) == nil, "\(name)")
        }
        #expect(try names.contains("data.sqlite.damaged-2") == isDurable)
    }

    @Test(arguments: ["local_ad", "local_ada", "ocal_ada", "cal"])
    func `copies with an ID are deleted, unless it is a part of longer ones`(id: String)
        async throws
    {
        try await durable().run { database in
            try database.add(account: "local_ada")
            try database.add(photos: 0..<3, of: "local_ada")
            // The next column follows without a separator.
            try database.execute("INSERT INTO setting VALUES ('local_ada', 'local')")
        }
        try FileManager.default.copyItem(atPath: path, toPath: "\(path).damaged-1")
        await durable().scrub(copiesWith: id)
        #expect(try names.contains("data.sqlite.damaged-1") == (id != "local_ada"))
    }

    @Test(arguments: ["local_ada", "default_account", "prefix:local_ada"])
    func `an ID is found in a row between other texts`(key: String) async throws {
        let value = key == "default_account" ? "local_ada" : "local"
        try await durable().run { database in
            try database.query("INSERT INTO setting VALUES (?, ?)", [.text(key), .text(value)])
        }
        try FileManager.default.copyItem(atPath: path, toPath: "\(path).damaged-1")
        await durable().scrub(copiesWith: "local_ad")
        #expect(try names.contains("data.sqlite.damaged-1"))
        await durable().scrub(copiesWith: "local_ada")
        #expect(try !names.contains("data.sqlite.damaged-1"))
    }

    @Test func `copies beside the target of a link are deleted`() async throws {
        try link()
        try folder.write("a secret title", to: "other.sqlite.damaged-1")
        try folder.write("a secret title", to: "data/data.sqlite.damaged-1")
        await durable().scrub(copiesWith: "secret")
        #expect(folder.has("other.sqlite") && !folder.has("other.sqlite.damaged-1"))
        #expect(!folder.has("data/data.sqlite.damaged-1"))
    }

    @Test(arguments: [false, true])
    func `the contents are at the path if a link there was removed`(isClosed: Bool) async throws {
        try link()
        let store = durable()
        try await store.run { try $0.execute("INSERT INTO setting VALUES ('a', '1')") }
        unlink(path)
        if !isClosed {
            try await store.run { try $0.execute("INSERT INTO setting VALUES ('b', '2')") }
        }
        store.close()
        let database = try Database(path: path, isDurable: true)
        #expect(try database.count("setting") == (isClosed ? 1 : 2))
    }
}
