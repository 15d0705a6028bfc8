import ProviderKit
import Testing

@testable import Engine

@Suite struct ServiceHealthTests {
    private let now = Timestamp(secondsSince1970: 1_800_000_000)

    @Test func `a rate limit ends within a day for every end time and clock`() {
        var health = ServiceHealth()
        health.record(.rateLimited(until: Timestamp(secondsSince1970: .max)), now: now)
        #expect(health.problem(now: now) == .rateLimited(until: now + .seconds(86_400)))
        #expect(health.problem(now: now + .seconds(86_400)) == nil)
        // The clock was a month ahead.
        #expect(health.problem(now: now + .seconds(-30 * 86_400)) == nil)
    }

    @Test func `a full disk does not count as a failure of the service`() {
        #expect(ServiceHealth.Verdict(HTTPError.cannotWrite(28)) == .none)
    }
}
