import ProviderKit
import Storage
import TestSupport
import Testing

@testable import Feeds

/// Random histories of a feed, checked against a model of the service.
@Suite(.timeLimit(.minutes(30)))
struct FeedSimulationTests {
    @Test func `no history repeats or loses a photo`() async throws {
        let database = try Database.inMemory([FeedStore.format])
        await Simulation.run(2_000) { FeedSimulation.run(seed: $0, database) }
    }
}
