import EngineModel
import ProviderKit
import System
import TestSupport
import Testing

@testable import EngineCore
@testable import Feeds
@testable import Services

/// Sources that clients watch: when they are refreshed, and when they are not.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct WatchTests {
    private let nine = (1...9).map { "p\($0)" }
    private let client = WatcherID.client(":1.1")
    /// The interval with its largest shift.
    private let interval = Duration.seconds(990)
    /// An account that is ready, of which a client has read the source `new`.
    private let fixture: ServiceFixture

    init() async throws {
        fixture = try await ServiceFixture(nine, isOpen: true)
        try await read("new", by: client)
    }

    private func read(_ source: String, by watcher: WatcherID, count: Int = 3) async throws {
        _ = try await fixture.page(source, count: count)
        fixture.account.watch(SourceID(source), by: watcher)
    }

    /// Advances the clocks, and waits until the refreshes that became due are finished.
    private func advance(_ duration: Duration) async throws {
        fixture.ports.time.update { $0 = $0 + duration }
        fixture.ports.clock.advance(by: duration)
        try await waitForRefreshes()
    }

    /// Advances the clocks, and expects the number of requests for the top of the default source so far.
    private func advance(
        _ duration: Duration, requests: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await advance(duration)
        #expect(fixture.count("new top") == requests, sourceLocation: sourceLocation)
    }

    private func waitForRefreshes() async throws {
        try await poll { fixture.account.feedWatch.isSettled }
    }

    private func report(_ limit: RateLimit) async throws {
        let session = try #require(fixture.account.remote?.session as? FakeServiceSession)
        session.continuation.yield(.rateLimit(limit))
        try await poll { fixture.account.rateLimit == limit }
    }

    @Test func `a client that only listens gets new photos within each interval`() async throws {
        for number in 1...5 {
            fixture.update { $0.photos.insert("new\(number)", at: 0) }
            try await advance(interval)
            #expect(fixture.base.events.value.count { $0 == "updated new 1" } == number)
            #expect(fixture.count("new top") == number + 1)
        }
    }

    @Test func `after the watcher is gone, there is no timer and no request`() async throws {
        #expect(fixture.account.feedWatch.isActive)
        fixture.engine.unwatch(client)
        #expect(!fixture.account.feedWatch.isActive)
        let requests = fixture.service.state.value.requests
        try await advance(.seconds(86_400))
        #expect(fixture.service.state.value.requests == requests)
    }

    @Test
    func `64 clients with pages of different lengths cost one request per interval`() async throws {
        for number in 2...64 {
            try await read("new", by: .client(":1.\(number)"), count: 1 + number % 3)
        }
        for intervals in 1...3 { try await advance(interval, requests: 1 + intervals) }
        for number in 1...63 { fixture.engine.unwatch(.client(":1.\(number)")) }
        try await advance(interval, requests: 5)
    }

    @Test func `an hour with three watched sources costs at most 15 requests`() async throws {
        try await read("other", by: client)
        try await read("topic", by: .client(":1.2"))
        for _ in 1...60 { try await advance(.seconds(60)) }
        let requests = fixture.service.state.value.requests
        #expect(requests.count <= 15, "\(requests)")
        for source in ["new", "other", "topic"] { #expect(fixture.count("\(source) top") >= 4) }
    }

    @Test func `a refresh by any caller restarts the interval`() async throws {
        try await advance(.seconds(600))
        _ = try await fixture.account.refreshFeed("")
        #expect(fixture.count("new top") == 2)
        try await advance(.seconds(890), requests: 2)
        // A read of an old page refreshes it, too.
        _ = try await fixture.page()
        try await poll {
            fixture.count("new top") == 3
                && fixture.account.remote?.feed?.tops.isRunning(SourceID("new")) == false
        }
        try await advance(.seconds(100), requests: 3)
        try await advance(interval, requests: 4)
    }

    @Test func `an empty source ID watches the default source of that moment`() async throws {
        fixture.engine.unwatch(client)
        try await read("", by: client)
        #expect(fixture.account.feedWatch.isWatched(SourceID("new")))
        try await fixture.account.setDefaultSource(SourceID("other"))
        try await advance(interval, requests: 2)
        #expect(fixture.count("other top") == 0)
    }

    // MARK: Conditions

    @Test func `a metered network delays the refresh of due sources`() async throws {
        fixture.engine.isMetered = true
        #expect(!fixture.account.feedWatch.isActive)
        try await advance(.seconds(7200), requests: 1)
        fixture.engine.isMetered = false
        try await waitForRefreshes()
        #expect(fixture.count("new top") == 2)
    }

    @Test func `a captive portal does not stop refreshes of a server that responds`() async throws {
        fixture.engine.setOnline(false)
        try await advance(interval, requests: 2)
        #expect(fixture.account.state == .ready)
    }

    @Test func `watched sources of an unreachable service are refreshed afterwards`() async throws {
        fixture.disconnect()
        try await advance(interval, requests: 2)
        try await fixture.state { if case .offline = $0 { true } else { false } }
        #expect(!fixture.account.feedWatch.isActive)
        fixture.reconnect { $0.photos.insert("news", at: 0) }
        try await fixture.waitForEvent("updated new 1")
        #expect(fixture.count("new top") == 3)
    }

    @Test func `nothing is refreshed during a rate limit`() async throws {
        let until = fixture.ports.time.value + .seconds(3000)
        fixture.update { $0.error = ProviderError.rateLimited(until: until) }
        try await advance(interval)
        #expect(fixture.account.state == .rateLimited(until: until))
        #expect(!fixture.account.feedWatch.isActive)
        fixture.update { $0.error = nil }
        let requests = fixture.service.state.value.requests
        try await fixture.waitForRetryTimer()
        try await advance(.seconds(1000))
        #expect(fixture.service.state.value.requests == requests)
        try await advance(.seconds(1100))
        try await fixture.state { $0 == .ready }
        try await waitForRefreshes()
        try await fixture.waitForRequests("new top", count: 3)
    }

    @Test func `less than a quarter of the request budget is left to clients`() async throws {
        let reset = fixture.ports.time.value + .seconds(5000)
        try await report(RateLimit(remaining: 12, limit: 50, reset: reset))
        try await advance(.seconds(4000), requests: 1)
        // A client may spend the rest.
        _ = try await fixture.account.refreshFeed("")
        #expect(fixture.count("new top") == 2)
        try await advance(.seconds(999), requests: 2)
        try await advance(.seconds(1), requests: 3)
    }

    @Test func `a quarter of the request budget suffices`() async throws {
        try await report(RateLimit(remaining: 25, limit: 100, reset: nil))
        try await advance(interval, requests: 2)
    }

    @Test func `a budget without a time of renewal counts as renewed after an hour`() async throws {
        try await report(RateLimit(remaining: 0, limit: 50, reset: nil))
        try await advance(.seconds(3599), requests: 1)
        try await advance(.seconds(1), requests: 2)
    }

    @Test func `a budget that ends with a refresh stops the other refreshes`() async throws {
        try await read("other", by: client)
        fixture.engine.isMetered = true
        try await advance(.seconds(2000))
        fixture.update { $0.isHeld = true }
        fixture.engine.isMetered = false
        try await poll { fixture.count("new top") + fixture.count("other top") == 3 }
        try await report(RateLimit(remaining: 1, limit: 50, reset: nil))
        fixture.update { $0.isHeld = false }
        try await waitForRefreshes()
        #expect(fixture.count("new top") + fixture.count("other top") == 3)
    }

    @Test func `after a resume, a source that became due is refreshed at once`() async throws {
        // The timer does not count the time of the suspension.
        fixture.ports.time.update { $0 = $0 + .seconds(3600) }
        fixture.engine.resumed()
        try await waitForRefreshes()
        #expect(fixture.count("new top") == 2)
        // A short sleep makes nothing due, and does not put off the next refresh.
        fixture.ports.time.update { $0 = $0 + .seconds(600) }
        fixture.engine.resumed()
        #expect(fixture.count("new top") == 2)
        try await advance(.seconds(390), requests: 3)
    }

    @Test func `a failed refresh is not repeated before the next interval`() async throws {
        fixture.update { $0.error = ProviderError.notFound("It is gone.") }
        try await advance(interval, requests: 2)
        fixture.engine.retryNow()
        try await advance(.seconds(890), requests: 2)
        fixture.update { $0.error = nil }
        try await advance(.seconds(100), requests: 3)
    }

    // MARK: Settings and sessions

    @Test func `a change of the interval applies to existing watchers`() async throws {
        fixture.engine.setRefreshInterval(.zero)
        #expect(!fixture.account.feedWatch.isActive)
        try await advance(.seconds(7200), requests: 1)
        fixture.engine.setRefreshInterval(.seconds(1))
        #expect(fixture.engine.refreshInterval == .seconds(5))
        try await waitForRefreshes()
        #expect(fixture.count("new top") == 2)
        try await advance(.seconds(6), requests: 3)
        fixture.engine.setRefreshInterval(.seconds(3600))
        try await advance(.seconds(3500), requests: 3)
        try await advance(.seconds(500), requests: 4)
    }

    @Test func `a watch outlasts a session, and pauses while logged out`() async throws {
        fixture.engine.restartSessions(of: "service")
        try await fixture.state { $0 == .ready }
        try await advance(interval, requests: 2)
        try await fixture.engine.accounts.logOut(fixture.account)
        #expect(!fixture.account.feedWatch.isActive)
        let requests = fixture.service.state.value.requests
        try await advance(.seconds(7200))
        #expect(fixture.service.state.value.requests == requests)
        #expect(fixture.account.feedWatch.isWatched(SourceID("new")))
    }

    @Test func `an account that is removed leaves no timer`() async throws {
        try await fixture.engine.accounts.remove(fixture.account)
        #expect(!fixture.account.feedWatch.isActive)
    }

    // MARK: Retries after an outage

    @Test func `after an outage, only some of the known sources are refreshed`() async throws {
        let fixture = try await ServiceFixture(nine, isOpen: true)
        for number in 1...12 { _ = try await fixture.page("topic\(number)") }
        fixture.update { $0.error = ProviderError.notFound("It is gone.") }
        await #expect(throws: ProviderError.self) {
            try await fixture.account.refreshFeed("topic12")
        }
        fixture.ports.time.update { $0 = $0 + .seconds(3600) }
        fixture.disconnect()
        for number in 1...11 { _ = try await fixture.page("topic\(number)") }
        // Searches without a result.
        for number in 1...52 {
            await #expect(throws: HTTPError.self) {
                try await fixture.page("topic search \(number)")
            }
        }
        try await fixture.service.state.wait { state in
            (1...11).allSatisfy { number in
                state.requests.count { $0 == "topic\(number) top" } == 2
            } ? 1 : nil
        }
        try await fixture.state { if case .offline = $0 { true } else { false } }
        let before = fixture.service.state.value.requests.count
        fixture.reconnect()
        try await fixture.service.state.wait { $0.requests.count == before + 9 ? 1 : nil }
        fixture.engine.retryNow()
        _ = try await fixture.account.refreshFeed("new")
        let requests = fixture.service.state.value.requests[before...]
        #expect(
            Set(requests) == Set((4...11).map { "topic\($0) top" } + ["profile", "new top"]),
            "\(requests)")
        #expect(requests.count == 10)
    }

    // MARK: Changes

    @Test func `a rate limit is a change of the state, and of nothing else`() async throws {
        fixture.base.changes.update { $0 = [] }
        try await report(RateLimit(remaining: 40, limit: 50, reset: nil))
        #expect(Set(fixture.base.changes.value) == [.state])
        try await fixture.account.setLabel("Me")
        #expect(Set(fixture.base.changes.value) == [.state, .settings])
        try await fixture.engine.accounts.logOut(fixture.account)
        #expect(fixture.base.changes.value.last == .session)
    }
}
