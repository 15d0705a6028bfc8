import Dispatch
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

    @Test func `a brief task runs immediately on an idle queue`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.appending("a.sqlite")
        let queue = DatabaseQueue(label: "test") { try Database(path: path, durability: .process) }
        let done = Mutex(0)
        let count: @Sendable (Database) -> Void = { _ in done.withLock { $0 += 1 } }
        // The first task opens the database on the queue.
        try await queue.runBriefly(count)
        #expect(done.withLock(\.self) == 1)
        let free = Task.immediate { try await queue.runBriefly(count) }
        #expect(done.withLock(\.self) == 2)
        let gate = DispatchSemaphore(value: 0)
        let busy = Task.immediate { try await queue.run { _ in gate.wait() } }
        let late = Task.immediate { try await queue.runBriefly(count) }
        #expect(done.withLock(\.self) == 2)
        gate.signal()
        for task in [free, busy, late] { try await task.value }
        #expect(done.withLock(\.self) == 3)
        // The queue is idle again.
        try await Task.immediate { try await queue.runBriefly(count) }.value
        #expect(done.withLock(\.self) == 4)
    }
}
