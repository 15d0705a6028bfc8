import EngineModel
import Glibc
import ProviderKit
import TestSupport
import Testing

@testable import EngineCore
@testable import Services

/// Pages of a service from the feed cache.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct RemoteFeedTests {
    private let nine = (1...9).map { "p\($0)" }

    @Test func `a walk shows every photo once and fetches each page once`() async throws {
        let fixture = try await ServiceFixture(nine)
        #expect(try await fixture.walk(count: 2) == nine)
        #expect(try await fixture.walk(count: 5) == nine)
        for page in ["top", "3", "6"] { #expect(fixture.count("new \(page)") == 1) }
    }

    @Test func `a walk continues after memory is released`() async throws {
        let fixture = try await ServiceFixture(nine)
        let first = try await fixture.page(count: 2)
        await fixture.engine.releaseMemory()
        let second = try await fixture.page("", first.next, count: 7)
        #expect(first.ids + second.ids == nine)
        #expect(try await fixture.walk(count: 2) == nine)
        #expect(fixture.count("new top") == 1)
    }

    @Test func `new photos at the top do not affect a walk`() async throws {
        let fixture = try await ServiceFixture(nine)
        let first = try await fixture.page(count: 2)
        fixture.update { $0.photos = ["new2", "new1"] + $0.photos }
        #expect(try await fixture.account.refreshFeed("") == 2)
        try await fixture.waitForEvent("updated new 2")
        #expect(try await first.ids + fixture.walk(from: first.next) == nine)
        #expect(try await fixture.walk() == ["new2", "new1"] + nine)
    }

    @Test func `a walk closes the gap between new and known photos`() async throws {
        let fixture = try await ServiceFixture(nine, isRead: true)
        let later = (1...8).map { "later\($0)" }
        fixture.update { $0.photos = later + $0.photos }
        #expect(try await fixture.account.refreshFeed("") == 3)
        #expect(try await fixture.walk(count: 4) == later + nine)
        // One known photo does not prove that the gap is closed; the page after it does.
        #expect(try await fixture.walk(count: 4) == later + nine)
        // All photos are cached: no request is needed.
        let requests = fixture.service.state.value.requests.count
        #expect(try await fixture.walk(count: 4) == later + nine)
        #expect(fixture.service.state.value.requests.count == requests)
    }

    @Test func `sources whose IDs differ only in their bytes share no requests`() async throws {
        let fixture = try await ServiceFixture(nine)
        let sources = ["topic:\u{e9}", "topic:e\u{301}"]
        var cursors: [String] = []
        for source in sources { cursors.append(try await fixture.page(source).next) }
        // As texts, both requests are equal.
        let request = "\(sources[0]) 3"
        fixture.update { $0.held = [request] }
        let pages = zip(sources, cursors).map { source, cursor in
            Task { try await fixture.page(source, cursor).ids }
        }
        try await fixture.waitForRequests(request, count: 2)
        fixture.update { $0.held = [] }
        for page in pages { #expect(try await page.value == Array(nine[3..<6])) }
    }

    @Test(arguments: [false, true])
    func `an end is requested again after an hour or a restart`(isRestart: Bool) async throws {
        let five = Array(nine.prefix(5))
        var fixture = try await ServiceFixture(five, isOpen: true)
        #expect(try await fixture.walk() == five)
        fixture.update { $0.photos = nine }
        #expect(try await fixture.walk() == five)
        if isRestart {
            fixture = try await ServiceFixture(after: fixture, isOpen: true)
        } else {
            fixture.ports.time.update { $0 = $0 + .seconds(3601) }
        }
        #expect(try await fixture.walk() == nine)
    }

    @Test func `an end whose request failed is requested again after a pause`() async throws {
        let five = Array(nine.prefix(5))
        let first = try await ServiceFixture(five, isOpen: true)
        #expect(try await first.walk() == five)
        let fixture = try await ServiceFixture(after: first, isOpen: true)
        fixture.update {
            $0.photos = nine
            $0.pageErrors["new"] = .failed("It is broken.")
            $0.requests = []
        }
        for _ in 0..<3 { #expect(try await fixture.walk() == five) }
        #expect(fixture.pageRequests == 1)
        fixture.update { $0.pageErrors = [:] }
        fixture.ports.time.update { $0 = $0 + .seconds(61) }
        #expect(try await fixture.walk() == nine)
    }

    @Test(arguments: [false, true])
    func `a refresh is as deep as the walks of a day, up to 5 pages`(isRestart: Bool) async throws {
        let photos = (1...24).map { "p\($0)" }
        var fixture = try await ServiceFixture(photos, isOpen: true)
        _ = try await fixture.account.refreshFeed("")
        #expect(try await fixture.walk() == photos)
        if isRestart { fixture = try await ServiceFixture(after: fixture, isOpen: true) }
        fixture.update { $0.photos.removeAll { ["p11", "p23"].contains($0) } }
        let before = fixture.pageRequests
        #expect(try await fixture.account.refreshFeed("") == 0)
        #expect(fixture.pageRequests == before + 5)
        try await fixture.waitForEvent("updated new 0")
        #expect(try await fixture.walk().contains("p11") == false)
        fixture.ports.time.update { $0 = $0 + .seconds(86_401) }
        let later = fixture.pageRequests
        _ = try await fixture.account.refreshFeed("")
        #expect(fixture.pageRequests == later + 1)
    }

    @Test func `a refresh that only moves photos is announced`() async throws {
        let fixture = try await ServiceFixture(["a", "b", "c"], isOpen: true, isRead: true)
        fixture.update { $0.photos = ["c", "b", "a"] }
        #expect(try await fixture.account.refreshFeed("") == 0)
        try await fixture.waitForEvent("updated new 0")
        #expect(try await fixture.walk() == ["c", "b", "a"])
    }

    @Test func `cached photos are served without a network, also after a restart`() async throws {
        let fixture = try await ServiceFixture(nine)
        let first = try await fixture.page(count: 2)
        let offline = HTTPError.unreachable("no network")
        fixture.update { $0.error = offline }
        let next = try await ServiceFixture(after: fixture)
        next.ports.time.update { $0 = $0 + .seconds(3600) }
        #expect(try await next.page(count: 2).ids == ["p1", "p2"])
        // One photo is cached, the rest is not: it is returned, and the next page fails.
        let second = try await next.page("", first.next, count: 2)
        #expect(second.ids == ["p3"])
        await #expect(throws: offline) { try await next.page("", second.next, count: 2) }
        try await next.state { if case .offline = $0 { true } else { false } }
        next.update { $0.error = nil }
        #expect(try await next.page("", second.next, count: 2).ids == ["p4", "p5"])
        try await next.state { $0 == .ready }
    }

    @Test func `a cursor of a deleted cache is stale`() async throws {
        let fixture = try await ServiceFixture(nine)
        let first = try await fixture.page(count: 2)
        fixture.engine.stop()
        for suffix in ["", "-wal", "-shm"] { unlink(fixture.feedFile + suffix) }
        let next = try await ServiceFixture(after: fixture)
        await #expect(throws: ProviderError.staleCursor) { try await next.page("", first.next) }
        #expect(try await next.page().ids == ["p1", "p2", "p3"])
    }

    @Test func `a cache that is deleted while it is used is filled again`() async throws {
        let fixture = try await ServiceFixture(nine, isRead: true)
        for suffix in ["", "-wal", "-shm"] { unlink(fixture.feedFile + suffix) }
        #expect(try await fixture.walk() == nine)
        #expect(fixture.count("new top") == 2)
    }

    @Test func `an unknown source and a cursor of another source are refused`() async throws {
        let fixture = try await ServiceFixture(nine)
        let page = try await fixture.page(count: 2)
        await #expect(throws: ProviderError.notFound("There is no source \"none\".")) {
            try await fixture.page("none")
        }
        await #expect(throws: ProviderError.self) { try await fixture.page("other", page.next) }
        await #expect(throws: ProviderError.self) { try await fixture.page("", "garbage") }
    }

    @Test func `a deleted photo is removed from every source`() async throws {
        let fixture = try await ServiceFixture(nine)
        _ = try await fixture.page("new")
        _ = try await fixture.page("other")
        fixture.update { $0.photos.remove(at: 1) }
        await #expect(throws: ProviderError.self) { try await fixture.account.setLiked("p2", true) }
        try await fixture.waitForEvent("photos removed [p2]")
        #expect(try await fixture.page("new", count: 2).ids == ["p1", "p3"])
        #expect(try await fixture.page("other", count: 2).ids == ["p1", "p3"])
    }

    @Test func `a photo that left its source is reported once it is not found`() async throws {
        let fixture = try await ServiceFixture(nine, isOpen: true, isRead: true)
        fixture.update { $0.photos.remove(at: 1) }
        _ = try await fixture.account.refreshFeed("new")
        #expect(!fixture.base.events.value.contains("photos removed [p2]"))
        await #expect(throws: ProviderError.notFound("No p2.")) {
            _ = try await fixture.account.photo("p2")
        }
        try await fixture.waitForEvent("photos removed [p2]")
    }

    @Test func `a rate limit stops requests until it is over`() async throws {
        let fixture = try await ServiceFixture(nine, isRead: true)
        let until = fixture.ports.time.value + .seconds(600)
        fixture.update { $0.error = ProviderError.rateLimited(until: until) }
        await #expect(throws: ProviderError.rateLimited(until: until)) {
            _ = try await fixture.account.refreshFeed("")
        }
        #expect(fixture.account.state == .rateLimited(until: until))
        #expect(fixture.account.retryAt == until)
        let requests = fixture.service.state.value.requests.count
        fixture.update { $0.error = nil }
        await #expect(throws: ProviderError.rateLimited(until: until)) {
            _ = try await fixture.account.refreshFeed("")
        }
        // Cached photos are served.
        #expect(try await fixture.page().ids == Array(nine.prefix(3)))
        #expect(fixture.service.state.value.requests.count == requests)
        try await fixture.waitForRetryTimer()
        fixture.ports.time.update { $0 = until }
        fixture.ports.clock.advance(by: .seconds(600))
        try await fixture.state { $0 == .ready }
        #expect(try await fixture.account.refreshFeed("") == 0)
    }

    @Test(arguments: [
        (SessionStatus.failed(reason: "No."), AccountState.failed(reason: "No.", remedy: .retry)),
        (.loading(reason: "Soon."), .loading(reason: "Soon.")),
    ])
    func `a state that a session reports ends when a request succeeds`(
        _ status: SessionStatus, _ state: AccountState
    ) async throws {
        let fixture = try await ServiceFixture(nine, isOpen: true)
        try await fixture.state { $0 == .ready }
        let service = try #require(fixture.account.service)
        service.update(status)
        #expect(fixture.account.state == state)
        _ = try await fixture.account.refreshFeed("")
        #expect(fixture.account.state == .ready)
        // Only the user can end this state.
        service.update(.failed(reason: "No.", remedy: .configure))
        _ = try await fixture.account.refreshFeed("")
        #expect(fixture.account.state == .failed(reason: "No.", remedy: .configure))
    }

    @Test func `three consecutive failures make the account fail until a success`() async throws {
        let fixture = try await ServiceFixture(nine, isOpen: true)
        fixture.update { $0.error = ProviderError.failed("Nonsense.") }
        for _ in 0..<3 {
            #expect(fixture.account.state == .ready)
            await #expect(throws: ProviderError.self) { try await fixture.account.refreshFeed("") }
        }
        #expect(fixture.account.state == .failed(reason: "Nonsense.", remedy: .retry))
        fixture.update { $0.error = nil }
        _ = try await fixture.account.refreshFeed("")
        #expect(fixture.account.state == .ready)
    }
}

