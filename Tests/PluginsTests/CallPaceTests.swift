import Testing

@testable import Plugins

struct CallPaceTests {
    private let start = ContinuousClock.now

    @Test func `a burst of calls starts at once, and more calls wait`() {
        var pace = CallPace(limit: .seconds(1), per: .seconds(10))
        for _ in 0..<30 {
            #expect(pace.delay(at: start) == .zero)
            pace.record(.milliseconds(10), at: start)
        }
        #expect(pace.delay(at: start) == .zero)
        pace.record(.milliseconds(10), at: start)
        #expect(pace.delay(at: start) == .milliseconds(200))
        #expect(pace.delay(at: start + .milliseconds(200)) == .zero)
    }

    @Test func `calls that keep to the pace never exceed the limit`() {
        var pace = CallPace(limit: .seconds(1), per: .seconds(10))
        var now = start
        var calls: [ContinuousClock.Instant] = []
        for _ in 0..<1000 {
            now += pace.delay(at: now)
            pace.record(.milliseconds(5), at: now)
            calls.append(now)
        }
        for (index, call) in calls.enumerated() {
            let count = calls[index...].prefix { $0 < call + .seconds(10) }.count
            #expect(.milliseconds(5) * count <= .milliseconds(810))
        }
    }

    @Test func `a delay has a maximum`() {
        var pace = CallPace(limit: .seconds(1), per: .seconds(10))
        pace.record(.seconds(5), at: start)
        #expect(pace.delay(at: start) == CallPace.maximumDelay)
    }
}
