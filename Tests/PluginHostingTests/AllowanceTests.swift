import Testing

@testable import PluginHosting

struct AllowanceTests {
    private let start = ContinuousClock.now

    @Test func `an amount up to the limit can be used at once, and becomes available again`() {
        var allowance = Allowance(50, per: .seconds(10))
        for _ in 0..<50 { #expect(allowance.use(at: start) == true) }
        #expect(allowance.use(at: start + .milliseconds(100)) == false)
        #expect(allowance.use(at: start + .milliseconds(300)) == true)
        #expect(allowance.used(at: start + .milliseconds(300)) == 49.5)
        #expect(allowance.used(at: start + .seconds(11)) == 0)
        #expect(allowance.use(51, at: start + .seconds(11)) == false)
    }

    @Test func `work that waits for the delay never exceeds the limit`() {
        var allowance = Allowance(1, per: .seconds(10))
        var now = start
        for _ in 0..<1000 {
            now += allowance.delay(untilBelow: 0.3, at: now)
            #expect(allowance.use(0.005, at: now) == true)
        }
        // 0.3 seconds at once, and the rest at a tenth of a second per second.
        let expected = Duration.seconds((5 - 0.3) * 10)
        #expect(now - start > expected - .seconds(1) && now - start < expected + .seconds(1))
    }
}
