import Glibc
import ProviderKit
import TestSupport
import Testing

@testable import Engine

/// Photos of a service, as they are kept and served.
@Suite(.timeLimit(.minutes(1))) @MainActor
struct RemoteFeedTests {
    private let nine = (1...9).map { "p\($0)" }

    @Test func `a walk shows every photo once, and asks for each page once`() async throws {
        let fixture = try await ServiceFixture(nine)
        #expect(try await fixture.walk(count: 2) == nine)
        #expect(try await fixture.walk(count: 5) == nine)
        for page in ["top", "3", "6"] { #expect(fixture.count("new \(page)") == 1) }
    }

    @Test func `a walk goes on over a rest`() async throws {
        let fixture = try await ServiceFixture(nine)
        let first = try await fixture.page(count: 2)
        await fixture.engine.releaseMemory()
        let second = try await fixture.page("", first.next, count: 7)
        #expect(first.ids + second.ids == nine)
        #expect(try await fixture.walk(count: 2) == nine)
        #expect(fixture.count("new top") == 1)
    }

    @Test func `a page is put together from several of the service`() async throws {
        let fixture = try await ServiceFixture(nine)
        #expect(try await fixture.page(count: 7).ids == Array(nine.prefix(7)))
        let all = try await fixture.page(count: 9)
        #expect(all.ids == nine)
        #expect(all.next == "")
    }

    @Test func `what comes in at the top does not disturb a walk`() async throws {
        let fixture = try await ServiceFixture(nine)
        let first = try await fixture.page(count: 2)
        fixture.service.state.update { $0.photos = ["new2", "new1"] + $0.photos }
        #expect(try await fixture.account.refreshFeed("") == 2)
        try await fixture.told("updated new 2")
        var rest: [String] = []
        var cursor = first.next
        while !cursor.isEmpty {
            let page = try await fixture.page("", cursor, count: 2)
            rest += page.ids
            cursor = page.next
        }
        #expect(first.ids + rest == nine)
        #expect(try await fixture.walk() == ["new2", "new1"] + nine)
    }

    @Test func `a gap between what is new and what was known is closed by walking`() async throws {
        let fixture = try await ServiceFixture(nine)
        _ = try await fixture.page()
        let later = (1...8).map { "later\($0)" }
        fixture.service.state.update { $0.photos = later + $0.photos }
        #expect(try await fixture.account.refreshFeed("") == 3)
        #expect(try await fixture.walk(count: 4) == later + nine)
        // One photo alone was no proof that all between is known; the page after it is.
        #expect(try await fixture.walk(count: 4) == later + nine)
        // Known now: nobody has to be asked again.
        let requests = fixture.service.state.value.requests.count
        #expect(try await fixture.walk(count: 4) == later + nine)
        #expect(fixture.service.state.value.requests.count == requests)
    }

    @Test func `a photo that shows up between known ones takes its place`() async throws {
        let fixture = try await ServiceFixture(["a", "b", "c"])
        _ = try await fixture.page()
        fixture.service.state.update { $0.photos = ["a", "x", "b", "c"] }
        fixture.service.state.update { $0.pageSize = 4 }
        #expect(try await fixture.account.refreshFeed("") == 1)
        #expect(try await fixture.walk() == ["a", "x", "b", "c"])
    }

    @Test func `equal calls at once ask the service once`() async throws {
        let fixture = try await ServiceFixture(nine)
        fixture.service.state.update { $0.isHeld = true }
        let calls = (0..<20).map { _ in Task { try await fixture.page().ids } }
        try await fixture.service.state.wait { $0.requests.contains("new top") ? true : nil }
        fixture.service.state.update { $0.isHeld = false }
        for call in calls { #expect(try await call.value == Array(nine.prefix(3))) }
        #expect(fixture.count("new top") == 1)
    }

    @Test func `a young page asks nobody, an old one behind the answer`() async throws {
        let fixture = try await ServiceFixture(nine)
        _ = try await fixture.page()
        fixture.service.state.update { $0.photos = ["new"] + $0.photos }
        fixture.world.time.update { $0 = $0 + .seconds(299) }
        #expect(try await fixture.page().ids == Array(nine.prefix(3)))
        #expect(fixture.count("new top") == 1)
        fixture.world.time.update { $0 = $0 + .seconds(2) }
        #expect(try await fixture.page().ids == Array(nine.prefix(3)))
        try await fixture.told("updated new 1")
        #expect(try await fixture.page().ids == ["new", "p1", "p2"])
    }

    @Test func `without a network what is known is served, also after a restart`() async throws {
        let fixture = try await ServiceFixture(nine)
        let first = try await fixture.page(count: 2)
        let offline = HTTPError.unreachable("no network")
        fixture.service.state.update { $0.error = offline }
        let next = try await ServiceFixture(after: fixture)
        next.world.time.update { $0 = $0 + .seconds(3600) }
        #expect(try await next.page(count: 2).ids == ["p1", "p2"])
        // One photo is known, the rest is not: it comes, and the page after it tells what is wrong.
        let second = try await next.page("", first.next, count: 2)
        #expect(second.ids == ["p3"])
        await #expect(throws: offline) { try await next.page("", second.next, count: 2) }
        try await next.state { if case .offline = $0 { true } else { false } }
        next.service.state.update { $0.error = nil }
        #expect(try await next.page("", second.next, count: 2).ids == ["p4", "p5"])
        try await next.state { $0 == .ready }
    }

    @Test func `a cursor of a cache that was deleted is stale`() async throws {
        let fixture = try await ServiceFixture(nine)
        let first = try await fixture.page(count: 2)
        fixture.engine.stop()
        let cache = fixture.base.directory.appending("cache")
        for suffix in ["", "-wal", "-shm"] { unlink("\(cache)/feeds.sqlite\(suffix)") }
        let next = try await ServiceFixture(after: fixture)
        await #expect(throws: ProviderError.staleCursor) { try await next.page("", first.next) }
        #expect(try await next.page().ids == ["p1", "p2", "p3"])
    }

    @Test func `a cache that is deleted while it is used is filled again`() async throws {
        let fixture = try await ServiceFixture(nine)
        _ = try await fixture.page()
        let cache = fixture.base.directory.appending("cache")
        for suffix in ["", "-wal", "-shm"] { unlink("\(cache)/feeds.sqlite\(suffix)") }
        #expect(try await fixture.walk() == nine)
        #expect(fixture.count("new top") == 2)
    }

    @Test func `a cache that is damaged is set aside`() async throws {
        let fixture = try await ServiceFixture(nine)
        _ = try await fixture.page()
        fixture.engine.stop()
        let cache = fixture.base.directory.appending("cache")
        for suffix in ["-wal", "-shm"] { unlink("\(cache)/feeds.sqlite\(suffix)") }
        try fixture.base.directory.write(
            "this is no database, but long enough", to: "cache/feeds.sqlite")
        let next = try await ServiceFixture(after: fixture)
        #expect(try await next.walk() == nine)
        #expect(access("\(cache)/feeds.sqlite.damaged", F_OK) == 0)
    }

    @Test func `a source that is none, and a cursor from elsewhere, are refused`() async throws {
        let fixture = try await ServiceFixture(nine)
        let page = try await fixture.page(count: 2)
        await #expect(throws: ProviderError.notFound("There is no source \"none\".")) {
            try await fixture.page("none")
        }
        await #expect(throws: ProviderError.self) { try await fixture.page("other", page.next) }
        await #expect(throws: ProviderError.self) { try await fixture.page("", "garbage") }
    }

    @Test func `a photo that is gone leaves every source`() async throws {
        let fixture = try await ServiceFixture(nine)
        _ = try await fixture.page("new")
        _ = try await fixture.page("other")
        fixture.service.state.update { $0.photos.remove(at: 1) }
        await #expect(throws: ProviderError.self) {
            _ = try await fixture.account.setLiked("p2", true)
        }
        try await fixture.told("photos removed [p2]")
        #expect(try await fixture.page("new", count: 2).ids == ["p1", "p3"])
        #expect(try await fixture.page("other", count: 2).ids == ["p1", "p3"])
    }

