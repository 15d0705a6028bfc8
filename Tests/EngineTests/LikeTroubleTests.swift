import OAuth
import ProviderKit
import Storage
import TestSupport
import Testing

@testable import Engine

/// Likes while something is in the way: the service, the disk, the clock.
@Suite(.timeLimit(.minutes(1))) @MainActor
struct LikeTroubleTests {
    private static let trouble: [any Error & Sendable] = [
        HTTPError.unreachable("no network"), ProviderError.failed("Trouble."),
        ProviderError.unauthorized,
    ]

    @Test(arguments: 0..<3)
    func `a photo that nobody has seen here can be liked while nobody can be asked`(
        trouble: Int
    ) async throws {
        let fixture = try await ServiceFixture(["a"])
        try await fixture.told("profile Ada")
        fixture.service.state.update { $0.error = Self.trouble[trouble] }
        #expect(try await fixture.account.setLiked("a", true) == .queued)
        // Whether it is liked by now, nobody knows.
        await #expect(throws: (any Error).self) { try await fixture.account.toggleLike("a") }
        #expect(try await fixture.account.setLiked("a", false) == .queued)
        #expect(fixture.account.pendingLikes == [PhotoID("a")])
        fixture.service.state.update {
            $0.error = nil
            $0.liked = ["a"]
        }
        fixture.engine.retryNow()
        try await fixture.told("unliked a 0")
        #expect(fixture.service.state.value.liked.isEmpty)
        #expect(fixture.account.pendingLikes.isEmpty)
    }

    @Test func `a photo that turns out not to exist is told once it can be asked for`() async throws
    {
        let fixture = try await ServiceFixture(["a"])
        fixture.service.state.update { $0.error = HTTPError.unreachable("no network") }
        #expect(try await fixture.account.setLiked("none", true) == .queued)
        fixture.service.state.update { $0.error = nil }
        fixture.engine.retryNow()
        try await fixture.told("like failed none")
        #expect(fixture.account.pendingLikes.isEmpty)
    }

    @Test func `one photo that the service has trouble with keeps the others from nothing`()
        async throws
    {
        let fixture = try await ServiceFixture(["a", "b", "c"])
        _ = try await fixture.page()
        fixture.service.state.update { $0.error = HTTPError.unreachable("no network") }
        for id in ["a", "b", "c"] {
            #expect(try await fixture.account.setLiked(id, true) == .queued)
        }
        fixture.service.state.update {
            $0.error = nil
            $0.badPhoto = "a"
        }
        fixture.engine.retryNow()
        try await fixture.service.state.wait { $0.liked == ["b", "c"] ? true : nil }
        try await fixture.told("liked c 1")
        #expect(fixture.account.pendingLikes == [PhotoID("a")])
        // It is tried again by itself, later and later.
        #expect(fixture.account.retryAt != nil)
        fixture.service.state.update { $0.badPhoto = nil }
        fixture.world.clock.advance(by: .seconds(20))
        try await fixture.told("liked a 1")
        #expect(fixture.account.retryAt == nil)
    }

    @Test func `what is queued is sent in its order, once`() async throws {
        let ids = (0..<20).map { "p\($0)" }
        let fixture = try await ServiceFixture(ids)
        fixture.service.state.update { $0.pageSize = 20 }
        _ = try await fixture.page()
        fixture.service.state.update { $0.error = HTTPError.unreachable("no network") }
        for id in ids { _ = try await fixture.account.setLiked(id, true) }
        let next = try await ServiceFixture(after: fixture)
        next.service.state.update {
            $0.requests = []
            $0.error = nil
        }
        next.engine.retryNow()
        try await next.told("liked p19 1")
        let sent = next.service.state.value.requests.filter { $0.hasPrefix("like") }
        #expect(sent == ids.map { "like \($0)" })
    }

    @Test func `a like is sent once though the disk takes no note of it`() async throws {
        let fixture = try await ServiceFixture(["a"])
        _ = try await fixture.page()
        try fixture.base.execute(
            """
            CREATE TRIGGER refuse BEFORE DELETE ON like_wish BEGIN SELECT RAISE(ABORT, 'no'); END
            """)
        // The service has confirmed it, whatever the disk says.
        #expect(try await fixture.account.setLiked("a", true) == .done)
        for _ in 0..<3 {
            fixture.engine.retryNow()
            _ = try await fixture.account.setLiked("a", true)
        }
        #expect(fixture.count("like a") == 1)
        try fixture.base.execute("DROP TRIGGER refuse")
        #expect(try await fixture.account.setLiked("a", true) == .done)
        #expect(fixture.count("like a") == 1)
        #expect(fixture.account.pendingLikes.isEmpty)
        #expect(try await fixture.account.setLiked("a", false) == .done)
        #expect(fixture.service.state.value.liked.isEmpty)
    }

