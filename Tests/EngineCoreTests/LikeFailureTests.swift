import Likes
import ProviderKit
import TestSupport
import Testing

@testable import EngineCore
@testable import Services

/// Likes during failures of the service, the disk and the clock.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct LikeFailureTests {
    private static let failures: [any Error & Sendable] = [
        HTTPError.unreachable("no network"), ProviderError.failed("Trouble."),
        ProviderError.unauthorized,
    ]

    @Test(arguments: 0..<3)
    func `a like of an unknown photo is queued while requests fail`(index: Int) async throws {
        let fixture = try await ServiceFixture(["a"], isOpen: true)
        fixture.update { $0.error = Self.failures[index] }
        #expect(try await fixture.account.setLiked("a", true) == .queued)
        // The state at the service is unknown.
        await #expect(throws: (any Error).self) { try await fixture.account.toggleLike("a") }
        #expect(try await fixture.account.setLiked("a", false) == .queued)
        #expect(fixture.account.pendingLikes == [PhotoID("a")])
        fixture.reconnect { $0.liked = ["a"] }
        try await fixture.waitForEvent("unliked a 0")
        #expect(fixture.service.state.value.liked.isEmpty && fixture.account.pendingLikes.isEmpty)
    }

    @Test func `a queued like of a photo that does not exist fails at its delivery`() async throws {
        let fixture = try await ServiceFixture(["a"])
        fixture.disconnect()
        #expect(try await fixture.account.setLiked("none", true) == .queued)
        fixture.reconnect()
        try await fixture.waitForEvent("like failed none")
        #expect(fixture.account.pendingLikes.isEmpty)
    }

    @Test func `a failing like does not block others`() async throws {
        let fixture = try await ServiceFixture(["a", "b", "c"], isRead: true)
        fixture.disconnect()
        for id in ["a", "b", "c"] {
            #expect(try await fixture.account.setLiked(id, true) == .queued)
        }
        fixture.reconnect { $0.failingPhoto = "a" }
        try await fixture.service.state.wait { $0.liked == ["b", "c"] ? true : nil }
        try await fixture.waitForEvent("liked c 1")
        #expect(fixture.account.pendingLikes == [PhotoID("a")])
        // It is retried automatically, with increasing delays.
        #expect(fixture.account.retryAt != nil)
        fixture.update { $0.failingPhoto = nil }
        try await fixture.waitForRetryTimer()
        fixture.ports.clock.advance(by: .seconds(20))
        try await fixture.waitForEvent("liked a 1")
        #expect(fixture.account.retryAt == nil)
    }

    @Test func `queued likes are sent once and in order`() async throws {
        let ids = (0..<20).map { "p\($0)" }
        let fixture = try await ServiceFixture(ids)
        fixture.update { $0.pageSize = 20 }
        _ = try await fixture.page()
        fixture.disconnect()
        for id in ids { _ = try await fixture.account.setLiked(id, true) }
        let next = try await ServiceFixture(after: fixture)
        next.update { ($0.requests, $0.error) = ([], nil) }
        next.engine.retryNow()
        try await next.waitForEvent("liked p19 1")
        let sent = next.service.state.value.requests.filter { $0.hasPrefix("like") }
        #expect(sent == ids.map { "like \($0)" })
    }

    @Test func `a like is sent once even if its confirmation cannot be stored`() async throws {
        let fixture = try await ServiceFixture(["a"], isRead: true)
        try fixture.base.execute(
            """
            CREATE TRIGGER refuse BEFORE INSERT ON outbox WHEN NEW.state = 'confirmed'
                BEGIN SELECT RAISE(ABORT, 'no'); END
            """)
        // The service has confirmed it.
        #expect(try await fixture.account.setLiked("a", true) == .done)
        for _ in 0..<3 {
            fixture.engine.retryNow()
            _ = try await fixture.account.setLiked("a", true)
        }
        #expect(fixture.count("like a") == 1)
        try fixture.base.execute("DROP TRIGGER refuse")
        fixture.engine.retryNow()
        try await poll { try fixture.base.rows("SELECT state FROM outbox") == ["confirmed"] }
        #expect(try await fixture.account.setLiked("a", true) == .done)
        #expect(fixture.count("like a") == 1)
        #expect(fixture.account.pendingLikes.isEmpty)
        #expect(try await fixture.account.setLiked("a", false) == .done)
        #expect(fixture.service.state.value.liked.isEmpty)
    }

    @Test func `a refresh of the account sends local likes and unlikes`() async throws {
        let fixture = try await ServiceFixture(["a", "b", "c"])
        fixture.update { $0.liked = ["c"] }
        _ = try await fixture.page()
        fixture.update { $0.likeError = ProviderError.denied("no") }
        #expect(try await fixture.account.setLiked("a", true) == .local)
        #expect(try await fixture.account.setLiked("b", true) == .local)
        #expect(try await fixture.account.setLiked("c", false) == .local)
        #expect(try await fixture.page("likes").ids == ["b", "a"])
        #expect(try await !fixture.account.photo("c").isLiked)
        let count = fixture.account.likeCount
        fixture.update { $0.requests = [] }
        // The service still refuses: one request is enough.
        try await fixture.account.refresh()
        try await fixture.base.events.wait { events in
            events.count { $0.hasPrefix("unliked c") } == 2 ? true : nil
        }
        #expect(fixture.service.state.value.requests.filter { $0.hasPrefix("like ") } == ["like a"])
        #expect(fixture.account.pendingLikes.isEmpty)
        #expect(fixture.account.likeCount == count)
        // The worker returns the other likes after the event: first the rows, then the cache.
        try await poll {
            try fixture.base.rows("SELECT state FROM outbox") == ["local", "local", "local"]
        }
        try await poll { try await fixture.page("likes").ids == ["b", "a"] }
        fixture.update { $0.likeError = nil }
        try await fixture.account.refresh()
        try await fixture.service.state.wait { $0.liked == ["a", "b"] ? true : nil }
    }

    @Test func `a clock that is set back does not prevent requests`() async throws {
        let fixture = try await ServiceFixture(["a"], isRead: true)
        fixture.update { $0.likeError = ProviderError.denied("no") }
        #expect(try await fixture.account.setLiked("a", true) == .local)
        fixture.update { $0.likeError = nil }
        fixture.ports.time.update { $0 = $0 + .seconds(-31_536_000) }
        try await fixture.account.refresh()
        try await poll { fixture.account.pendingLikes.isEmpty }
        #expect(try await fixture.account.setLiked("a", false) == .done)
        // Nor are lists ignored for a year.
        #expect(try await fixture.account.setLiked("a", true) == .done)
        fixture.ports.time.update { $0 = $0 + .seconds(-31_536_000) }
        fixture.update { $0.liked = [] }
        await fixture.account.remote?.refreshWatched(SourceID("new"))
        #expect(try await !fixture.account.photo("a").isLiked)
    }

    @Test func `a like by another client is reported and moves between the sources`() async throws {
        let fixture = try await ServiceFixture(["a", "b"])
        _ = try await fixture.page("new")
        _ = try await fixture.page("likes")
        fixture.update { $0.liked = ["b"] }
        _ = try await fixture.account.refreshFeed("new")
        try await fixture.waitForEvent("liked b 1")
        try await fixture.waitForEvent("updated likes 1")
        #expect(try await fixture.page("likes").ids == ["b"])
        fixture.update { $0.liked = [] }
        _ = try await fixture.account.refreshFeed("new")
        try await fixture.waitForEvent("unliked b 0")
        #expect(try await fixture.page("likes").ids == [])
        // The list of likes reports an unlike, too.
        fixture.update { $0.liked = ["a"] }
        _ = try await fixture.account.refreshFeed("new")
        try await fixture.waitForEvent("liked a 1")
        fixture.update { $0.liked = [] }
        // An empty list counts when it is repeated.
        for _ in 0..<2 { _ = try await fixture.account.refreshFeed("likes") }
        try await fixture.waitForEvent("unliked a 0")
    }

    @Test func `likes with lost responses are counted as the service counts them`() async throws {
        let fixture = try await ServiceFixture(["a", "b", "c"])
        fixture.update { $0.likeTotal = 0 }
        try await fixture.account.refreshProfile()
        _ = try await fixture.page()
        _ = try await fixture.account.setLiked("a", true)
        #expect(fixture.account.likeCount == 1)
        fixture.update { $0.losesResponses = true }
        #expect(try await fixture.account.setLiked("b", true) == .queued)
        #expect(try await fixture.account.setLiked("c", true) == .queued)
        fixture.update { ($0.losesResponses, $0.likeTotal) = (false, 3) }
        fixture.engine.retryNow()
        try await poll { fixture.account.likeCount == 3 }
        #expect(fixture.service.state.value.liked == ["a", "b", "c"])
    }

    @Test func `the number of likes is correct after a restart`() async throws {
        let fixture = try await ServiceFixture(["a", "b"])
        fixture.update { $0.likeTotal = 7 }
        try await fixture.engine.accounts[fixture.account.id]?.refreshProfile()
        #expect(fixture.account.likeCount == 7)
        _ = try await fixture.page()
        _ = try await fixture.account.setLiked("a", true)
        #expect(fixture.account.likeCount == 8)
        // The service updates its number later.
        let next = try await ServiceFixture(after: fixture)
        try await next.waitForEvent("profile Ada")
        #expect(next.account.likeCount == 8)
        // The worker compares the cache with the confirmed like of the former session.
        let service = try #require(next.account.photos as? RemoteService)
        try await poll { service.likes?.outbox.uncached.isEmpty == true }
        try await next.account.refreshProfile()
        #expect(next.account.likeCount == 8)
        next.ports.time.update { $0 = $0 + .seconds(601) }
        next.update { $0.likeTotal = 12 }
        try await next.account.refreshProfile()
        #expect(next.account.likeCount == 12)
    }
}
