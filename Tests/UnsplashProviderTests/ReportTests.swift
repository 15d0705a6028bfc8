import ProviderKit
import TestSupport
import Testing
import WebService

@testable import UnsplashProvider

struct ReportTests {
    private static func limits(_ fixture: Fixture) async -> [RateLimit] {
        await fixture.session.finalEvents().compactMap {
            if case .rateLimit(let limit) = $0 { limit } else { nil }
        }
    }

    @Test(
        arguments: [
            (["X-RateLimit-Limit": "50", "x-ratelimit-remaining": "49"], 49),
            (["X-Ratelimit-Limit": "50", "X-Ratelimit-Remaining": "0", "Age": "0"], 0),
            (
                ["X-Ratelimit-Limit": "50", "X-Ratelimit-Remaining": "9", "X-Cache": "MISS, MISS"],
                9
            ),
            (
                ["X-Ratelimit-Limit": "50", "X-Ratelimit-Remaining": "9", "X-Cache": "MISS, HIT"],
                nil
            ),
            (["X-Ratelimit-Limit": "50", "X-Ratelimit-Remaining": "9", "Age": "580"], nil),
            (["X-Ratelimit-Limit": "50", "X-Ratelimit-Remaining": "51"], nil),
            (["X-Ratelimit-Limit": "50", "X-Ratelimit-Remaining": "-1"], nil),
            (["X-Ratelimit-Limit": "0", "X-Ratelimit-Remaining": "0"], nil),
            (["X-Ratelimit-Remaining": "4"], nil), ([:], nil),
        ] as [(HTTPHeaders, Int?)])
    func `the current rate limit is reported once`(
        headers: HTTPHeaders, remaining: Int?
    ) async throws {
        let fixture = Fixture(responding: .json("[]", headers))
        for _ in 1...2 { _ = try await fixture.session.page("editorial") }
        let expected = remaining.map { [RateLimit(remaining: $0, limit: 50)] } ?? []
        #expect(await Self.limits(fixture) == expected)
    }

    @Test func `the rate limit of an error is reported`() async throws {
        let fixture = Fixture(
            responding: .json(
                "Rate Limit Exceeded", status: 403,
                ["X-Ratelimit-Limit": "50", "X-Ratelimit-Remaining": "0"]))
        await #expect(throws: ProviderError.rateLimited(until: Fixture.now + .seconds(2800))) {
            try await fixture.session.profile()
        }
        #expect(await Self.limits(fixture) == [RateLimit(remaining: 0, limit: 50)])
    }

    @Test func `the first event of a session is its status`() async {
        #expect(await Fixture(responding: .json("[]")).session.firstStatus() == .ready)
    }

    @Test func `a warning is logged once`() async throws {
        let recorded = try recordings.response("search_photos_2023_perpage3")
        let fixture = Fixture(responding: recorded)
        for _ in 1...3 { _ = try await fixture.session.page("search:dog") }
        let lines = fixture.log.lines.value.filter { $0.contains("tags property") }
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("warning ") == true)
    }
}
