import TestSupport
import Testing

/// Random walks through the combined feed, checked against a reference model.
@Suite(.timeLimit(.minutes(30)))
struct CombinedSimulationTests {
    @Test func `no walk of the combined feed repeats, loses or misplaces a photo`() async throws {
        var failures: [String] = []
        var total: [CombinedSimulation.Event: Int] = [:]
        for seed in Simulation.seeds(2_000) where failures.count < 3 {
            var simulation = CombinedSimulation(seed: seed)
            if let failure = simulation.run() { failures.append(failure) }
            total.merge(simulation.counts, uniquingKeysWith: +)
            // Other tests run on the same threads.
            await Task.yield()
        }
        #expect(failures == [], "\(failures.joined(separator: "\n\n"))")
        guard Simulation.seeds(2_000).count >= 2_000 else { return }
        for event in CombinedSimulation.Event.allCases {
            #expect(total[event] ?? 0 > 200, "\(event)")
        }
    }
}
