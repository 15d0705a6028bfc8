import Dispatch
import FoundationEssentials
import Storage
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct DatabaseQueueTests {
    @Test func `opening a database is retried with the next task`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.appending("private/a.sqlite")
        let queue = DatabaseQueue(label: "test") { try Database(path: path, durability: .process) }
        await #expect(throws: StorageError.self) { try await queue.run { _ in } }
        try PrivateFolder.create(folder.appending("private"))
        try await queue.run { try $0.migrate(["CREATE TABLE a (b)"]) }
    }

    @Test func `a closed database is reopened by the next task`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.appending("a.sqlite")
        let opened = Mutex(0)
        let queue = DatabaseQueue(label: "test") {
            opened.withLock { $0 += 1 }
            return try Database(path: path, durability: .process)
        }
        try await queue.run { try $0.migrate(["CREATE TABLE a (b)"]) }
        await queue.close()
        try await queue.run { try $0.query("INSERT INTO a VALUES (1)") }
        #expect(opened.withLock(\.self) == 2)
    }

    /// Opens a database in the folder `data` that is written again if it is deleted.
    private func preservedQueue(_ folder: TemporaryDirectory) throws -> DatabaseQueue {
        let path = folder.appending("data/a.sqlite")
        let open: @Sendable () throws -> Database = {
            try Database.open(preserving: path, ["CREATE TABLE a (b)"]) { _ throws(StorageError) in
            }
            .database
        }
        return DatabaseQueue(try open(), label: "test", open: open)
    }

    @Test func `a file that is deleted with its folder is written again before the next task`()
        async throws
    {
        let folder = try TemporaryDirectory()
        let queue = try preservedQueue(folder)
        try await queue.run { try $0.query("INSERT INTO a VALUES (1)") }
        try FileManager.default.removeItem(atPath: folder.appending("data"))
        try await queue.run { try $0.query("INSERT INTO a VALUES (2)") }
        await queue.close()
        let stored = try await queue.run { database in
            try database.first("SELECT count(*), sum(b) FROM a") { [$0.integer(0), $0.integer(1)] }
        }
        #expect(stored == [2, 3])
    }

    @Test func `a task fails while a deleted folder cannot be created again`() async throws {
        let folder = try TemporaryDirectory()
        let queue = try preservedQueue(folder)
        try FileManager.default.removeItem(atPath: folder.appending("data"))
        try Data().write(to: URL(filePath: folder.appending("data")))
        await #expect(throws: StorageError.self) {
            try await queue.run { try $0.query("INSERT INTO a VALUES (1)") }
        }
        try FileManager.default.removeItem(atPath: folder.appending("data"))
        try await queue.run { try $0.query("INSERT INTO a VALUES (2)") }
        await queue.close()
        let count = try await queue.run { database in
            try database.first("SELECT count(*) FROM a") { $0.integer(0) }
        }
        #expect(count == 1)
    }
}
