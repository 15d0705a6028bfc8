import Logging
import Storage
import TestSupport
import Testing

@testable import Engine

@Suite(.timeLimit(.minutes(10))) @MainActor
struct DiskWatchTests {
    @Test func `the watch reports a full disk and the end of that state`() async throws {
        let directory = try TemporaryDirectory()
        let disk = DiskWatch(folder: directory.path)
        var reports: [Bool] = []
        disk.onChange = { reports.append($0) }
        let store = FeedStore(
            folder: directory.appending("cache"), disk: disk,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await store.run { _ in }
        #expect(reports == [])
        await #expect(throws: StorageError.full) {
            try await store.run { (_) throws(StorageError) in throw StorageError.full }
        }
        #expect(reports == [true])
        try await store.run { _ in }
        #expect(reports == [true, false])
    }
}
