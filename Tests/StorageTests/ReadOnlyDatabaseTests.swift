import Glibc
import Storage
import TestSupport
import Testing

/// Tests with files that must not be lost in folders that cannot be written. A file at the path of the folder simulates
/// a read-only disk, since permissions do not apply to root.
@Suite struct ReadOnlyDatabaseTests {
    private let folder: TemporaryDirectory
    private static let migrations = ["CREATE TABLE a (b)"]

    init() throws { folder = try TemporaryDirectory() }

    private func open(_ name: String) throws -> Database {
        try Database.open(preserving: folder.appending(name), Self.migrations) {
            _ throws(StorageError) in
        }.database
    }

    @Test func `without a folder the database is empty and writes report the reason`() throws {
        try folder.write("", to: "file")
        let database = try open("file/a.sqlite")
        #expect(database.writeError != nil)
        #expect(try database.first("SELECT count(*) FROM a") { $0.integer(0) } == 0)
        let path = folder.appending("file/a.sqlite")
        let error = #expect(throws: StorageError.self) {
            try database.query("INSERT INTO a VALUES (1)")
        }
        guard case .readOnly(path, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `a queue reopens a database that was read-only`() async throws {
        try folder.write("", to: "data")
        let path = folder.appending("data/a.sqlite")
        let queue = DatabaseQueue(try open("data/a.sqlite"), label: "test") {
            try Database.open(preserving: path, Self.migrations) { _ throws(StorageError) in }
                .database
        }
        await #expect(throws: StorageError.self) {
            try await queue.run { try $0.query("INSERT INTO a VALUES (1)") }
        }
        unlink(folder.appending("data"))
        try await queue.run { try $0.query("INSERT INTO a VALUES (1)") }
        let count = try await queue.run { try $0.first("SELECT count(*) FROM a") { $0.integer(0) } }
        #expect(count == 1)
        await queue.close()
        #expect(try open("data/a.sqlite").first("SELECT count(*) FROM a") { $0.integer(0) } == 1)
    }

    @Test(arguments: [false, true])
    func `a copy includes the log of a killed process`(isIndexed: Bool) throws {
        let writer = try open("data/a.sqlite")
        try writer.query("INSERT INTO a VALUES (1)")
        // A copy of the open files has the state after a kill.
        mkdir(folder.appending("killed"), 0o700)
        for suffix in isIndexed ? ["", "-wal", "-shm"] : ["", "-wal"] {
            try copy("data/a.sqlite\(suffix)", to: "killed/a.sqlite\(suffix)")
        }
        let database = try Database(path: ":memory:", durability: .process)
        try database.copy(from: folder.appending("killed/a.sqlite"))
        #expect(try database.first("SELECT count(*) FROM a") { $0.integer(0) } == 1)
    }

    private func copy(_ source: String, to target: String) throws {
        let input = Glibc.open(folder.appending(source), O_RDONLY)
        defer { close(input) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = read(input, &bytes, bytes.count)
        let output = Glibc.open(folder.appending(target), O_WRONLY | O_CREAT, 0o600)
        defer { close(output) }
        #expect(count >= 0 && write(output, bytes, count) == count)
    }
}
