import Contract
import DBus
import EngineModel
import Feeds
import Foundation
import Glibc
import ProviderKit
import Storage
import TestSupport
import Testing

@testable import EngineCore

/// Tests of the effect of the size of the feed cache on start-up, memory and pages.
///
/// `dist/development/benchmark --cache` runs them with a hundred thousand photos.
@Suite(.privateBus, .timeLimit(.minutes(10)), .serialized) @MainActor
struct CacheLoadTests {
    private static let accounts = 20
    private static let photos =
        getenv("IMAGEFEED_CACHED_PHOTOS").flatMap { Int(String(cString: $0)) } ?? 10_000
    private static let rounds = 7
    /// The largest ratio to the value with ten photos. A debug build has a wider limit.
    private static let limit = BuiltProducts.areOptimized ? 1.2 : 2
    private static let memoryLimit = BuiltProducts.areOptimized ? 1.2 : 1.3
    private static let pageLimit = BuiltProducts.areOptimized ? 1.5 : 2.5
    /// The largest ratio of a page of all accounts to pages of each. A debug build has a wider limit.
    private static let combinedLimit = BuiltProducts.areOptimized ? 1.5 : 6.0
    /// The same for the processor time. It was 1.6 to 1.8 on two quiet processors.
    private static let combinedProcessorLimit = BuiltProducts.areOptimized ? 2.2 : 6.0

    private struct Figures {
        var starts: [Duration] = []
        var memory: [Int] = []
    }

    @Test func `pages, start-up and memory do not depend on the size of the cache`() async throws {
        try await addAccounts(Self.accounts)
        try fill("small", total: 10)
        try fill("large", total: Self.photos)
        try await compareTimes {
            var (small, large) = (Figures(), Figures())
            for _ in 0..<Self.rounds {
                try await measure("small", &small)
                try await measure("large", &large)
            }
            let (first, last) = try await pages()
            let (start, before) = (large.starts.median, small.starts.median)
            let (memory, memoryBefore) = (large.memory.sorted()[3], small.memory.sorted()[3])
            #expect(Double(memory) < Double(memoryBefore) * Self.memoryLimit)
            let figures = """
                \(Self.photos) cached photos next to 10: start-up \(start) and \(before), \
                private memory \(memory) KiB and \(memoryBefore) KiB; last page \(last), first \(first), \
                ratio \(last / first)
                """
            print(figures)
            let isWithinLimit =
                start < before * Self.limit + .milliseconds(2)
                && last < first * Self.pageLimit && first < last * Self.pageLimit
            return isWithinLimit ? nil : figures
        }
    }

    /// The first page of the combined account, relative to the pages of its accounts that together have as many photos.
    @Test func `a page of all accounts costs little more than a page of each`() async throws {
        try await addAccounts(5)
        try fill("combined", total: Self.photos, accounts: 5)
        try use("combined")
        let daemon = try await RunningDaemon()
        let connection = try TestClient().connection
        let accounts = (0..<5).map { ServiceName.accounts.appending(Self.account($0).text) }
        /// The duration of calls one after the other, and the processor time of the daemon.
        func cost(_ count: UInt32, of paths: [ObjectPath]) async throws -> (Duration, Duration) {
            let before = try processorTime(of: daemon.process.id)
            let start = ContinuousClock.now
            for path in paths {
                _ = try await connection.call(
                    BusMessage(
                        .methodCall(ServiceName.bus, path, .feed, "GetPage"), "", "", count))
            }
            let time = ContinuousClock.now - start
            return (time, try processorTime(of: daemon.process.id) - before)
        }
        try await compareTimes {
            var together: (times: [Duration], processor: [Duration]) = ([], [])
            var apart = together
            for round in -1..<Self.rounds {
                // More pages in turn than the daemon prepares.
                for count in [UInt32](6...20) {
                    let sum = try await cost(count, of: accounts)
                    let page = try await cost(count * 5, of: [ServiceName.combined])
                    // The first round is a warm-up.
                    guard round >= 0 else { continue }
                    apart.times.append(sum.0)
                    apart.processor.append(sum.1)
                    together.times.append(page.0)
                    together.processor.append(page.1)
                }
            }
            let (time, processor) = (
                together.times.median / apart.times.median,
                together.processor.median / apart.processor.median
            )
            let figures = """
                30 to 100 photos of five accounts with \(Self.photos) cached photos: \(together.times.median), \
                processor time \(together.processor.median); in five pages: \(apart.times.median), processor time \
                \(apart.processor.median); ratios \(time) and \(processor)
                """
            print(figures)
            return time < Self.combinedLimit && processor < Self.combinedProcessorLimit
                ? nil : figures
        }
        try await daemon.stop()
        try use(nil)
    }

    // MARK: Set-up

    private static func account(_ number: Int) -> AccountID {
        AccountID(stored: "unsplash_u\(number)")
    }

    private func addAccounts(_ count: Int) async throws {
        try RunningDaemon.configure(
            "[Provider unsplash]\nClientId=none\nApiUrl=http://127.0.0.1:9\nWebUrl=http://127.0.0.1:9\n"
        )
        let path = try PrivateBus.current.directory.appending("\(Disk.data)/data.sqlite")
        let store = AccountStore(Store(path, .durable, Engine.formats))
        for number in 0..<count {
            try await store.save(
                AccountRecord(
                    id: Self.account(number), provider: "unsplash",
                    identity: AccountIdentity(username: "u\(number)"), label: "u\(number)",
                    isLoggedIn: true),
                defaultAccount: nil)
        }
        store.close()
    }

