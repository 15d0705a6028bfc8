import Testing

@testable import Sandbox

struct ThreadBudgetTests {
    @Test(
        arguments: [
            // Threads start until the limit is reached. One has ended before the last request.
            (
                3, [(1, 1, .zero), (1, 2, .zero), (1, 3, .zero), (1, 2, .zero)],
                [true, true, false, true]
            ),
            // Permitted threads are counted before they appear.
            (
                4, [(1, 2, .zero), (2, 2, .zero), (3, 2, .zero), (3, 2, ThreadBudget.startTime)],
                [true, true, false, true]
            ),
            // Without a count, ended threads are still counted.
            (3, [(1, nil, .zero), (1, nil, .zero), (1, nil, .seconds(60))], [true, true, false]),
        ] as [(Int, [(starter: Int32, running: Int?, delay: Duration)], [Bool])])
    func `a thread starts if the started threads leave room for it`(
        _ limit: Int, _ requests: [(starter: Int32, running: Int?, delay: Duration)],
        _ decisions: [Bool]
    ) {
        let start = ContinuousClock.now
        var budget = ThreadBudget(limit: limit)
        let found = requests.map {
            budget.permitsStart(by: $0.starter, running: $0.running, now: start + $0.delay)
        }
        #expect(found == decisions)
    }
}