    @Test func `what is kept here is sent after a day by itself, ends of likes as well`()
        async throws
    {
        let fixture = try await ServiceFixture(["a", "b", "c"])
        fixture.service.state.update { $0.liked = ["c"] }
        _ = try await fixture.page()
        fixture.service.state.update { $0.likeError = ProviderError.denied("no") }
        #expect(try await fixture.account.setLiked("a", true) == .local)
        #expect(try await fixture.account.setLiked("b", true) == .local)
        #expect(try await fixture.account.setLiked("c", false) == .local)
        #expect(try await fixture.page("likes").ids == ["b", "a"])
        #expect(try await !fixture.account.photo("c").isLiked)
        let count = fixture.account.likeCount
        fixture.service.state.update { $0.requests = [] }
        let due = try await fixture.world.clock.sleepers.wait { sleepers in
            sleepers.last { $0.offset > .seconds(80_000) }
        }
        // The service still says no: one question is enough.
        fixture.world.time.update { $0 = $0 + .seconds(86_400) }
        fixture.world.clock.advance(by: due.offset)
        try await fixture.service.state.wait { $0.requests.contains("like a") ? true : nil }
        let next = try await fixture.world.clock.sleepers.wait { sleepers in
            sleepers.last { $0.offset > due.offset + .seconds(80_000) }
        }
        try await fixture.base.told.wait { told in
            told.count { $0.hasPrefix("unliked c") } == 2 ? true : nil
        }
        #expect(fixture.service.state.value.requests.filter { $0.hasPrefix("like ") } == ["like a"])
        #expect(fixture.account.pendingLikes.isEmpty)
        #expect(fixture.account.likeCount == count)
        fixture.service.state.update { $0.likeError = nil }
        fixture.world.time.update { $0 = $0 + .seconds(86_400) }
        fixture.world.clock.advance(by: next.offset)
        try await fixture.service.state.wait { $0.liked == ["a", "b"] ? true : nil }
    }

    @Test func `a clock that is set back keeps nobody from asking again`() async throws {
        let fixture = try await ServiceFixture(["a"])
        _ = try await fixture.page()
        fixture.service.state.update { $0.likeError = ProviderError.denied("no") }
        #expect(try await fixture.account.setLiked("a", true) == .local)
        fixture.service.state.update { $0.likeError = nil }
        fixture.world.time.update {
            $0 = Timestamp(secondsSince1970: $0.secondsSince1970 - 31_536_000)
        }
        #expect(try await fixture.account.setLiked("a", false) == .done)
        // Nor does it make a list unbelievable for a year.
        #expect(try await fixture.account.setLiked("a", true) == .done)
        fixture.world.time.update {
            $0 = Timestamp(secondsSince1970: $0.secondsSince1970 - 31_536_000)
        }
        fixture.service.state.update { $0.liked = [] }
        _ = try await fixture.account.refreshFeed("new")
        #expect(try await !fixture.account.photo("a").isLiked)
    }

    @Test func `what is on its way shows on the first page after a start`() async throws {
        let fixture = try await ServiceFixture(["a"])
        _ = try await fixture.page()
        fixture.service.state.update { $0.error = HTTPError.unreachable("no network") }
        _ = try await fixture.account.setLiked("a", true)
        let next = try await ServiceFixture(after: fixture)
        let photos = try await next.account.page("", cursor: "", count: 1).photos
        #expect(photos.map(\.isPending) == [true])
        #expect(photos.map(\.isLiked) == [false])
    }

    @Test func `a like at the service itself is told, and moves between the sources`() async throws
    {
        let fixture = try await ServiceFixture(["a", "b"])
        _ = try await fixture.page("new")
        _ = try await fixture.page("likes")
        fixture.service.state.update { $0.liked = ["b"] }
        _ = try await fixture.account.refreshFeed("new")
        try await fixture.told("liked b 1")
        try await fixture.told("updated likes 1")
        #expect(try await fixture.page("likes").ids == ["b"])
        fixture.service.state.update { $0.liked = [] }
        _ = try await fixture.account.refreshFeed("new")
        try await fixture.told("unliked b 0")
        #expect(try await fixture.page("likes").ids == [])
        // The list of likes says it as well.
        fixture.service.state.update { $0.liked = ["a"] }
        _ = try await fixture.account.refreshFeed("new")
        try await fixture.told("liked a 1")
        fixture.service.state.update { $0.liked = [] }
        // An empty list counts when it comes twice.
        for _ in 0..<2 { _ = try await fixture.account.refreshFeed("likes") }
        try await fixture.told("unliked a 0")
    }

    @Test func `likes whose answers were lost are counted as the service does`() async throws {
        let fixture = try await ServiceFixture(["a", "b", "c"])
        fixture.service.state.update { $0.likeTotal = 0 }
        try await fixture.account.refreshProfile()
        _ = try await fixture.page()
        _ = try await fixture.account.setLiked("a", true)
        #expect(fixture.account.likeCount == 1)
        fixture.service.state.update { $0.answerIsLost = true }
        #expect(try await fixture.account.setLiked("b", true) == .queued)
        #expect(try await fixture.account.setLiked("c", true) == .queued)
        fixture.service.state.update { state in
            state.answerIsLost = false
            state.likeTotal = 3
        }
        fixture.engine.retryNow()
        while fixture.account.likeCount != 3 { await Task.yield() }
    }

    @Test func `the number of likes is right after a restart`() async throws {
        let fixture = try await ServiceFixture(["a", "b"])
        fixture.service.state.update { $0.likeTotal = 7 }
        try await fixture.engine.account(fixture.account.id)?.refreshProfile()
        #expect(fixture.account.likeCount == 7)
        _ = try await fixture.page()
        _ = try await fixture.account.setLiked("a", true)
        #expect(fixture.account.likeCount == 8)
        // The service counts likes a while later.
        let next = try await ServiceFixture(after: fixture)
        try await next.told("profile Ada")
        #expect(next.account.likeCount == 8)
        try await next.account.refreshProfile()
        #expect(next.account.likeCount == 8)
        next.world.time.update { $0 = $0 + .seconds(601) }
        next.service.state.update { $0.likeTotal = 12 }
        try await next.account.refreshProfile()
        #expect(next.account.likeCount == 12)
    }
}
