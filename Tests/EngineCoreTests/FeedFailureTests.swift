import EngineModel
import Glibc
import ProviderKit
import Services
import TestSupport
import Testing

@testable import EngineCore
@testable import Feeds

/// The feed cache with invalid responses, with a lost or damaged file, and at its limits.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct FeedFailureTests {
    private let nine = (1...9).map { "p\($0)" }

    @Test func `a first page without photos hides no cached photo`() async throws {
        let fixture = try await ServiceFixture(nine, isRead: true)
        // Two pages of entries without photos, before the photos.
        let drawings = (1...6).map { "drawing\($0)" }
        fixture.update {
            $0.hidden = Set(drawings)
            $0.photos = drawings + ["news"] + $0.photos
        }
        #expect(try await fixture.account.refreshFeed("") == 1)
        #expect(try await fixture.walk() == ["news"] + nine)
        // More of them than one refresh fetches.
        fixture.update {
            $0.hidden.formUnion((0..<60).map { "more\($0)" })
            $0.photos = (0..<60).map { "more\($0)" } + $0.photos
        }
        #expect(try await fixture.account.refreshFeed("") == 0)
        fixture.disconnect()
        #expect(try await fixture.page(count: 10).ids == ["news"] + nine)
    }

    @Test func `a feed in preparation hides no cached photo`() async throws {
        let fixture = try await ServiceFixture(nine)
        fixture.update { $0.keys = Array((11...19).reversed()) }
        #expect(try await fixture.walk() == nine)
        let new = ["a", "b", "c"]
        fixture.update {
            $0.photos = new + $0.photos
            $0.keys = [99, 98, 97] + ($0.keys ?? [])
            $0.isPartial = true
        }
        #expect(try await fixture.account.refreshFeed("") == 3)
        #expect(try await fixture.walk() == new + nine)
    }

    @Test func `a list that ends before its own total is an invalid response`() async throws {
        let fixture = try await ServiceFixture(nine)
        _ = try await fixture.walk()
        fixture.update { ($0.photos, $0.total) = (["p1"], 9_000) }
        await #expect(throws: ProviderError.self) { try await fixture.account.refreshFeed("") }
        #expect(try await fixture.walk() == nine)
    }

    @Test func `a page that is fetched after a day is not shown out of order`() async throws {
        let fixture = try await ServiceFixture(nine)
        let first = try await fixture.page(count: 2)
        // The gap after p3 has the page token 3, which is another position a day later.
        let later = (1...12).map { "later\($0)" }
        fixture.update { $0.photos = later + $0.photos }
        fixture.ports.time.update { $0 = $0 + .seconds(86_400) }
        let second = try await fixture.page("", first.next, count: 2)
        #expect(second.ids == ["p3"])
        await #expect(throws: ProviderError.staleCursor) {
            try await fixture.page("", second.next, count: 2)
        }
        // A new walk has the order of the service.
        #expect(try await fixture.walk(count: 4) == later + nine)
    }

    @Test func `a page in an old gap is found by the known photos above it`() async throws {
        let fixture = try await ServiceFixture(nine)
        let first = try await fixture.page(count: 3)
        fixture.update { $0.photos = ["later"] + $0.photos }
        fixture.ports.time.update { $0 = $0 + .seconds(86_400) }
        #expect(try await fixture.page("", first.next, count: 9).ids == Array(nine.dropFirst(3)))
        #expect(try await fixture.walk() == ["later"] + nine)
    }

    @Test func `a page token that is rejected is replaced, also after arrivals`() async throws {
        for new in [[], ["n1", "n2"]] {
            let fixture = try await ServiceFixture(nine)
            let first = try await fixture.page(count: 3)
            fixture.update {
                $0.photos = new + $0.photos
                $0.hasStablePageTokens = true
                $0.rejectedTokens = ["3"]
            }
            let rest = try await fixture.page("", first.next, count: 9).ids
            #expect(rest == Array(nine.dropFirst(3)))
            let before = fixture.count("new 3")
            #expect(try await fixture.walk() == new + nine)
            #expect(fixture.count("new 3") == before)
        }
    }

    @Test func `rejected page tokens of successive parts are replaced`() async throws {
        let fixture = try await ServiceFixture(nine)
        let first = try await fixture.page(count: 6)
        fixture.update { ($0.hasStablePageTokens, $0.rejectedTokens) = (true, ["3", "6"]) }
        await #expect(throws: ProviderError.staleCursor) { try await fixture.page("", first.next) }
        #expect(try await fixture.walk() == nine)
        #expect(fixture.count("new 3") == 2)
    }

    @Test func `stable page tokens remain valid after a day`() async throws {
        let fixture = try await ServiceFixture(nine)
        fixture.update { $0.hasStablePageTokens = true }
        _ = try await fixture.page(count: 3)
        let first = try await fixture.page(count: 3)
        let later = (1...12).map { "later\($0)" }
        fixture.update { $0.photos = later + $0.photos }
        fixture.ports.time.update { $0 = $0 + .seconds(86_400) }
        _ = try await fixture.account.refreshFeed("")
        #expect(try await fixture.page("", first.next, count: 9).ids == Array(nine.dropFirst(3)))
        #expect(try await fixture.walk(count: 4) == later + nine)
    }

    @Test func `the notice of a broken source ends after the next list of sources`() async throws {
        let fixture = try await ServiceFixture(nine, isOpen: true)
        func notices() -> [String] { fixture.account.notices.map { String($0.prefix(20)) } }
        fixture.update {
            $0.sources = ["new", "topic1", "topic2"]
            for topic in ["topic1", "topic2"] { $0.pageErrors[topic] = .denied("It is broken.") }
        }
        _ = try await fixture.account.sources()
        for topic in ["topic1", "topic2"] {
            await #expect(throws: ProviderError.self) { try await fixture.page(topic) }
        }
        #expect(notices() == [#"The source "topic1" "#, #"The source "topic2" "#])
        // One of them is read again, the other one was deleted.
        fixture.update { ($0.sources, $0.pageErrors["topic1"]) = (["new", "topic1"], nil) }
        fixture.ports.time.update { $0 = $0 + .seconds(3601) }
        _ = try await fixture.account.sources()
        try await fixture.waitForRequests("topic1 top", count: 2)
        while !notices().isEmpty { try await Task.sleep(for: .milliseconds(2)) }
        #expect(fixture.count("topic2 top") == 1)
    }

    @Test func `a clock that is set back does not keep a page fresh`() async throws {
        let fixture = try await ServiceFixture(nine, isRead: true)
        fixture.update { $0.photos = ["news"] + $0.photos }
        fixture.ports.time.update { $0 = $0 + .seconds(-31_536_000) }
        #expect(try await fixture.page().ids == Array(nine.prefix(3)))
        try await fixture.waitForEvent("updated new 1")
        #expect(try await fixture.walk() == ["news"] + nine)
    }

    // MARK: The file

    @Test func `a cache that cannot have a file is in memory`() async throws {
        let fixture = try await ServiceFixture(nine, isOpen: true)
        fixture.engine.stop()
        let path = fixture.feedFile
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
        // Root may write anywhere, but a file cannot replace a folder.
        #expect(mkdir(path, 0o700) == 0)
        let next = try await ServiceFixture(after: fixture)
        #expect(try await next.walk() == nine)
        #expect(try await next.account.setLiked("p1", true) == .done)
        #expect(try await next.account.photo("p1").isLiked)
        next.disconnect()
        #expect(try await next.walk() == nine)
    }

    @Test(arguments: [false, true])
    func `a cache without deletions is deleted with the login`(isRemoved: Bool) async throws {
        let fixture = try await ServiceFixture(nine, isOpen: true, isRead: true)
        try fixture.executeInCache(
            "CREATE TRIGGER refuse BEFORE DELETE ON photo BEGIN SELECT RAISE(ABORT, 'no'); END")
        try await fixture.engine.accounts.end(fixture.account, isRemoval: isRemoved)
        #expect(try fixture.base.stored.accounts.first?.isLoggedIn == (isRemoved ? nil : false))
        // The first task learns that the contents are gone.
        _ = try? fixture.feedRows("photo")
        #expect(try fixture.feedRows("photo") == 0)
    }

    @Test func `the data are saved before the end waits for the disk of the cache`() async throws {
        let fixture = try await ServiceFixture(nine)
        let gate = try await fixture.base.holdStore(fixture.engine.stores.feeds.store)
        var isSaved = false
        fixture.engine.stop {
            isSaved = true
            gate.open()
        }
        #expect(isSaved)
    }

    // MARK: Limits

    @Test func `the least recently read sources are removed`() async throws {
        let fixture = try await ServiceFixture(nine)
        for number in 0..<FeedTables.sourcesLimit + 5 {
            fixture.ports.time.update { $0 = $0 + .seconds(1) }
            _ = try await fixture.page("topic\(number)")
        }
        #expect(try fixture.feedRows("source") == Int64(FeedTables.sourcesLimit))
        #expect(try fixture.feedRows("source WHERE id = 'topic4'") == 0)
        #expect(try fixture.feedRows("source WHERE id = 'topic5'") == 1)
    }
}
