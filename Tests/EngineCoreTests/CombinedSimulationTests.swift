import TestSupport
import Testing

/// Random walks through the combined feed, checked against a reference model.
@Suite(.timeLimit(.minutes(30)))
struct CombinedSimulationTests {
    @Test func `no walk of the combined feed repeats, loses or misplaces a photo`() async throws {
        var total: [CombinedSimulation.Event: Int] = [:]
        await Simulation.run(2_000) { seed in
            var simulation = CombinedSimulation(seed: seed)
            let failure = simulation.run()
            total.merge(simulation.counts, uniquingKeysWith: +)
            return failure
        }
        guard Simulation.seeds(2_000).count >= 2_000 else { return }
        for event in CombinedSimulation.Event.allCases {
            #expect(total[event] ?? 0 > 200, "\(event)")
        }
    }
}
