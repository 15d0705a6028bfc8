import Testing

@testable import Sandbox

struct ThreadBudgetTests {
    /// A request to start a thread.
    private struct Request {
        let starter: Int32
        let running: Int?
        var delay = Duration.zero
    }

    private func decisions(limit: Int, _ requests: [Request]) -> [Bool] {
        let start = ContinuousClock.now
        var budget = ThreadBudget(limit: limit)
        return requests.map {
            budget.permitsStart(by: $0.starter, running: $0.running, now: start + $0.delay)
        }
    }

    @Test func `threads start until the limit is reached`() {
        let decisions = decisions(
            limit: 3,
            [
                Request(starter: 1, running: 1), Request(starter: 1, running: 2),
                Request(starter: 1, running: 3),
                // One has ended.
                Request(starter: 1, running: 2),
            ])
        #expect(decisions == [true, true, false, true])
    }

    @Test func `permitted threads are counted before they appear`() {
        let decisions = decisions(
            limit: 4,
            [
                Request(starter: 1, running: 2), Request(starter: 2, running: 2),
                Request(starter: 3, running: 2),
                Request(starter: 3, running: 2, delay: ThreadBudget.startTime),
            ])
        #expect(decisions == [true, true, false, true])
    }

    @Test func `without a count, ended threads are still counted`() {
        let decisions = decisions(
            limit: 3,
            [
                Request(starter: 1, running: nil), Request(starter: 1, running: nil),
                Request(starter: 1, running: nil, delay: .seconds(60)),
            ])
        #expect(decisions == [true, true, false])
    }
}
