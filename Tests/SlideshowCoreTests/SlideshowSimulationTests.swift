import TestSupport
import Testing

/// Random histories of the slideshow, checked against a reference model.
@Suite(.timeLimit(.minutes(30))) @MainActor
struct SlideshowSimulationTests {
    @Test func `no history repeats, loses or shows a wrong photo`() async throws {
        var failures: [String] = []
        for seed in Simulation.seeds(1_000, share: 10) where failures.count < 3 {
            if let failure = await SlideshowSimulation.run(seed: seed) { failures.append(failure) }
        }
        #expect(failures == [], "\(failures.joined(separator: "\n\n"))")
    }
}
