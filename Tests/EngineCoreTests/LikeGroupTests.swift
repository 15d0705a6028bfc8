import EngineCore
import ProviderKit
import TestSupport
import Testing

/// Like groups, such as the photos of one status.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct LikeGroupTests {
    private let photos = ["a.1", "a.2", "b", "ab.1", "a"]

    private func liked(_ fixture: ServiceFixture) async throws -> [String] {
        let (photos, _) = try await fixture.account.page("new", cursor: "", count: 10)
        return photos.filter(\.isLiked).map(\.id.text)
    }

    @Test func `a like applies to all photos of the like group and to no other`() async throws {
        let fixture = try await ServiceFixture(photos)
        _ = try await fixture.walk("new")
        #expect(try await fixture.account.setLiked("a.1", true) == .done)
        #expect(try await liked(fixture) == ["a.1", "a.2"])
        #expect(try await fixture.account.setLiked("a.2", true) == .done)
        #expect((fixture.count("like a.1"), fixture.count("like a.2")) == (1, 0))
        #expect(fixture.account.likeCount == 2)
        try await fixture.waitForEvent("liked a.1 1")
        try await fixture.waitForEvent("liked a.2 1")
        #expect(try await fixture.account.setLiked("a.2", false) == .done)
        #expect(try await liked(fixture) == [])
        #expect(fixture.account.likeCount == 0)
    }

    @Test func `the photos of a like group enter and leave the likes together`() async throws {
        let fixture = try await ServiceFixture(photos)
        _ = try await fixture.walk("new")
        #expect(try await fixture.page("likes").ids == [])
        _ = try await fixture.account.setLiked("a.1", true)
        #expect(try await fixture.page("likes").ids == ["a.1", "a.2"])
        try await fixture.waitForEvent("updated likes 2")
        _ = try await fixture.account.setLiked("a.2", false)
        #expect(try await fixture.page("likes").ids == [])
    }

    @Test func `a pending like is shown for its whole group, the last call counts`() async throws {
        let fixture = try await ServiceFixture(photos)
        _ = try await fixture.walk("new")
        fixture.disconnect()
        #expect(try await fixture.account.setLiked("a.1", true) == .queued)
        let (shown, _) = try await fixture.account.page("new", cursor: "", count: 10)
        #expect(shown.filter(\.isPending).map(\.id.text) == ["a.1", "a.2"])
        #expect(try await fixture.account.setLiked("a.2", false) == .queued)
        #expect(fixture.account.pendingLikes.count <= 1)
        #expect(try await fixture.account.toggleLike("a.2").isLiked)
        fixture.reconnect()
        try await fixture.waitForEvent("liked a.2 1")
        #expect(fixture.service.state.value.liked == ["a.1", "a.2"])
        #expect(fixture.account.pendingLikes.isEmpty)
    }
}
