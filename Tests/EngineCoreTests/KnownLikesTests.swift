import ProviderKit
import TestSupport
import Testing

@testable import EngineCore

/// The likes of services that report no number of likes, no list of likes, or no permission.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct KnownLikesTests {
    @Test func `the number of likes follows the source with the liked photos`() async throws {
        let photos = (1...9).map { "p\($0)" }
        let fixture = try await ServiceFixture(photos)
        fixture.update { $0.liked = Set(photos) }
        #expect(try await fixture.page("likes").ids.count == 3)
        try await poll { fixture.account.likeCount == 3 }
        #expect(try await fixture.walk("likes") == photos)
        try await poll { fixture.account.likeCount == 9 }
        _ = try await fixture.account.setLiked("p1", false)
        try await poll { fixture.account.likeCount == 8 }
        #expect(try await fixture.walk("likes").count == 8)
    }

    @Test func `a like of an old photo remains if likes have the order of photos`() async throws {
        let photos = (1...9).map { "p\($0)" }
        let fixture = try await ServiceFixture(photos)
        fixture.update { ($0.liked, $0.hasStablePageTokens) = (Set(photos.prefix(8)), true) }
        #expect(try await fixture.page("likes").ids == ["p1", "p2", "p3"])
        #expect(try await fixture.walk().last == "p9")
        #expect(try await fixture.account.setLiked("p9", true) == .done)
        for _ in 0..<2 {
            fixture.ports.time.update { $0 = $0 + .seconds(601) }
            _ = try await fixture.account.refreshFeed("likes")
            #expect(try await fixture.account.photo("p9").isLiked)
        }
        #expect(try await fixture.walk("likes").sorted() == photos)
        _ = try await fixture.account.refreshFeed("likes")
        #expect(try await fixture.walk("likes").sorted() == photos)
        // The list with its end proves that the photo is no longer liked.
        fixture.update { $0.liked = ["p1"] }
        fixture.ports.time.update { $0 = $0 + .seconds(601) }
        _ = try await fixture.account.refreshFeed("likes")
        #expect(try await fixture.walk("likes") == ["p1"])
    }

    @Test(arguments: [["p6"], ["p4", "p6"]])
    func `likes at the end of a counted page hide no other`(new: [String]) async throws {
        let photos = (1...9).map { "p\($0)" }
        let fixture = try await ServiceFixture(photos)
        fixture.update { $0.liked = Set(photos).subtracting(new) }
        #expect(try await fixture.walk() == photos)
        #expect(try await fixture.page("likes").ids == ["p1", "p2", "p3"])
        for photo in new.reversed() {
            #expect(try await fixture.account.setLiked(photo, true) == .done)
        }
        #expect(try await fixture.walk("likes") == new + photos.filter { !new.contains($0) })
    }

    @Test func `the number of likes is known before the service replies`() async throws {
        let fixture = try await ServiceFixture(["a", "b"], isOpen: true)
        fixture.update { ($0.liked, $0.held) = (["a"], ["profile"]) }
        _ = try await fixture.page("likes")
        // Without the stored profile, no other step of the start counts.
        try fixture.executeInCache("DELETE FROM profile")
        let next = try await ServiceFixture(after: fixture)
        try await poll { next.account.likeCount == 1 }
    }

    @Test func `without a list of likes, the likes are those that are known`() async throws {
        let fixture = try await ServiceFixture(["a", "b", "c"])
        fixture.update {
            $0.pageErrors["likes"] = .notSupported("There is no list.")
            $0.liked = ["c"]
        }
        _ = try await fixture.page()
        #expect(try await fixture.walk("likes") == ["c"])
        #expect(try await fixture.account.setLiked("a", true) == .done)
        for _ in 0..<3 {
            #expect(try await fixture.walk("likes") == ["a", "c"])
            _ = try await fixture.account.refreshFeed("likes")
        }
        #expect(try await fixture.account.setLiked("a", false) == .done)
        #expect(try await fixture.walk("likes") == ["c"])
        #expect(fixture.account.likeCount == 1)
    }

    @Test func `a denied like has a notice, and is sent once it is permitted`() async throws {
        let fixture = try await ServiceFixture(["a"])
        let reason = "The API key lacks the permission asset.update; edit the key."
        fixture.update {
            $0.likeError = ProviderError.denied("\(reason)")
            $0.notices = ["An image is omitted.\n"]
        }
        #expect(try await fixture.account.setLiked("a", true) == .local)
        _ = try await fixture.page()
        try await poll { fixture.account.notices == ["An image is omitted.", reason] }
        try await fixture.account.refresh()
        try await poll { fixture.count("like a") == 2 && fixture.account.pendingLikes.isEmpty }
        fixture.update { $0.likeError = nil }
        try await fixture.account.refresh()
        try await poll { fixture.service.state.value.liked == ["a"] }
        try await poll { fixture.account.notices == ["An image is omitted."] }
    }
}
