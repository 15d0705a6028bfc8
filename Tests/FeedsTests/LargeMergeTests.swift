import EngineModel
import Logging
import ProviderKit
import Storage
import System
import TestSupport
import Testing

@testable import Feeds

/// The transactions of merges of large pages.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct LargeMergeTests {
    private let directory: TemporaryDirectory
    private let store: FeedStore
    private let account = AccountID(stored: "service_ada")
    private let other = AccountID(stored: "service_bob")
    private let now = Timestamp(secondsSince1970: 1_700_000_000)

    init() throws {
        directory = try TemporaryDirectory()
        store = FeedStore(
            Store(directory.appending("cache/cache.sqlite"), .disposable, [FeedStore.format]),
            disk: DiskWatch(folder: directory.path))
    }

    private let merges = ChangeQueue()

    private func arrival(_ numbers: Range<Int>, isKeyed: Bool = false) -> FeedTables.Arrival {
        let photos = numbers.map { number in
            var photo = RemotePhoto(Photo(id: PhotoID("p\(number)")))
            if isKeyed { photo.entry = "k\(999_999 - number)" }
            return photo
        }
        return FeedTables.Arrival(page: RemotePage(photos), part: nil, isExact: false, now: now)
    }

    private func merge(
        _ arrival: FeedTables.Arrival, in source: String = "new"
    ) async throws -> FeedTables.Merge {
        try await store.merge(arrival, in: SourceID(source), of: account, after: merges) {
            { _ in nil }
        }
    }

    private func count(_ table: String, as reader: AccountID) async throws -> Int {
        try await store.read(reader) { (tables) throws(StorageError) in
            _ = try tables.source(SourceID("new"))
            return try tables.database.first("SELECT count(*) FROM \(table)") {
                Int($0.integer(0))
            } ?? 0
        }
    }

    @Test func `a read waits for one transaction of another account's merges`() async throws {
        // The first task opens the file.
        #expect(try await count("photo", as: other) == 0)
        let merges = (0..<4).map { number in
            Task.immediate {
                try await merge(arrival(number * 500..<number * 500 + 500), in: "s\(number)")
            }
        }
        let read = Task.immediate { try await count("photo", as: other) }
        #expect(try await read.value <= FeedTables.Bounds().piece)
        for merge in merges { #expect(try await merge.value.new == 500) }
        #expect(try await count("photo", as: other) == 2000)
        #expect(try await count("entry", as: other) == 2000)
    }

    @Test func `a read sees no part of the order of a page`() async throws {
        #expect(try await count("entry", as: other) == 0)
        let large = Task.immediate { try await merge(arrival(0..<200)) }
        var counts: Set<Int> = []
        while !counts.contains(200) {
            counts.insert(try await count("entry", as: other))
            // An idle database is read without a suspension.
            await Task.yield()
        }
        #expect(counts == [0, 200])
        #expect(try await large.value.new == 200)
    }

    @Test(arguments: [false, true])
    func `photos that left the source are deleted`(isKeyed: Bool) async throws {
        _ = try await merge(arrival(0..<200, isKeyed: isKeyed))
        let merge = try await merge(arrival(500..<700, isKeyed: isKeyed))
        #expect(merge.removed.count == (isKeyed ? 200 : 0))
        #expect(try await count("photo", as: other) == 200)
    }

    @Test func `the rows of an ignored page are deleted`() async throws {
        _ = try await merge(arrival(0..<60))
        let late = FeedTables.Arrival(
            page: arrival(100..<200).page,
            part: FeedOrder.Part(
                key: "k", token: "unknown", received: now, isGap: true, born: 0, fetched: now),
            isExact: false, now: now)
        let merge = try await merge(late)
        #expect(merge.new == 0)
        #expect(try await count("photo", as: other) == 60)
    }

    @Test func `a page stores nothing after a logout`() async throws {
        struct LoggedOut: Error {}
        var calls = 0
        let new = SourceID("new")
        await #expect(throws: LoggedOut.self) {
            try await store.merge(arrival(0..<200), in: new, of: account, after: merges) {
                calls += 1
                if calls == 3 { throw LoggedOut() }
                return { _ in nil }
            }
        }
        #expect(try await count("entry", as: other) == 0)
        // The next merge of the account does not wait for the failed one.
        #expect(try await merge(arrival(0..<10)).new == 10)
    }
}
