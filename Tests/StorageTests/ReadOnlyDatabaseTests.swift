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
}
