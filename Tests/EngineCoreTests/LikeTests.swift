import EngineModel
import ProviderKit
import Services
import TestSupport
import Testing

@testable import EngineCore

/// Likes that are stored, sent and confirmed.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct LikeTests {
    private func liked(_ fixture: ServiceFixture, _ id: String) async throws -> Bool {
        try await fixture.account.photo(id).isLiked
    }

    @Test func `a like is sent, reported, and shown in every source`() async throws {
        let fixture = try await ServiceFixture(["a", "b"])
        _ = try await fixture.page("new")
        _ = try await fixture.page("likes")
        #expect(try await fixture.account.setLiked("a", true) == .done)
        try await fixture.waitForEvent("liked a 1")
        #expect(fixture.service.state.value.liked == ["a"])
        #expect(try await liked(fixture, "a"))
        #expect(try await fixture.page("likes").ids == ["a"])
        #expect(fixture.account.likeCount == 1)
        #expect(fixture.account.pendingLikes.isEmpty)
        // A like of a liked photo sends no request.
        #expect(try await fixture.account.setLiked("a", true) == .done)
        #expect(fixture.count("like a") == 1)
        #expect(try await fixture.account.toggleLike("a") == (false, .done))
        #expect(try await fixture.page("likes").ids == [])
        #expect(fixture.account.likeCount == 0)
    }

    @Test func `lists are believed ten minutes after a like, or once they show it`() async throws {
        let fixture = try await ServiceFixture(["a", "b"], isRead: true)
        _ = try await fixture.account.setLiked("a", true)
        await fixture.account.remote?.refreshWatched(SourceID("new"))
        // The service has shown the like, so another client has changed it.
        fixture.update { $0.liked = [] }
        await fixture.account.remote?.refreshWatched(SourceID("new"))
        #expect(try await !liked(fixture, "a"))
        _ = try await fixture.account.setLiked("b", true)
        fixture.update { $0.liked = [] }
        fixture.ports.time.update { $0 = $0 + .seconds(601) }
        await fixture.account.remote?.refreshWatched(SourceID("new"))
        #expect(try await !liked(fixture, "b"))
    }

    @Test func `a like confirmed with a full cache disk is shown after a restart`() async throws {
        let fixture = try await ServiceFixture(["a", "b"], isOpen: true, isRead: true)
        try fixture.fillCacheDisk()
        #expect(try await fixture.account.setLiked("a", true) == .done)
        #expect(try await liked(fixture, "a"))
        // The disk is still full.
        let next = try await ServiceFixture(after: fixture)
        #expect(try await liked(next, "a"))
        #expect(next.account.pendingLikes.isEmpty)
        try next.emptyCacheDisk()
        next.engine.retryNow()
        try await poll { try next.feedRows("photo WHERE is_liked") == 1 }
        #expect(next.count("like a") == 1)
        // An older list does not undo it.
        next.update { $0.liked = [] }
        await next.account.remote?.refreshWatched(SourceID("new"))
        #expect(try await liked(next, "a"))
        _ = try await next.account.refreshFeed("new")
        #expect(try await !liked(next, "a"))
    }

    @Test func `a like without a network is queued and sent after a restart`() async throws {
        let fixture = try await ServiceFixture(["a", "b"], isRead: true)
        fixture.disconnect()
        #expect(try await fixture.account.setLiked("a", true) == .queued)
        #expect(fixture.account.pendingLikes == [PhotoID("a")])
        let photo = try await fixture.account.photo("a")
        #expect(photo.isPending && !photo.isLiked)
        let next = try await ServiceFixture(after: fixture)
        let first = try await next.account.page("", cursor: "", count: 1).photos
        #expect(first.map { [$0.isPending, $0.isLiked] } == [[true, false]])
        try await next.state { if case .offline = $0 { true } else { false } }
        #expect(next.account.pendingLikes == [PhotoID("a")])
        next.reconnect()
        try await next.waitForEvent("liked a 1")
        #expect(next.service.state.value.liked == ["a"])
        #expect(next.account.pendingLikes.isEmpty)
    }

    @Test func `an unlike cancels a like of which nothing was sent`() async throws {
        let fixture = try await ServiceFixture(["a"], isRead: true)
        let until = fixture.ports.time.value + .seconds(600)
        fixture.update { $0.error = ProviderError.rateLimited(until: until) }
        await #expect(throws: ProviderError.self) { try await fixture.account.refreshFeed("") }
        #expect(try await fixture.account.setLiked("a", true) == .queued)
        #expect(try await fixture.account.setLiked("a", false) == .done)
        #expect(fixture.account.pendingLikes.isEmpty)
        #expect(fixture.count("like a") == 0)
    }

    @Test func `an unlike is sent if the like may have reached the service`() async throws {
        let fixture = try await ServiceFixture(["a"], isRead: true)
        fixture.update { $0.losesResponses = true }
        #expect(try await fixture.account.setLiked("a", true) == .queued)
        #expect(fixture.service.state.value.liked == ["a"])
        #expect(try await fixture.account.setLiked("a", false) == .queued)
        // The cached state is the wanted state.
        #expect(try await !fixture.account.photo("a").isPending)
        fixture.update { $0.losesResponses = false }
        fixture.engine.retryNow()
        try await fixture.waitForEvent("unliked a 0")
        #expect(fixture.service.state.value.liked.isEmpty && fixture.account.pendingLikes.isEmpty)
    }

    @Test func `a like whose delivery failed is retried automatically`() async throws {
        let fixture = try await ServiceFixture(["a"], isOpen: true, isRead: true)
        fixture.update { $0.likeError = ProviderError.failed("Trouble.") }
        #expect(try await fixture.account.setLiked("a", true) == .queued)
        #expect(fixture.account.retryAt != nil)
        // Other requests succeed, and do not delay the retry.
        _ = try await fixture.account.refreshFeed("")
        #expect(fixture.account.retryAt != nil)
        fixture.update { $0.likeError = nil }
        try await fixture.waitForRetryTimer()
        fixture.ports.clock.advance(by: .seconds(10))
        try await fixture.waitForEvent("liked a 1")
        #expect(fixture.account.retryAt == nil)
    }

    @Test func `the delay of a retry does not depend on the number of likes`() async throws {
        let fixture = try await ServiceFixture((0..<8).map { "p\($0)" }, isOpen: true)
        _ = try await fixture.page(count: 8)
        fixture.update { $0.likeError = ProviderError.failed("Trouble.") }
        for index in 0..<8 {
            #expect(try await fixture.account.setLiked("p\(index)", true) == .queued)
        }
        let sleepers = fixture.ports.clock.sleepers
        try await sleepers.wait { $0.contains { $0.offset <= .seconds(6) } ? true : nil }
        try await fixture.waitForRetryTimer()
        // The first retry fails, too; the delay of the next one is doubled.
        let count = sleepers.value.count
        fixture.ports.clock.advance(by: .seconds(6))
        try await sleepers.wait {
            $0.dropFirst(count).contains { $0.offset <= .seconds(6 + 12) } ? true : nil
        }
        #expect(fixture.account.pendingLikes.count == 8)
    }

    @Test func `an outdated list of likes shows no photo that was just unliked`() async throws {
        let fixture = try await ServiceFixture(["a", "b"])
        _ = try await fixture.page("likes")
        _ = try await fixture.account.setLiked("a", true)
        // The list of the service does not contain it yet.
        fixture.update { $0.liked = [] }
        await fixture.account.remote?.refreshWatched(SourceID("likes"))
        #expect(try await fixture.page("likes").ids == ["a"])
        fixture.update { $0.liked = ["a"] }
        _ = try await fixture.account.setLiked("a", false)
        fixture.update { $0.liked = ["a"] }
        await fixture.account.remote?.refreshWatched(SourceID("likes"))
        #expect(try await fixture.page("likes").ids == [])
        // A client believes the service.
        #expect(try await fixture.account.refreshFeed("likes") == 1)
        #expect(try await fixture.page("likes").ids == ["a"])
    }

    @Test func `an outdated list that is read first shows a photo just liked`() async throws {
        let fixture = try await ServiceFixture(["a", "b", "c"], isRead: true)
        for photo in ["c", "a"] {
            _ = try await fixture.account.setLiked(photo, true)
            fixture.ports.time.update { $0 = $0 + .seconds(1) }
        }
        fixture.update { $0.liked = ["b"] }
        #expect(try await fixture.page("likes").ids == ["a", "c", "b"])
        try await poll { fixture.account.likeCount == 3 }
        await fixture.account.remote?.refreshWatched(SourceID("likes"))
        #expect(try await Set(fixture.page("likes").ids) == ["a", "b", "c"])
        // A client believes the service.
        _ = try await fixture.account.refreshFeed("likes")
        #expect(try await fixture.page("likes").ids == ["b"])
        try await poll { fixture.account.likeCount == 1 }
    }

    @Test func `one empty list of likes removes no like`() async throws {
        let photos = (1...11).map { "p\($0)" }
        let fixture = try await ServiceFixture(photos)
        fixture.update { $0.liked = Set(photos) }
        #expect(try await fixture.walk("likes", count: 5) == photos)
        func refresh() async { await fixture.account.remote?.refreshWatched(SourceID("likes")) }
        fixture.update { $0.emptied = ["likes"] }
        await refresh()
        #expect(try await fixture.walk("likes", count: 5) == photos)
        #expect(try await liked(fixture, "p7"))
        #expect(!fixture.base.events.value.contains { $0.hasPrefix("unliked") })
        // A list between the two empty ones counts.
        fixture.update { $0.emptied = [] }
        await refresh()
        fixture.update { $0.emptied = ["likes"] }
        await refresh()
        #expect(try await liked(fixture, "p7"))
        await refresh()
        try await fixture.waitForEvent("unliked p7 0")
        #expect(try await fixture.walk("likes") == [])
    }

    @Test func `a refresh by a client removes the last like that the service lost`() async throws {
        let fixture = try await ServiceFixture(["a", "b"])
        fixture.update { $0.liked = ["a"] }
        #expect(try await fixture.walk("likes") == ["a"])
        fixture.update { $0.liked = [] }
        #expect(try await fixture.account.refreshFeed("likes") == 0)
        #expect(fixture.count("likes top") == 3)
        #expect(try await fixture.walk("likes") == [])
        #expect(try await !liked(fixture, "a"))
    }

    @Test func `a login that replaces the token sends the likes that waited for it`() async throws {
        let fixture = try await ServiceFixture(["a"], isOpen: true, isRead: true)
        fixture.update { $0.likeError = ProviderError.unauthorized }
        #expect(try await fixture.account.setLiked("a", true) == .queued)
        fixture.update { $0.likeError = nil }
        try await fixture.logInAgain()
        try await fixture.waitForEvent("liked a 1")
    }

    @Test func `a request during a logout stores nothing`() async throws {
        let fixture = try await ServiceFixture(["a"], isOpen: true)
        fixture.update { $0.isHeld = true }
        let page = Task { try await fixture.page() }
        try await fixture.service.state.wait { $0.requests.contains("new top") ? true : nil }
        try await fixture.engine.accounts.logOut(fixture.account)
        fixture.update { $0.isHeld = false }
        await #expect(throws: EngineError.self) { try await page.value }
        #expect(try fixture.feedRows("photo") == 0)
    }

    @Test func `an unlike during the delivery of the like is sent after it`() async throws {
        let fixture = try await ServiceFixture(["a"], isRead: true)
        let like = try await fixture.holdLike()
        let unlike = Task { try await fixture.account.setLiked("a", false) }
        await Task.yield()
        fixture.update { $0.isHeld = false }
        #expect(try await [like.value, unlike.value] == [.done, .done])
        #expect(fixture.service.state.value.liked.isEmpty)
        #expect(try await !liked(fixture, "a"))
        #expect(fixture.account.pendingLikes.isEmpty)
    }

    @Test(arguments: 0..<40)
    func `the last of two opposite calls counts at every moment`(moment: Int) async throws {
        let fixture = try await ServiceFixture(["a"], isRead: true)
        let first = Task { try await fixture.account.setLiked("a", true) }
        for _ in 0..<moment { await Task.yield() }
        let second = Task { try await fixture.account.setLiked("a", false) }
        _ = try await (first.value, second.value)
        #expect(fixture.service.state.value.liked.isEmpty)
        #expect(try await !liked(fixture, "a"))
        #expect(fixture.account.pendingLikes.isEmpty)
    }

    @Test(arguments: [ProviderError.notFound("gone"), .denied("no")])
    func `likes that are denied or not found are stored locally`(error: ProviderError) async throws
    {
        let fixture = try await ServiceFixture(["a", "b"], isRead: true)
        fixture.update { $0.likeError = error }
        #expect(try await fixture.account.setLiked("a", true) == .local)
        #expect(try await fixture.account.setLiked("b", true) == .local)
        #expect(fixture.count("like b") == 0)
        #expect(try await liked(fixture, "a"))
        #expect(try await fixture.page("likes").ids == ["b", "a"])
        // A later list of the service does not undo local likes.
        fixture.ports.time.update { $0 = $0 + .seconds(3600) }
        _ = try await fixture.account.refreshFeed("new")
        #expect(try await liked(fixture, "a"))
        #expect(try await fixture.account.setLiked("b", false) == .local)
        #expect(try await fixture.page("likes").ids == ["a"])
        // A refresh sends local likes to the service, which accepts them now.
        let next = try await ServiceFixture(after: fixture)
        next.update { $0.likeError = nil }
        #expect(try await next.account.setLiked("b", true) == .local)
        try await next.account.refresh()
        try await next.service.state.wait { $0.liked == ["a", "b"] ? true : nil }
    }

    @Test func `likes of a service without likes need no network, survive a logout`() async throws {
        let first = try await ServiceFixture(["a", "b", "c"])
        first.update { $0.hasLocalLikes = true }
        let fixture = try await ServiceFixture(after: first, isRead: true)
        fixture.disconnect()
        await #expect(throws: HTTPError.self) { try await fixture.account.refreshFeed("new") }
        #expect(try await fixture.account.setLiked("a", true) == .local)
        #expect(try await fixture.account.setLiked("b", true) == .local)
        #expect(try await fixture.account.toggleLike("c") == (true, .local))
        #expect(try await fixture.account.setLiked("c", false) == .local)
        #expect(fixture.account.pendingLikes.isEmpty)
        #expect(try await fixture.page("likes").ids == ["b", "a"])
        #expect(fixture.account.likeCount == 2)
        #expect(try await liked(fixture, "a"))
        #expect(fixture.count("like a") + fixture.count("likes top") == 0)
        // The service reports no likes, and is not checked for them later.
        fixture.update { $0.error = nil }
        fixture.ports.time.update { $0 = $0 + .seconds(3 * 86_400) }
        _ = try await fixture.account.refreshFeed("new")
        #expect(try await fixture.account.setLiked("a", true) == .local)
        #expect(try await liked(fixture, "a"))

        let next = try await ServiceFixture(after: fixture)
        #expect(try await next.page("likes").ids == ["b", "a"])
        try await next.engine.accounts.logOut(next.account)
        let out = try await ServiceFixture(after: next)
        #expect(
            try out.base.rows("SELECT photo FROM outbox WHERE is_wanted ORDER BY position")
                == ["a", "b"])
        #expect(try out.base.rows("SELECT photo FROM outbox WHERE state <> 'local'") == [])
        #expect(out.account.state == .loggedOut)
        try await out.engine.accounts.remove(out.account)
        #expect(try out.base.rows("SELECT photo FROM outbox") == [])
        #expect(out.count("like a") + out.count("likes top") == 0)
    }
}
