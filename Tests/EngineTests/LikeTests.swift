import OAuth
import ProviderKit
import Storage
import TestSupport
import Testing

@testable import Engine

/// Likes are written down, sent, confirmed; none is lost.
@Suite(.timeLimit(.minutes(1))) @MainActor
struct LikeTests {
    private func liked(_ fixture: ServiceFixture, _ id: String) async throws -> Bool {
        try await fixture.account.photo(id).isLiked
    }

    @Test func `a like is done, told, and shown in every source`() async throws {
        let fixture = try await ServiceFixture(["a", "b"])
        _ = try await fixture.page("new")
        _ = try await fixture.page("likes")
        #expect(try await fixture.account.setLiked("a", true) == .done)
        try await fixture.told("liked a 1")
        #expect(fixture.service.state.value.liked == ["a"])
        #expect(try await liked(fixture, "a"))
        #expect(try await fixture.page("likes").ids == ["a"])
        #expect(fixture.account.likeCount == 1)
        #expect(fixture.account.pendingLikes.isEmpty)
        // Liking what is liked asks nobody.
        #expect(try await fixture.account.setLiked("a", true) == .done)
        #expect(fixture.count("like a") == 1)
        #expect(try await fixture.account.toggleLike("a") == (false, .done))
        #expect(try await fixture.page("likes").ids == [])
        #expect(fixture.account.likeCount == 0)
    }

    @Test func `a list that is behind does not undo a like`() async throws {
        let fixture = try await ServiceFixture(["a", "b"])
        _ = try await fixture.page()
        _ = try await fixture.account.setLiked("a", true)
        fixture.service.state.update { $0.liked = [] }
        _ = try await fixture.account.refreshFeed("new")
        #expect(try await liked(fixture, "a"))
        fixture.world.time.update { $0 = $0 + .seconds(601) }
        _ = try await fixture.account.refreshFeed("new")
        #expect(try await !liked(fixture, "a"))
    }

    @Test func `without a network a like is queued, survives a restart, and is sent`() async throws
    {
        let fixture = try await ServiceFixture(["a", "b"])
        _ = try await fixture.page()
        fixture.service.state.update { $0.error = HTTPError.unreachable("no network") }
        #expect(try await fixture.account.setLiked("a", true) == .queued)
        #expect(fixture.account.pendingLikes == [PhotoID("a")])
        let photo = try await fixture.account.photo("a")
        #expect(photo.isPending && !photo.isLiked)
        let next = try await ServiceFixture(after: fixture)
        try await next.state { if case .offline = $0 { true } else { false } }
        #expect(next.account.pendingLikes == [PhotoID("a")])
        next.service.state.update { $0.error = nil }
        next.engine.retryNow()
        try await next.told("liked a 1")
        #expect(next.service.state.value.liked == ["a"])
        #expect(next.account.pendingLikes.isEmpty)
    }

    @Test func `a wish of which nothing was sent is as if it had never been`() async throws {
        let fixture = try await ServiceFixture(["a"])
        _ = try await fixture.page()
        let until = fixture.world.time.value + .seconds(600)
        fixture.service.state.update { $0.error = ProviderError.rateLimited(until: until) }
        await #expect(throws: ProviderError.self) { try await fixture.account.refreshFeed("") }
        #expect(try await fixture.account.setLiked("a", true) == .queued)
        #expect(try await fixture.account.setLiked("a", false) == .done)
        #expect(fixture.account.pendingLikes.isEmpty)
        #expect(fixture.count("like a") == 0)
    }

    @Test func `a like that may have arrived is taken back at the service`() async throws {
        let fixture = try await ServiceFixture(["a"])
        _ = try await fixture.page()
        fixture.service.state.update { $0.answerIsLost = true }
        #expect(try await fixture.account.setLiked("a", true) == .queued)
        #expect(fixture.service.state.value.liked == ["a"])
        #expect(try await fixture.account.setLiked("a", false) == .queued)
        // What is wanted is what is shown.
        #expect(try await !fixture.account.photo("a").isPending)
        fixture.service.state.update { $0.answerIsLost = false }
        fixture.engine.retryNow()
        try await fixture.told("unliked a 0")
        #expect(fixture.service.state.value.liked.isEmpty)
        #expect(fixture.account.pendingLikes.isEmpty)
    }

    @Test func `opposite wishes at once count in their order`() async throws {
        let fixture = try await ServiceFixture(["a"])
        // Those who wait for the same thing at the start go on in any order.
        try await fixture.told("profile Ada")
        _ = try await fixture.page()
        let calls = (0..<6).map { index in
            Task { try await fixture.account.setLiked("a", index % 2 == 0) }
        }
        for call in calls { _ = try await call.value }
        try await fixture.base.told.wait { _ in
            fixture.service.state.value.liked.isEmpty ? true : nil
        }
        #expect(try await !liked(fixture, "a"))
        #expect(fixture.account.pendingLikes.isEmpty)
    }

