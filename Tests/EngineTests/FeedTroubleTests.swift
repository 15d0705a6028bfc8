import Glibc
import ProviderKit
import Storage
import TestSupport
import Testing

@testable import Engine

/// The cache of feeds when the service answers oddly, when its file is lost or damaged, when it grows.
@Suite(.timeLimit(.minutes(1))) @MainActor
struct FeedTroubleTests {
    private let nine = (1...9).map { "p\($0)" }

    @Test func `a top with nothing to show hides nothing of what is known`() async throws {
        let fixture = try await ServiceFixture(nine)
        _ = try await fixture.page()
        // Two pages of what is no photo, before the photos.
        let drawings = (1...6).map { "drawing\($0)" }
        fixture.service.state.update {
            $0.hidden = Set(drawings)
            $0.photos = drawings + ["news"] + $0.photos
        }
        #expect(try await fixture.account.refreshFeed("") == 1)
        #expect(try await fixture.walk() == ["news"] + nine)
        // More of them than anybody asks for at once.
        fixture.service.state.update {
            $0.hidden.formUnion((0..<60).map { "more\($0)" })
            $0.photos = (0..<60).map { "more\($0)" } + $0.photos
        }
        #expect(try await fixture.account.refreshFeed("") == 0)
        fixture.service.state.update { $0.error = HTTPError.unreachable("no network") }
        #expect(try await fixture.page(count: 10).ids == ["news"] + nine)
    }

    @Test func `an empty answer is believed when it comes twice`() async throws {
        let fixture = try await ServiceFixture(nine)
        _ = try await fixture.page()
        fixture.service.state.update { $0.photos = [] }
        #expect(try await fixture.account.refreshFeed("") == 0)
        #expect(try await fixture.page().ids == Array(nine.prefix(3)))
        _ = try await fixture.account.refreshFeed("")
        try await fixture.told("updated new 0")
        #expect(try await fixture.page().ids == [])
    }

    @Test func `a list that breaks off against its own total is nonsense`() async throws {
        let fixture = try await ServiceFixture(nine)
        _ = try await fixture.walk()
        fixture.service.state.update {
            $0.photos = ["p1"]
            $0.total = 9_000
        }
        await #expect(throws: ProviderError.self) { try await fixture.account.refreshFeed("") }
        #expect(try await fixture.walk() == nine)
    }

