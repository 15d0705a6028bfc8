import Engine
import ProviderKit
import TestSupport
import Testing

/// Pages without photos that are followed by others, and photos that the settings exclude.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct EmptyPageTests {
    @Test func `a walk continues below a first page without photos`() async throws {
        let all = (1...12).map { "\($0)" }
        let fixture = try await ServiceFixture(all)
        fixture.service.state.update { $0.hidden = Set(all.prefix(7)) }
        #expect(try await fixture.walk("new") == Array(all.suffix(5)))
        // Photos that arrive later are at the top.
        fixture.service.state.update { $0.photos.insert("0", at: 0) }
        #expect(try await fixture.account.refreshFeed("new") == 1)
        #expect(try await fixture.walk("new") == ["0"] + all.suffix(5))
        fixture.service.state.update { $0.photos.insert(contentsOf: ["y", "z"], at: 0) }
        #expect(try await fixture.account.refreshFeed("new") == 2)
        #expect(try await fixture.walk("new") == ["y", "z", "0"] + all.suffix(5))
    }

    @Test func `a change of the settings replaces the cached photos`() async throws {
        let fixture = try await ServiceFixture(["1", "2", "3", "4"])
        fixture.service.state.update { $0.cacheVariant = "all" }
        let (ids, cursor) = try await fixture.page("new", count: 2)
        #expect(ids == ["1", "2"])
        fixture.service.state.update {
            $0.cacheVariant = ""
            $0.hidden = ["2"]
        }
        #expect(try await fixture.walk("new") == ["1", "3", "4"])
        await #expect(throws: ProviderError.staleCursor) {
            _ = try await fixture.page("new", cursor)
        }
        fixture.service.state.update {
            $0.cacheVariant = "all"
            $0.hidden = []
        }
        #expect(try await fixture.walk("new") == ["1", "2", "3", "4"])
    }
}