    @Test func `a like that one failure has stopped is sent by itself`() async throws {
        let fixture = try await ServiceFixture(["a"])
        try await fixture.told("profile Ada")
        _ = try await fixture.page()
        fixture.service.state.update { $0.likeError = ProviderError.failed("Trouble.") }
        #expect(try await fixture.account.setLiked("a", true) == .queued)
        #expect(fixture.account.retryAt != nil)
        // The rest works, and that puts nothing off.
        _ = try await fixture.account.refreshFeed("")
        #expect(fixture.account.retryAt != nil)
        fixture.service.state.update { $0.likeError = nil }
        fixture.world.clock.advance(by: .seconds(10))
        try await fixture.told("liked a 1")
        #expect(fixture.account.retryAt == nil)
    }

    @Test func `however many likes are queued, the next try is seconds away`() async throws {
        let fixture = try await ServiceFixture((0..<8).map { "p\($0)" })
        try await fixture.told("profile Ada")
        _ = try await fixture.page(count: 8)
        fixture.service.state.update { $0.likeError = ProviderError.failed("Trouble.") }
        for index in 0..<8 {
            #expect(try await fixture.account.setLiked("p\(index)", true) == .queued)
        }
        let sleepers = fixture.world.clock.sleepers
        try await sleepers.wait { $0.contains { $0.offset <= .seconds(6) } ? true : nil }
        // The first try by itself fails, too; the next one is twice as far away.
        let count = sleepers.value.count
        fixture.world.clock.advance(by: .seconds(6))
        try await sleepers.wait {
            $0.dropFirst(count).contains { $0.offset <= .seconds(6 + 12) } ? true : nil
        }
        #expect(fixture.account.pendingLikes.count == 8)
    }

    @Test func `a list that is behind shows no photo that was just unliked`() async throws {
        let fixture = try await ServiceFixture(["a", "b"])
        _ = try await fixture.page("likes")
        _ = try await fixture.account.setLiked("a", true)
        // The service's list has not heard of it yet.
        fixture.service.state.update { $0.liked = [] }
        _ = try await fixture.account.refreshFeed("likes")
        #expect(try await fixture.page("likes").ids == ["a"])
        fixture.service.state.update { $0.liked = ["a"] }
        _ = try await fixture.account.setLiked("a", false)
        fixture.service.state.update { $0.liked = ["a"] }
        #expect(try await fixture.account.refreshFeed("likes") == 0)
        #expect(try await fixture.page("likes").ids == [])
        fixture.world.time.update { $0 = $0 + .seconds(601) }
        #expect(try await fixture.account.refreshFeed("likes") == 1)
        #expect(try await fixture.page("likes").ids == ["a"])
    }

    @Test func `one empty list of likes takes nothing back`() async throws {
        let photos = (1...11).map { "p\($0)" }
        let fixture = try await ServiceFixture(photos)
        fixture.service.state.update { $0.liked = Set(photos) }
        #expect(try await fixture.walk("likes", count: 5) == photos)
        fixture.service.state.update { $0.emptied = ["likes"] }
        #expect(try await fixture.account.refreshFeed("likes") == 0)
        #expect(try await fixture.walk("likes", count: 5) == photos)
        #expect(try await liked(fixture, "p7"))
        #expect(!fixture.base.told.value.contains { $0.hasPrefix("unliked") })
        // An answer between the two counts for something.
        fixture.service.state.update { $0.emptied = [] }
        _ = try await fixture.account.refreshFeed("likes")
        fixture.service.state.update { $0.emptied = ["likes"] }
        _ = try await fixture.account.refreshFeed("likes")
        #expect(try await liked(fixture, "p7"))
        _ = try await fixture.account.refreshFeed("likes")
        try await fixture.told("unliked p7 0")
        #expect(try await fixture.walk("likes") == [])
    }

    @Test func `a login that renews the token sends what waited for it`() async throws {
        let fixture = try await ServiceFixture(["a"])
        try await fixture.told("profile Ada")
        _ = try await fixture.page()
        fixture.service.state.update { $0.likeError = ProviderError.unauthorized }
        #expect(try await fixture.account.setLiked("a", true) == .queued)
        fixture.service.state.update { $0.likeError = nil }
        _ = try await fixture.engine.completeLogin(
            fixture.account.identity, fixture.service,
            with: OAuthToken(
                accessToken: Secret("new"), refreshToken: nil, scopes: [],
                obtained: fixture.world.time.value, expires: nil)
        ) { true }
        try await fixture.told("liked a 1")
    }

