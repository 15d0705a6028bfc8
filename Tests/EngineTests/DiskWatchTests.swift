import Logging
import Storage
import TestSupport
import Testing

@testable import Engine

@Suite(.timeLimit(.minutes(1))) @MainActor
struct DiskWatchTests {
    @Test func `a full disk is told of until there is room`() async throws {
        let directory = try TemporaryDirectory()
        let disk = DiskWatch(folder: directory.path)
        var told: [Bool] = []
        disk.onChange = { told.append($0) }
        let store = FeedStore(
            folder: directory.appending("cache"), disk: disk,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await store.run { _ in }
        #expect(told == [])
        await #expect(throws: StorageError.full) {
            try await store.run { (_) throws(StorageError) in throw StorageError.full }
        }
        #expect(told == [true])
        try await store.run { _ in }
        #expect(told == [true, false])
    }
}