    @Test func `a rate limit stops requests until it is over`() async throws {
        let fixture = try await ServiceFixture(nine)
        _ = try await fixture.page()
        let until = fixture.world.time.value + .seconds(600)
        fixture.service.state.update { $0.error = ProviderError.rateLimited(until: until) }
        await #expect(throws: ProviderError.rateLimited(until: until)) {
            _ = try await fixture.account.refreshFeed("")
        }
        #expect(fixture.account.state == .rateLimited(until: until))
        #expect(fixture.account.retryAt == until)
        let requests = fixture.service.state.value.requests.count
        fixture.service.state.update { $0.error = nil }
        await #expect(throws: ProviderError.rateLimited(until: until)) {
            _ = try await fixture.account.refreshFeed("")
        }
        // What is known is served.
        #expect(try await fixture.page().ids == Array(nine.prefix(3)))
        #expect(fixture.service.state.value.requests.count == requests)
        fixture.world.time.update { $0 = until }
        fixture.world.clock.advance(by: .seconds(600))
        try await fixture.state { $0 == .ready }
        #expect(try await fixture.account.refreshFeed("") == 0)
    }

    @Test func `three failures in a row make the account failed, one success heals it`()
        async throws
    {
        let fixture = try await ServiceFixture(nine)
        try await fixture.told("profile Ada")
        fixture.service.state.update { $0.error = ProviderError.failed("Nonsense.") }
        for _ in 0..<3 {
            #expect(fixture.account.state == .ready)
            await #expect(throws: ProviderError.self) {
                _ = try await fixture.account.refreshFeed("")
            }
        }
        #expect(fixture.account.state == .failed(reason: "Nonsense.", remedy: .retry))
        fixture.service.state.update { $0.error = nil }
        _ = try await fixture.account.refreshFeed("")
        #expect(fixture.account.state == .ready)
    }
}