    @Test func `what is asked while somebody logs out leaves nothing behind`() async throws {
        let fixture = try await ServiceFixture(["a"])
        try await fixture.told("profile Ada")
        fixture.service.state.update { $0.isHeld = true }
        let page = Task { try await fixture.page() }
        try await fixture.service.state.wait { $0.requests.contains("new top") ? true : nil }
        try await fixture.engine.logOut(fixture.account)
        fixture.service.state.update { $0.isHeld = false }
        await #expect(throws: EngineError.self) { try await page.value }
        let database = try Database(
            path: fixture.base.directory.appending("cache/feeds.sqlite"), durability: .process)
        #expect(try database.first("SELECT count(*) FROM photo") { $0.integer(0) } == 0)
    }

    @Test func `a wish that changes while the first one is sent is sent after it`() async throws {
        let fixture = try await ServiceFixture(["a"])
        _ = try await fixture.page()
        fixture.service.state.update { $0.isHeld = true }
        let first = Task { try await fixture.account.setLiked("a", true) }
        try await fixture.service.state.wait { $0.requests.contains("like a") ? true : nil }
        let second = Task { try await fixture.account.setLiked("a", false) }
        await Task.yield()
        fixture.service.state.update { $0.isHeld = false }
        #expect(try await first.value == .done)
        #expect(try await second.value == .done)
        #expect(fixture.service.state.value.liked.isEmpty)
        #expect(try await !liked(fixture, "a"))
        #expect(fixture.account.pendingLikes.isEmpty)
    }

    @Test(arguments: 0..<40)
    func `whenever a wish changes, the last one counts`(moment: Int) async throws {
        let fixture = try await ServiceFixture(["a"])
        _ = try await fixture.page()
        let first = Task { try await fixture.account.setLiked("a", true) }
        for _ in 0..<moment { await Task.yield() }
        let second = Task { try await fixture.account.setLiked("a", false) }
        _ = try await (first.value, second.value)
        #expect(fixture.service.state.value.liked.isEmpty)
        #expect(try await !liked(fixture, "a"))
        #expect(fixture.account.pendingLikes.isEmpty)
    }

    @Test(arguments: [ProviderError.notFound("gone"), .denied("no")])
    func `where the service offers no likes they are kept here`(error: ProviderError) async throws {
        let fixture = try await ServiceFixture(["a", "b"])
        _ = try await fixture.page()
        fixture.service.state.update { $0.likeError = error }
        #expect(try await fixture.account.setLiked("a", true) == .local)
        #expect(try await fixture.account.setLiked("b", true) == .local)
        #expect(fixture.count("like b") == 0)
        #expect(try await liked(fixture, "a"))
        #expect(try await fixture.page("likes").ids == ["b", "a"])
        // A list says otherwise for good, and does not know.
        fixture.world.time.update { $0 = $0 + .seconds(3600) }
        _ = try await fixture.account.refreshFeed("new")
        #expect(try await liked(fixture, "a"))
        #expect(try await fixture.account.setLiked("b", false) == .local)
        #expect(try await fixture.page("likes").ids == ["a"])
        // A day later the service is asked again, and has them: what was kept is sent.
        let next = try await ServiceFixture(after: fixture)
        next.world.time.update { $0 = $0 + .seconds(2 * 86_400) }
        next.service.state.update { $0.likeError = nil }
        #expect(try await next.account.setLiked("b", true) == .done)
        try await next.service.state.wait { $0.liked == ["a", "b"] ? true : nil }
    }

    @Test func `a refusal is told, and the old state stands`() async throws {
        let fixture = try await ServiceFixture(["a"])
        _ = try await fixture.page()
        fixture.service.state.update {
            $0.likeError = ProviderError.invalidArgument("Not this one.")
        }
        await #expect(throws: ProviderError.invalidArgument("Not this one.")) {
            try await fixture.account.setLiked("a", true)
        }
        #expect(fixture.base.told.value.contains("like failed a"))
        let photo = try await fixture.account.photo("a")
        #expect(!photo.isLiked && !photo.isPending)
        #expect(fixture.account.pendingLikes.isEmpty)
    }

    @Test func `logging out drops what was queued`() async throws {
        let fixture = try await ServiceFixture(["a"])
        _ = try await fixture.page()
        fixture.service.state.update { $0.error = HTTPError.unreachable("no network") }
        _ = try await fixture.account.setLiked("a", true)
        try await fixture.engine.logOut(fixture.account)
        #expect(fixture.world.secrets.state.value.secrets.isEmpty)
        #expect(fixture.account.state == .loggedOut)
        let next = try await ServiceFixture(after: fixture)
        #expect(next.account.pendingLikes.isEmpty)
        #expect(next.account.state == .loggedOut)
    }
}
