import ProviderKit
import TestSupport
import Testing
import Translation

@testable import UnsplashProvider

struct SourceListTests {
    @Test func `topics follow the feed and the likes, and are cached for an hour`() async throws {
        let recorded = try recordings.response("topics_list_2021")
        let time = Observed(Fixture.now)
        let fixture = Fixture(now: { time.value }) { _ in recorded }
        for seconds in [0, 3599] as [Int64] {
            time.update { $0 = Fixture.now + .seconds(seconds) }
            let sources = try await fixture.session.sources()
            #expect(
                sources.map(\.id.text) == [
                    "editorial", "likes", "topic:wallpapers", "topic:nature",
                ])
            #expect(sources.map(\.kind) == [.feed, .likes, .topic, .topic])
            #expect(sources[2].title.english == "Wallpapers")
            #expect((sources[2].count, sources[2].cover) == (6840, PhotoID("YcfCXxo7rpc")))
            #expect(sources.allSatisfy { fixture.session.accepts($0.id) })
        }
        #expect(fixture.requestLines == ["/topics?per_page=30"])
        time.update { $0 = Fixture.now + .seconds(3600) }
        _ = try await fixture.session.sources()
        #expect(fixture.requestLines.count == 2)
    }

    @Test(arguments: ["<html>", "{}", #"[{"slug":".."},{"slug":7},{}]"#])
    func `sources without topics are listed if topics cannot be fetched`(body: String) async throws
    {
        let fixture = Fixture(responding: .json(body))
        #expect(try await fixture.session.sources().map(\.id.text) == ["editorial", "likes"])
    }

    @Test func `a cancelled request throws a cancellation error`() async throws {
        let fixture = Fixture { _ in throw CancellationError() }
        await #expect(throws: CancellationError.self) { try await fixture.session.sources() }
    }
}
