import Testing

@testable import Plugins

struct RequestPaceTests {
    @Test func `a burst starts at once, and more requests wait`() {
        var pace = RequestPace(perSecond: 10)
        let start = ContinuousClock.now
        for _ in 0..<11 { #expect(pace.recordRequest(at: start) == .zero) }
        #expect(pace.recordRequest(at: start) == .milliseconds(100))
        #expect(pace.recordRequest(at: start) == .milliseconds(200))
        #expect(pace.recordRequest(at: start + .seconds(1)) == .zero)
    }
}
