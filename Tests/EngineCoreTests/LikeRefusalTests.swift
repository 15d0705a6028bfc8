import EngineModel
import Feeds
import Likes
import ProviderKit
import Storage
import TestSupport
import Testing

@testable import EngineCore
@testable import Services

/// Likes that the service refuses, and likes whose session ends.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct LikeRefusalTests {
    nonisolated static let refusals: [ProviderError] = [
        .refused("Not this one."), .invalidArgument("Not this one."),
        .notSupported("Not this one."), .staleCursor, .noSuchUser("No."),
    ]

    /// The pending likes in the account database.
    private func stored(_ fixture: ServiceFixture) throws -> [PhotoID] {
        try fixture.base.stored.pendingLikes[fixture.account.id] ?? []
    }

    // MARK: Refusals

    @Test(arguments: refusals)
    func `a refused like fails, and is not sent again`(error: ProviderError) async throws {
        let fixture = try await ServiceFixture(["a", "b"], isOpen: true, isRead: true)
        fixture.update { $0.likeError = error }
        await #expect(throws: error) { try await fixture.account.setLiked("a", true) }
        #expect(fixture.base.events.value.count { $0 == "like failed a" } == 1)
        let photo = try await fixture.account.photo("a")
        #expect(!photo.isLiked && !photo.isPending)
        #expect(fixture.account.pendingLikes.isEmpty)
        #expect(try stored(fixture).isEmpty)
        // The service works, and there is nothing to retry.
        #expect((fixture.account.state, fixture.account.retryAt) == (.ready, nil))
        fixture.engine.retryNow()
        fixture.ports.clock.advance(by: .seconds(3600))
        fixture.update { $0.likeError = nil }
        #expect(try await fixture.account.setLiked("b", true) == .done)
        #expect(fixture.count("like a") == 1)
    }

    @Test func `refused likes do not make the account fail`() async throws {
        let fixture = try await ServiceFixture((0..<6).map { "p\($0)" }, isOpen: true)
        _ = try await fixture.page(count: 6)
        fixture.update { $0.likeError = ProviderError.refused("Not this one.") }
        for id in 0..<6 { _ = try? await fixture.account.setLiked("p\(id)", true) }
        #expect(fixture.account.state == .ready)
    }

    @Test func `a queued like that is refused fails once, with a notification`() async throws {
        let fixture = try await ServiceFixture(["a", "b"], isOpen: true, isRead: true)
        fixture.disconnect()
        #expect(try await fixture.account.setLiked("a", true) == .queued)
        #expect(try await fixture.account.setLiked("b", true) == .queued)
        fixture.reconnect { ($0.requests, $0.refusedPhoto) = ([], "a") }
        try await fixture.waitForEvent("like failed a")
        // The next one is sent.
        try await fixture.waitForEvent("liked b 1")
        try await fixture.ports.presenter.waitFor(
            "1 like could not be sent for ada at Service. Not this one.")
        let photo = try await fixture.account.photo("a")
        #expect(!photo.isLiked && !photo.isPending)
        #expect(fixture.account.pendingLikes.isEmpty)
        try await poll { try stored(fixture).isEmpty }
        #expect(fixture.account.retryAt == nil)
        fixture.engine.retryNow()
        let next = try await ServiceFixture(after: fixture)
        try await next.waitForEvent("profile Ada")
        _ = try await next.account.refreshFeed("new")
        #expect(next.count("like a") == 1)
        #expect(fixture.base.events.value.count { $0 == "like failed a" } == 1)
    }

    @Test func `a like of a deleted photo removes its whole like group`() async throws {
        let fixture = try await ServiceFixture(["a.1", "a.2", "b"], isOpen: true)
        #expect(try await fixture.page().ids == ["a.1", "a.2", "b"])
        fixture.update { $0.photos = ["b"] }
        await #expect(throws: ProviderError.notFound("No a.1.")) {
            try await fixture.account.setLiked("a.1", true)
        }
        try await fixture.waitForEvent("photos removed [a.2]")
        #expect(try await fixture.page().ids == ["b"])
        #expect(fixture.account.pendingLikes.isEmpty)
    }

    @Test func `a like that is not found does not remove a photo that exists`() async throws {
        let fixture = try await ServiceFixture(["a.1", "a.2"], isOpen: true, isRead: true)
        fixture.update { $0.likeError = ProviderError.notFound("No likes.") }
        #expect(try await fixture.account.setLiked("a.1", true) == .local)
        #expect(try await fixture.page().ids == ["a.1", "a.2"])
    }

    @Test func `a new login sends the likes that were denied`() async throws {
        let fixture = try await ServiceFixture(["a", "b"], isOpen: true, isRead: true)
        fixture.update { $0.likeError = ProviderError.denied("The key may not.") }
        #expect(try await fixture.account.setLiked("a", true) == .local)
        fixture.update { $0.likeError = nil }
        #expect(try await fixture.account.setLiked("b", true) == .local)
        #expect(fixture.count("like b") == 0)
        try await fixture.logInAgain()
        try await fixture.service.state.wait {
            $0.requests.count { $0 == "like a" } == 2 && $0.requests.contains("like b") ? true : nil
        }
        try await poll { fixture.account.pendingLikes.isEmpty }
        #expect(try await fixture.account.setLiked("a", false) == .done)
    }

    @Test func `the opposite of a like that is being refused succeeds`() async throws {
        let fixture = try await ServiceFixture(["a"], isOpen: true, isRead: true)
        fixture.update { $0.likeError = ProviderError.refused("Not this one.") }
        let like = try await fixture.holdLike()
        let unlike = Task { try await fixture.account.setLiked("a", false) }
        try await poll { try stored(fixture) == [PhotoID("a")] }
        fixture.update { $0.isHeld = false }
        await #expect(throws: ProviderError.self) { try await like.value }
        #expect(try await unlike.value == .done)
        #expect(fixture.count("unlike a") == 0)
        #expect(fixture.account.pendingLikes.isEmpty)
    }

    // MARK: Sessions that end

    @Test func `a like in flight during a logout fails`() async throws {
        let fixture = try await ServiceFixture(["a"], isOpen: true, isRead: true)
        let like = try await fixture.holdLike()
        try await fixture.engine.accounts.logOut(fixture.account)
        let cancelled = EngineError.cancelled(
            "The like was dropped because the account was logged out; log in first.")
        await #expect(throws: cancelled) { try await like.value }
        #expect(try stored(fixture).isEmpty)
        // The user has caused it: there is no notification.
        #expect(fixture.ports.presenter.notifications.value.isEmpty)
        fixture.update { $0.isHeld = false }
        #expect(!fixture.base.events.value.contains("like failed a"))
    }

    @Test func `a like whose photo is being fetched during a logout fails`() async throws {
        let fixture = try await ServiceFixture(["a"], isOpen: true)
        fixture.update { $0.isHeld = true }
        let like = Task { try await fixture.account.setLiked("a", true) }
        try await fixture.service.state.wait { $0.requests.contains("photo a") ? true : nil }
        try await fixture.engine.accounts.logOut(fixture.account)
        await #expect(throws: EngineError.self) { try await like.value }
        fixture.update { $0.isHeld = false }
        #expect(try stored(fixture).isEmpty)
        #expect(fixture.count("like a") == 0)
    }

    @Test func `a like in flight during a change of settings is sent again`() async throws {
        let fixture = try await ServiceFixture(["a"], isOpen: true, isRead: true)
        let like = try await fixture.holdLike()
        fixture.engine.restartSessions(of: "service")
        #expect(try await like.value == .queued)
        #expect(fixture.account.pendingLikes == [PhotoID("a")])
        fixture.update { $0.isHeld = false }
        try await fixture.waitForEvent("liked a 1")
        #expect(fixture.service.state.value.liked == ["a"])
        try await poll { try stored(fixture).isEmpty }
        #expect(fixture.account.pendingLikes.isEmpty)
    }

    // MARK: The database

    @Test func `a like of a cached photo makes at most four database round trips`() async throws {
        let fixture = try await ServiceFixture(["a", "b"], isOpen: true, isRead: true)
        let remote = try #require(fixture.account.remote)
        let likes = fixture.engine.store.likes(of: remote.account)
        let queues = [remote.stores.feeds.store, likes.store]
        func count() -> Int { queues.map(\.runCount).reduce(0, +) }
        for (id, isWanted) in [("a", true), ("b", true), ("a", false)] {
            let before = count()
            #expect(try await fixture.account.setLiked(id, isWanted) == .done)
            // The photo is read, the row is stored, the confirmation is stored in the row and in the cache.
            #expect(count() - before <= 4)
        }
    }
}
