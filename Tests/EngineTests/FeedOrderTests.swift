import ProviderKit
import TestSupport
import Testing

@testable import Engine

/// The order of a source whose service changes while somebody walks.
@Suite(.timeLimit(.minutes(1))) @MainActor
struct FeedOrderTests {
    @Test func `one photo that moves to the top takes nothing down with it`() async throws {
        let fixture = try await ServiceFixture((1...9).map { "p\($0)" })
        _ = try await fixture.walk()
        fixture.service.state.update { state in
            state.photos.removeLast()
            state.photos = ["p9", "n1", "n2"] + state.photos
            state.pageSize = 5
        }
        #expect(try await fixture.account.refreshFeed("") == 2)
        #expect(try await fixture.page(count: 5).ids == ["n1", "n2", "p1", "p2", "p3"])
    }

    @Test func `one photo that moves to the top closes no gap`() async throws {
        let fixture = try await ServiceFixture((1...9).map { "p\($0)" })
        _ = try await fixture.page(count: 9)
        let later = (1...9).map { "n\($0)" }
        fixture.service.state.update { $0.photos = later + $0.photos }
        _ = try await fixture.account.refreshFeed("")
        fixture.service.state.update { state in
            state.photos.removeLast()
            state.photos = ["p9", "m1", "m2"] + state.photos
        }
        _ = try await fixture.account.refreshFeed("")
        let all = Set(fixture.service.state.value.photos)
        #expect(Set(try await fixture.walk()).isSuperset(of: all.subtracting(["p9"])))
        // It is no longer where it was; now it is where it is.
        _ = try await fixture.account.refreshFeed("")
        let found = try await fixture.walk()
        #expect(Set(found) == all)
        #expect(found.count == all.count)
    }

    @Test func `news between known photos are told`() async throws {
        let fixture = try await ServiceFixture(["a", "b", "c"])
        _ = try await fixture.page()
        fixture.service.state.update { $0.photos = ["a", "x", "b", "c"] }
        #expect(try await fixture.account.refreshFeed("") == 1)
        try await fixture.told("updated new 1")
    }

    @Test func `what the service has no more is told`() async throws {
        let fixture = try await ServiceFixture(["a", "b", "c"])
        _ = try await fixture.page()
        fixture.service.state.update { $0.photos = ["a"] }
        #expect(try await fixture.account.refreshFeed("") == 0)
        try await fixture.told("updated new 0")
        #expect(try await fixture.page().ids == ["a"])
    }

    @Test func `the longest descent is the longest, and ends highest`() {
        #expect(FeedTables.longestDescent([]) == [])
        #expect(FeedTables.longestDescent([1, 9, 8, 7]) == [9, 8, 7])
        #expect(FeedTables.longestDescent([9, 1, 8, 2, 7]) == [9, 8, 7])
        #expect(FeedTables.longestDescent([1, 5]) == [5])
    }

    /// While photos only arrive, and the top is asked for before the walk goes on, nothing is repeated or left out,
    /// and the order is the service's.
    @Test(arguments: 0..<20)
    func `a walk past arrivals repeats nothing and leaves nothing out`(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let fixture = try await ServiceFixture((1...30).map { "p\($0)" })
        fixture.service.state.update { $0.pageSize = Int.random(in: 2...7, using: &random) }
        var number = 0
        for _ in 0..<3 {
            let began = fixture.service.state.value.photos
            _ = try await fixture.account.refreshFeed("")
            var found: [String] = []
            var cursor = ""
            repeat {
                let page = try await fixture.page(
                    "", cursor, count: Int.random(in: 1...9, using: &random))
                #expect(!page.ids.isEmpty || page.next.isEmpty)
                found += page.ids
                cursor = page.next
                // Fewer than a page: more would be a gap that a page's number leads past.
                let arrivals = Int.random(in: 0...2, using: &random)
                let new = (0..<arrivals).map { _ in
                    number += 1
                    return "n\(number)"
                }
                fixture.service.state.update { $0.photos = new.reversed() + $0.photos }
                _ = try await fixture.account.refreshFeed("")
            } while !cursor.isEmpty
            #expect(found.count == Set(found).count)
            let old = Set(began)
            #expect(found.filter(old.contains) == began)
        }
        // And once more, when all is quiet: it is the service's list.
        #expect(try await fixture.walk(count: 7) == fixture.service.state.value.photos)
    }

    /// Whatever the service does, a walk ends, repeats nothing, and shows all that has stayed in place.
    @Test(arguments: 0..<20)
    func `a walk past changes of every kind repeats nothing`(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let fixture = try await ServiceFixture((1...30).map { "p\($0)" })
        fixture.service.state.update { $0.pageSize = Int.random(in: 2...7, using: &random) }
        var number = 0
        for _ in 0..<3 {
            var found: [String] = []
            var cursor = ""
            repeat {
                let page = try await fixture.page(
                    "", cursor, count: Int.random(in: 1...9, using: &random))
                #expect(!page.ids.isEmpty || page.next.isEmpty)
                found += page.ids
                cursor = page.next
                fixture.service.state.update { state in
                    let index = Int.random(in: 0..<state.photos.count, using: &random)
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0:
                        number += 1
                        state.photos.insert("n\(number)", at: 0)
                    case 1 where state.photos.count > 10: state.photos.remove(at: index)
                    case 2: state.photos.insert(state.photos.remove(at: index), at: 0)
                    default: break
                    }
                }
                if Bool.random(using: &random) { _ = try await fixture.account.refreshFeed("") }
            } while !cursor.isEmpty
            #expect(found.count == Set(found).count)
        }
    }
}
