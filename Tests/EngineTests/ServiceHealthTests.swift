import ProviderKit
import Testing

@testable import Engine

@Suite struct ServiceHealthTests {
    private let now = Timestamp(secondsSince1970: 1_800_000_000)

    @Test func `a rate limit ends, whatever was said and whatever the clock does`() {
        var health = ServiceHealth()
        health.record(.rateLimited(until: Timestamp(secondsSince1970: .max)), now: now)
        #expect(health.problem(now: now) == .rateLimited(until: now + .seconds(86_400)))
        #expect(health.problem(now: now + .seconds(86_400)) == nil)
        // The clock was a month ahead.
        #expect(health.problem(now: now + .seconds(-30 * 86_400)) == nil)
    }

    @Test func `a disk that is full is not the service's fault`() {
        #expect(ServiceHealth.Verdict(HTTPError.cannotWrite(28)) == .none)
    }
}