/// Pages without photos that are followed by others, and photos that the settings exclude.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct EmptyPageTests {
    @Test func `a walk continues below a first page without photos`() async throws {
        let all = (1...12).map { "\($0)" }
        let fixture = try await ServiceFixture(all)
        fixture.update { $0.hidden = Set(all.prefix(7)) }
        #expect(try await fixture.walk("new") == Array(all.suffix(5)))
        // Photos that arrive later are at the top.
        fixture.update { $0.photos.insert("0", at: 0) }
        #expect(try await fixture.account.refreshFeed("new") == 1)
        #expect(try await fixture.walk("new") == ["0"] + all.suffix(5))
        fixture.update { $0.photos.insert(contentsOf: ["y", "z"], at: 0) }
        #expect(try await fixture.account.refreshFeed("new") == 2)
        #expect(try await fixture.walk("new") == ["y", "z", "0"] + all.suffix(5))
    }

    @Test func `pages without photos cost eight requests, then none for a minute`() async throws {
        let all = (1...80).map { "\($0)" }
        let fixture = try await ServiceFixture(all)
        fixture.update { $0.hidden = Set(all.dropLast()) }
        var cursor = ""

        for attempt in 1...3 {
            for _ in 0..<2 {
                let (ids, next) = try await fixture.page("new", cursor, count: 30)
                #expect(ids.isEmpty && !next.isEmpty)
                #expect(fixture.pageRequests == 8 * attempt)
                cursor = attempt == 2 ? "" : next
            }
            fixture.ports.clock.advance(by: .seconds(61))
            fixture.ports.time.update { $0 = $0 + .seconds(61) }
        }
        #expect(try await fixture.page("new", cursor, count: 30).ids == ["80"])
    }

    @Test func `a page of a source with few photos costs eight requests`() async throws {
        let all = (1...80).map { "\($0)" }
        let fixture = try await ServiceFixture(all)
        let shown = ["3", "20", "40", "60", "80"]
        fixture.update { $0.hidden = Set(all).subtracting(shown) }
        var found: [String] = []
        var cursor = ""
        repeat {
            let before = fixture.pageRequests
            let (ids, next) = try await fixture.page("new", cursor, count: 30)
            #expect(!ids.isEmpty)
            #expect(fixture.pageRequests <= before + 8)
            found += ids
            cursor = next
        } while !cursor.isEmpty
        #expect(found == shown)
    }

    @Test func `a change of the settings replaces the cached photos`() async throws {
        let fixture = try await ServiceFixture(["1", "2", "3", "4"])
        fixture.update { $0.cacheVariant = "all" }
        let (ids, cursor) = try await fixture.page("new", count: 2)
        #expect(ids == ["1", "2"])
        fixture.update { ($0.cacheVariant, $0.hidden) = ("", ["2"]) }
        #expect(try await fixture.walk("new") == ["1", "3", "4"])
        await #expect(throws: ProviderError.staleCursor) { try await fixture.page("new", cursor) }
        fixture.update { ($0.cacheVariant, $0.hidden) = ("all", []) }
        #expect(try await fixture.walk("new") == ["1", "2", "3", "4"])
    }
}

extension ServiceFixture {
    /// The number of requests for pages of the source `new`.
    fileprivate var pageRequests: Int {
        service.state.value.requests.count { $0.hasPrefix("new ") }
    }
}
