import ProviderKit
import Testing

@testable import EngineCore

/// A test of a large feed, which occupies the main actor. Beside it, other tests would exceed their time limits.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct FeedLoadTests {
    @Test func `a source caches 10,000 photos, and a walk misses none beyond them`() async throws {
        let all = (1...10_050).map { "p\($0)" }
        let fixture = try await ServiceFixture(all)
        fixture.update { $0.pageSize = 2_000 }
        var cursor = ""
        for _ in 1...99 { cursor = try await fixture.page("", cursor, count: 100).next }
        let before = try await fixture.page("", cursor, count: 99)
        #expect(before.ids.last == "p9999")
        let below = try await fixture.page("", before.next, count: 20)
        let end = try await fixture.page("", below.next, count: 100)
        #expect(below.ids + end.ids == Array(all.suffix(51)))
        #expect(end.next == "")
        // A refresh of the top enforces the limit.
        fixture.update { $0.photos = (1...20).map { "new\($0)" } + $0.photos }
        _ = try await fixture.account.refreshFeed("")
        #expect(try 10_000...10_020 ~= fixture.feedRows("photo") ?? 0)
        await #expect(throws: ProviderError.staleCursor) {
            try await fixture.page("", below.next, count: 100)
        }
        // A walk from above continues below with requests to the service.
        let rest = try await fixture.page("", before.next, count: 60)
        #expect(rest.ids.first == "p10000" && rest.ids.last == "p10050")
    }
}
