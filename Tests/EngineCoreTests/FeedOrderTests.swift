import ProviderKit
import TestSupport
import Testing

@testable import EngineCore
@testable import Feeds

/// The order of a source whose service changes during a walk.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct FeedOrderTests {
    @Test func `a photo that moves to the top does not move others`() async throws {
        let fixture = try await ServiceFixture((1...9).map { "p\($0)" })
        _ = try await fixture.walk()
        fixture.update { state in
            state.photos.removeLast()
            state.photos = ["p9", "n1", "n2"] + state.photos
            state.pageSize = 5
        }
        #expect(try await fixture.account.refreshFeed("") == 2)
        #expect(try await fixture.page(count: 5).ids == ["p9", "n1", "n2", "p1", "p2"])
    }

    @Test func `a photo that moves to the top closes no gap`() async throws {
        let fixture = try await ServiceFixture((1...9).map { "p\($0)" })
        _ = try await fixture.page(count: 9)
        let later = (1...9).map { "n\($0)" }
        fixture.update { $0.photos = later + $0.photos }
        _ = try await fixture.account.refreshFeed("")
        fixture.update { state in
            state.photos.removeLast()
            state.photos = ["p9", "m1", "m2"] + state.photos
        }
        _ = try await fixture.account.refreshFeed("")
        let all = Set(fixture.service.state.value.photos)
        #expect(Set(try await fixture.walk()).isSuperset(of: all.subtracting(["p9"])))
        // The next refresh inserts the moved photo at its new position.
        _ = try await fixture.account.refreshFeed("")
        let found = try await fixture.walk()
        #expect(Set(found) == all)
        #expect(found.count == all.count)
    }

    @Test(arguments: ["p2", "p3"])
    func `a photo that moves to the end of a counted page hides none`(moved: String) async throws {
        let fixture = try await ServiceFixture((1...9).map { "p\($0)" })
        let first = try await fixture.page(count: 3)
        fixture.update { state in
            state.photos.removeAll { $0 == moved }
            state.photos.insert(moved, at: 5)
        }
        // The number of the page skips p4.
        let rest = try await fixture.page("", first.next, count: 9).ids
        #expect(rest == ["p5", "p6", "p7", "p8", "p9"])
    }

    /// Inserts entries with keys at the top. A known photo gets another entry, as with a boost.
    private func add(_ photos: [String], to fixture: ServiceFixture) {
        fixture.update { state in
            let highest = state.keys?.first ?? 1_000_000
            let keys = (0..<photos.count).map { highest + 10 * (photos.count - $0) }
            state.keys = keys + (state.keys ?? [])
            state.photos = photos + state.photos
        }
    }

    private func keyed(_ photos: [String]) async throws -> ServiceFixture {
        let fixture = try await ServiceFixture()
        add(photos, to: fixture)
        fixture.update { $0.pageSize = 40 }
        return fixture
    }

    @Test(arguments: [false, true])
    func `a boost of an old photo among many new ones hides no photo`(hasKeys: Bool) async throws {
        let old = (1...100).map { "p\($0)" }
        let fixture = try await keyed(old)
        if !hasKeys { fixture.update { $0.keys = nil } }
        #expect(try await fixture.walk(count: 50) == old)
        let new = (1...60).map { "n\($0)" }
        add(new[..<20] + ["p55"] + new[20...], to: fixture)
        if !hasKeys { fixture.update { $0.keys = nil } }
        // The boost is one of the 40 entries of the page.
        #expect(try await fixture.account.refreshFeed("") == 39)
        let shown = new[..<20] + ["p55"] + new[20...] + old.filter { $0 != "p55" }
        #expect(try await fixture.walk(count: 50) == Array(shown))
        let next = try await ServiceFixture(after: fixture)
        #expect(try await next.walk(count: 50) == Array(shown))
    }

    @Test func `a walk shows a photo that is boosted meanwhile once, cached or not`() async throws {
        let old = (1...100).map { "p\($0)" }
        let fixture = try await keyed(old)
        let first = try await fixture.page(count: 10)
        // A photo that was shown, one that is cached, and one that was never fetched.
        add(["p3", "n1", "p20", "p90"], to: fixture)
        #expect(try await fixture.account.refreshFeed("") == 2)
        #expect(try await first.ids + fixture.walk(from: first.next, count: 9) == old)
        let later = ["p3", "n1", "p20", "p90"]
        #expect(try await fixture.walk(count: 30) == later + old.filter { !later.contains($0) })
    }

    @Test func `a read of an old part below the top refreshes it`() async throws {
        let old = (1...100).map { "p\($0)" }
        let fixture = try await keyed(old)
        #expect(try await fixture.walk(count: 40) == old)
        // One is deleted, one is hidden, and one arrives late, all below the first page.
        fixture.update { state in
            state.photos.remove(at: 59)
            state.keys?.remove(at: 59)
            state.photos.insert("late", at: 49)
            let below = state.keys?[49] ?? 0
            state.keys?.insert(below + 5, at: 49)
            state.hidden = ["p70"]
        }
        let place = try #require(fixture.service.state.value.keys?[39])
        fixture.ports.time.update { $0 = $0 + .seconds(299) }
        let first = try await fixture.page(count: 40)
        #expect(try await fixture.page("", first.next, count: 40).ids.contains("p70"))
        #expect(fixture.count("new \(place)") == 1)
        fixture.ports.time.update { $0 = $0 + .seconds(2) }
        // This walk gets the cached part, the next one the refreshed part.
        #expect(try await fixture.page("", first.next, count: 40).ids.contains("p70"))
        try await fixture.waitForEvent("updated new 1")
        try await fixture.waitForEvent("photos removed [p60, p70]")
        #expect(fixture.count("new \(place)") == 2)
        let shown = fixture.service.state.value.photos.filter { $0 != "p70" }
        #expect(try await fixture.walk(count: 40) == shown)
        // A walk that began before shows neither later photos nor removed ones.
        let rest = try await fixture.page("", first.next, count: 60).ids
        #expect(rest == old[40...].filter { !["p60", "p70"].contains($0) })
    }

    @Test func `a read of an old page without photos refreshes it`() async throws {
        let fixture = try await keyed((1...9).map { "p\($0)" })
        // A page is assembled from at most eight pages of the service.
        fixture.update { state in
            state.pageSize = 1
            state.hidden = Set(state.photos).subtracting(["p8"])
        }
        #expect(try await fixture.walk() == ["p8"])
        fixture.update { $0.hidden = Set($0.photos).subtracting(["p9"]) }
        #expect(try await fixture.account.refreshFeed("") == 0)
        #expect(try await fixture.walk() == [])
        let before = fixture.base.events.value.count
        fixture.ports.time.update { $0 = $0 + .seconds(301) }
        #expect(try await fixture.walk() == [])
        try await fixture.base.events.wait { words in
            words.dropFirst(before).contains("updated new 1") ? true : nil
        }
        #expect(try await fixture.walk() == ["p9"])
    }

    @Test func `a failed refresh of a part is not repeated at once`() async throws {
        let fixture = try await keyed((1...100).map { "p\($0)" })
        _ = try await fixture.walk(count: 40)
        let place = try #require(fixture.service.state.value.keys?[39])
        let first = try await fixture.page(count: 40)
        fixture.ports.time.update { $0 = $0 + .seconds(301) }
        fixture.update { $0.error = ProviderError.failed("Nonsense.") }
        for _ in 0..<5 {
            _ = try await fixture.page("", first.next, count: 20)
            // The first request is that of the walk.
            try await fixture.waitForRequests("new \(place)", count: 2)
            for _ in 0..<20 { await Task.yield() }
        }
        #expect(fixture.count("new \(place)") == 2)
        fixture.update { $0.error = nil }
        fixture.ports.time.update { $0 = $0 + .seconds(61) }
        _ = try await fixture.page("", first.next, count: 20)
        try await fixture.waitForRequests("new \(place)", count: 3)
    }

    @Test func `an empty response for a part counts when it is repeated`() async throws {
        let old = (1...100).map { "p\($0)" }
        let fixture = try await keyed(old)
        _ = try await fixture.walk(count: 40)
        let first = try await fixture.page(count: 40)
        fixture.update { state in
            state.photos.removeLast(60)
            state.keys?.removeLast(60)
        }
        fixture.ports.time.update { $0 = $0 + .seconds(301) }
        let requests = fixture.service.state.value.requests.count
        var ids: [String] = []
        try await poll {
            ids = try await fixture.page("", first.next, count: 60).ids
            return ids.count < 60
        }
        #expect(ids == [])
        #expect(fixture.service.state.value.requests.count >= requests + 2)
        try await fixture.waitForEvent("updated new 0")
        #expect(try await fixture.walk(count: 50) == Array(old[..<40]))
    }

    @Test func `a source with keys out of order has the service's order`() async throws {
        let fixture = try await keyed((1...9).map { "p\($0)" })
        fixture.update { $0.pageSize = 3 }
        let first = try await fixture.page(count: 2)
        fixture.update { $0.keys = $0.keys.map { $0.reversed() } }
        _ = try await fixture.account.refreshFeed("")
        #expect(try await fixture.page("", first.next).ids.first == "p3")
        #expect(try await fixture.page(count: 3).ids == ["p1", "p2", "p3"])
    }

    @Test func `there is always a key between two keys`() {
        var random = SeededRandom(seed: 1)
        var keys = OrderKey.keys(3, above: nil, below: nil, isNextBelow: false)
        for round in 0..<3_000 {
            // Mostly at the same position, as below a pinned photo.
            let index = round % 3 == 0 ? Int.random(in: 0...keys.count, using: &random) : 1
            let new = OrderKey.keys(
                1 + round % 3, above: index < keys.count ? keys[index] : nil,
                below: index > 0 ? keys[index - 1] : nil, isNextBelow: round % 2 == 0)
            keys.insert(contentsOf: new, at: index)
        }
        #expect(zip(keys, keys.dropFirst()).allSatisfy { $0 > $1 })
        #expect((keys.map(\.utf8.count).max() ?? 0) < 512)
    }

    @Test(arguments: [
        ("F000000000000000", "a000000000000000"), ("f", "1"), ("0001", "1"), ("!", "}"),
        ("ffffffffffffffff", "1"), ("1", "1"),
    ])
    func `there are keys between damaged keys`(lower: String, upper: String) {
        for isNextBelow in [false, true] {
            let keys = OrderKey.keys(
                3, above: lower, below: upper, isNextBelow: isNextBelow)
            #expect(keys.count == 3)
        }
    }

    @Test func `the longest descent is the one with the highest end`() {
        #expect(FeedMerge.longestDescent([Int]()) == [])
        #expect(FeedMerge.longestDescent([1, 9, 8, 7]) == [9, 8, 7])
        #expect(FeedMerge.longestDescent([9, 1, 8, 2, 7]) == [9, 8, 7])
        #expect(FeedMerge.longestDescent([1, 5]) == [5])
    }

    /// Checks walks of a service that only adds photos, with a refresh before each page.
    @Test(arguments: 0..<20)
    func `a walk during arrivals repeats and omits nothing`(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let fixture = try await ServiceFixture((1...30).map { "p\($0)" })
        fixture.update { $0.pageSize = Int.random(in: 2...7, using: &random) }
        var number = 0
        for _ in 0..<3 {
            let began = fixture.service.state.value.photos
            _ = try await fixture.account.refreshFeed("")
            let found = try await walk(fixture, &random) { random in
                // Fewer than a page: more would be a gap that a counted page token skips.
                let arrivals = Int.random(in: 0...2, using: &random)
                let new = (0..<arrivals).map { _ in
                    number += 1
                    return "n\(number)"
                }
                fixture.update { $0.photos = new.reversed() + $0.photos }
                _ = try await fixture.account.refreshFeed("")
            }
            let old = Set(began)
            #expect(found.filter(old.contains) == began)
        }
        // Without changes, a walk has the list of the service.
        #expect(try await fixture.walk(count: 7) == fixture.service.state.value.photos)
    }

    /// Checks walks of a service with random changes: each walk ends and repeats nothing.
    @Test(arguments: 0..<20)
    func `a walk during changes of every kind repeats nothing`(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let fixture = try await ServiceFixture((1...30).map { "p\($0)" })
        fixture.update { $0.pageSize = Int.random(in: 2...7, using: &random) }
        var number = 0
        for _ in 0..<3 {
            _ = try await walk(fixture, &random) { random in
                fixture.update { state in
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
            }
        }
    }

    /// Reads the default source in pages of random size, which repeat no photo. `change` runs after each page.
    private func walk(
        _ fixture: ServiceFixture, _ random: inout SeededRandom,
        _ change: (inout SeededRandom) async throws -> Void
    ) async throws -> [String] {
        var found: [String] = []
        var cursor = ""
        repeat {
            let page = try await fixture.page(
                "", cursor, count: Int.random(in: 1...9, using: &random))
            #expect(!page.ids.isEmpty || page.next.isEmpty)
            found += page.ids
            cursor = page.next
            try await change(&random)
        } while !cursor.isEmpty
        #expect(found.count == Set(found).count)
        return found
    }
}