    @Test func `what is asked for after a day is never shown out of order`() async throws {
        let fixture = try await ServiceFixture(nine)
        let first = try await fixture.page(count: 2)
        // The gap after p3 is at page 3 of the service, and a day later that is elsewhere.
        let later = (1...12).map { "later\($0)" }
        fixture.service.state.update { $0.photos = later + $0.photos }
        fixture.world.time.update { $0 = $0 + .seconds(86_400) }
        let second = try await fixture.page("", first.next, count: 2)
        #expect(second.ids == ["p3"])
        await #expect(throws: ProviderError.staleCursor) {
            try await fixture.page("", second.next, count: 2)
        }
        // A new walk is that of the service.
        #expect(try await fixture.walk(count: 4) == later + nine)
    }

    @Test func `what was known above is found again in an old gap`() async throws {
        let fixture = try await ServiceFixture(nine)
        let first = try await fixture.page(count: 3)
        fixture.service.state.update { $0.photos = ["later"] + $0.photos }
        fixture.world.time.update { $0 = $0 + .seconds(86_400) }
        #expect(try await fixture.page("", first.next, count: 9).ids == Array(nine.dropFirst(3)))
        #expect(try await fixture.walk() == ["later"] + nine)
    }

    @Test func `places that last are not doubted`() async throws {
        let fixture = try await ServiceFixture(nine)
        fixture.service.state.update { $0.hasStablePageTokens = true }
        _ = try await fixture.page(count: 3)
        let first = try await fixture.page(count: 3)
        let later = (1...12).map { "later\($0)" }
        fixture.service.state.update { $0.photos = later + $0.photos }
        fixture.world.time.update { $0 = $0 + .seconds(86_400) }
        _ = try await fixture.account.refreshFeed("")
        #expect(try await fixture.page("", first.next, count: 9).ids == Array(nine.dropFirst(3)))
        #expect(try await fixture.walk(count: 4) == later + nine)
    }

    @Test func `once the network is back, what was looked at meanwhile is asked for`() async throws
    {
        let fixture = try await ServiceFixture(nine)
        _ = try await fixture.page()
        fixture.world.time.update { $0 = $0 + .seconds(3600) }
        fixture.service.state.update { $0.error = HTTPError.unreachable("no network") }
        #expect(try await fixture.page().ids == Array(nine.prefix(3)))
        try await fixture.state { if case .offline = $0 { true } else { false } }
        fixture.service.state.update {
            $0.error = nil
            $0.photos = ["news"] + $0.photos
        }
        fixture.engine.retryNow()
        try await fixture.told("updated new 1")
        #expect(try await fixture.page().ids == ["news", "p1", "p2"])
    }

    @Test func `a clock that is set back makes nothing fresh for a year`() async throws {
        let fixture = try await ServiceFixture(nine)
        _ = try await fixture.page()
        fixture.service.state.update { $0.photos = ["news"] + $0.photos }
        fixture.world.time.update {
            $0 = Timestamp(secondsSince1970: $0.secondsSince1970 - 31_536_000)
        }
        #expect(try await fixture.page().ids == Array(nine.prefix(3)))
        try await fixture.told("updated new 1")
        #expect(try await fixture.walk() == ["news"] + nine)
    }

    // MARK: The file

    @Test func `damage that shows only while reading is set aside, too`() async throws {
        let fixture = try await ServiceFixture(nine)
        _ = try await fixture.walk()
        fixture.engine.stop()
        let path = fixture.base.directory.appending("cache/feeds.sqlite")
        // The beginning, with the schema, stays; the tables are garbage.
        let file = open(path, O_RDWR)
        var page = [UInt8](repeating: 0, count: 100)
        #expect(pread(file, &page, 100, 0) == 100)
        let pageSize = Int(page[16]) << 8 | Int(page[17])
        let garbage = [UInt8](repeating: 0xa5, count: pageSize)
        var status = stat()
        #expect(fstat(file, &status) == 0)
        for offset in stride(from: pageSize, to: Int(status.st_size), by: pageSize) {
            #expect(pwrite(file, garbage, pageSize, off_t(offset)) == pageSize)
        }
        close(file)
        let next = try await ServiceFixture(after: fixture)
        #expect(try await next.walk() == nine)
        #expect(access("\(path).damaged", F_OK) == 0)
    }

    @Test func `a database of somebody else is set aside`() async throws {
        let fixture = try await ServiceFixture(nine)
        _ = try await fixture.page()
        fixture.engine.stop()
        let path = fixture.base.directory.appending("cache/feeds.sqlite")
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
        let other = try Database(path: path, durability: .process)
        try other.execute(
            "CREATE TABLE other (x); PRAGMA user_version = \(FeedStore.migrations.count)")
        let next = try await ServiceFixture(after: fixture)
        #expect(try await next.walk() == nine)
        #expect(access("\(path).damaged", F_OK) == 0)
    }

    @Test func `where there can be no file, memory does, until there can`() async throws {
        let fixture = try await ServiceFixture(nine)
        try await fixture.told("profile Ada")
        fixture.engine.stop()
        let cache = fixture.base.directory.appending("cache")
        let path = "\(cache)/feeds.sqlite"
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
        // Root may write anywhere; a file cannot be made over a folder.
        #expect(mkdir(path, 0o700) == 0)
        let next = try await ServiceFixture(after: fixture)
        #expect(try await next.walk() == nine)
        #expect(try await next.account.setLiked("p1", true) == .done)
        #expect(try await next.account.photo("p1").isLiked)
        next.service.state.update { $0.error = HTTPError.unreachable("no network") }
        #expect(try await next.walk() == nine)
    }

    // MARK: Limits

    @Test func `a source keeps ten thousand photos, and a walk misses none of the rest`()
        async throws
    {
        let all = (1...10_050).map { "p\($0)" }
        let fixture = try await ServiceFixture(all)
        fixture.service.state.update { $0.pageSize = 2_000 }
        var cursor = ""
        for _ in 1...99 { cursor = try await fixture.page("", cursor, count: 100).next }
        let before = try await fixture.page("", cursor, count: 99)
        #expect(before.ids.last == "p9999")
        let below = try await fixture.page("", before.next, count: 20)
        let end = try await fixture.page("", below.next, count: 100)
        #expect(below.ids + end.ids == Array(all.suffix(51)))
        #expect(end.next == "")
        // Once the top is refreshed, the cache is as small as it should be.
        fixture.service.state.update { $0.photos = (1...20).map { "new\($0)" } + $0.photos }
        _ = try await fixture.account.refreshFeed("")
        let database = try Database(
            path: fixture.base.directory.appending("cache/feeds.sqlite"), durability: .process)
        let count = try database.first("SELECT count(*) FROM photo") { $0.integer(0) }
        #expect(10_000...10_020 ~= count ?? 0)
        await #expect(throws: ProviderError.staleCursor) {
            try await fixture.page("", below.next, count: 100)
        }
        // A walk from above goes on below, by asking the service.
        let rest = try await fixture.page("", before.next, count: 60)
        #expect(rest.ids.first == "p10000" && rest.ids.last == "p10050")
    }

    @Test func `the sources that nobody has looked at for longest are forgotten`() async throws {
        let fixture = try await ServiceFixture(nine)
        for number in 0..<FeedTables.sourcesLimit + 5 {
            fixture.world.time.update { $0 = $0 + .seconds(1) }
            _ = try await fixture.page("topic\(number)")
        }
        let database = try Database(
            path: fixture.base.directory.appending("cache/feeds.sqlite"), durability: .process)
        #expect(
            try database.first("SELECT count(*) FROM source") { $0.integer(0) }
                == Int64(FeedTables.sourcesLimit))
        #expect(
            try database.first("SELECT count(*) FROM source WHERE id = 'topic4'") { $0.integer(0) }
                == 0)
        #expect(
            try database.first("SELECT count(*) FROM source WHERE id = 'topic5'") { $0.integer(0) }
                == 1)
    }
}