    /// Creates a cache with the given number of photos in all accounts together.
    private func fill(_ name: String, total: Int, accounts: Int = Self.accounts) throws {
        let folder = try PrivateBus.current.directory.appending("caches")
        mkdir(folder, 0o700)
        mkdir("\(folder)/\(name)", 0o700)
        let database = try Database(
            path: "\(folder)/\(name)/cache.sqlite", cacheKibibytes: 8_192)
        try database.prepare([FeedStore.format])
        try database.transaction { () throws(StorageError) in
            for number in 0..<accounts {
                let count = total / accounts + (number < total % accounts ? 1 : 0)
                let account = SQLValue.text(Self.account(number).text)
                try database.query(
                    "INSERT INTO source (account, id, epoch, fetched, generation, keyed) VALUES (?, 'editorial', 7, ?, 1, 0)",
                    [account, .integer(time(nil))])
                try database.query(
                    """
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
                    INSERT INTO photo (account, id, created, updated, width, height, color,
                        blur_hash, title, description, author, author_username, author_url, url,
                        likes, is_liked, is_sensitive, media_type, thumb, small, regular, "full",
                        note, like_confirmed)
                    SELECT ?1, 'photo-' || i, 1700000000 + i * 60 + (i * 37 + ?3 * 17) % 60, NULL, 5472, 3648,
                        '#a0b1c2', 'LOEn^cr?o}xt~VR*xuof-;R*t7of', 'Photo ' || i,
                        'a mountain with a lake below it, and some trees', 'Ada Lovelace', 'ada',
                        'https://unsplash.com/@ada?utm_source=image_feed&utm_medium=referral',
                        'https://unsplash.com/photos/photo-' || i || '?utm_source=image_feed',
                        i % 900, i % 50 = 0, NULL, 'image/jpeg',
                        'https://images.unsplash.com/photo-' || i || '?ixid=M3w0&w=200',
                        'https://images.unsplash.com/photo-' || i || '?ixid=M3w0&w=400',
                        'https://images.unsplash.com/photo-' || i || '?ixid=M3w0&w=1080',
                        'https://images.unsplash.com/photo-' || i || '?ixid=M3w0',
                        'https://api.unsplash.com/photos/photo-' || i || '/download?ixid=M3w0', 0
                    FROM n WHERE ?2 > 0
                    """, [account, .integer(count), .integer(number)])
                try database.query(
                    """
                    INSERT INTO entry (source, key, born, photo)
                        SELECT source.key, printf('%016x', photo.created * 1048576), 1, photo.id
                    FROM source JOIN photo ON photo.account = source.account
                    WHERE source.account = ?
                    """, [account])
            }
        }
    }

    // MARK: Measurements

    /// Starts the daemon with a cache and requests a page.
    private func measure(_ name: String, _ figures: inout Figures) async throws {
        try use(name)
        let daemon = try await RunningDaemon()
        figures.starts.append(daemon.startUp)
        let page = try await account.page("", cursor: "", count: 10)
        #expect(!page.photos.isEmpty)
        try await TestClient().wait(account.path, .account, "State", .string("locked"))
        // Only root can read `smaps_rollup` of a process that is not dumpable.
        figures.memory.append(try daemon.memory("RssAnon"))
        try await daemon.stop()
        try use(nil)
    }

    private var account: AccountClient {
        get throws {
            try TestClient().service.account(
                ServiceName.accounts.appending(Self.account(0).text))
        }
    }

    /// Moves a cache to the folder that the daemon uses, or moves it back.
    private func use(_ name: String?) throws {
        let directory = try PrivateBus.current.directory
        let cacheFolder = directory.appending("home/.cache/imagefeed")
        guard let name else {
            let mark = try #require(Self.used)
            #expect(rename(cacheFolder, directory.appending("caches/\(mark)")) == 0)
            return Self.used = nil
        }
        rmdir(cacheFolder)
        #expect(rename(directory.appending("caches/\(name)"), cacheFolder) == 0)
        Self.used = name
    }
    private static var used: String?

    /// Returns the median times of the first and the last page. No page is a prepared reply.
    private func pages() async throws -> (first: Duration, last: Duration) {
        try use("large")
        let daemon = try await RunningDaemon()
        let account = try account
        let length = Self.photos / Self.accounts
        var (cursor, count) = ("", 0)
        while count < length - 60 {
            let page = try await account.page(
                "", cursor: cursor, count: UInt32(min(100, length - 60 - count)))
            count += page.photos.count
            cursor = page.next
        }
        var (first, last): ([Duration], [Duration]) = ([], [])
        for count in [UInt32](20...60) + [UInt32](20...60) {
            for (isFirst, start) in [(true, ""), (false, cursor)] {
                let begin = ContinuousClock.now
                let page = try await account.page("", cursor: start, count: count)
                let time = ContinuousClock.now - begin
                #expect(page.photos.count == Int(count))
                if isFirst { first.append(time) } else { last.append(time) }
            }
        }
        try await daemon.stop()
        try use(nil)
        return (first.median, last.median)
    }

    /// Returns the processor time of all threads of a process.
    private func processorTime(of process: Int32) throws -> Duration {
        let folder = "/proc/\(process)/task"
        let nanoseconds = try FileManager.default.contentsOfDirectory(atPath: folder).map {
            try String(contentsOfFile: "\(folder)/\($0)/schedstat", encoding: .utf8)
        }.compactMap { Int($0.prefix { $0 != " " }) }
        return .nanoseconds(nanoseconds.reduce(0, +))
    }
}
