import TestSupport
import Testing

/// Random histories of the slideshow, checked against a reference model.
@Suite(.timeLimit(.minutes(30))) @MainActor
struct SlideshowSimulationTests {
    @Test func `no history repeats, loses or shows a wrong photo`() async throws {
        await Simulation.run(1_000, share: 10) { await SlideshowSimulation.run(seed: $0) }
    }
}
