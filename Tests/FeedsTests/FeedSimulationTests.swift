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
        var failures: [String] = []
        for seed in Simulation.seeds(2_000) where failures.count < 3 {
            if let failure = FeedSimulation.run(seed: seed, database) { failures.append(failure) }
            // Other tests run on the same threads.
            await Task.yield()
        }
        #expect(failures == [], "\(failures.joined(separator: "\n\n"))")
    }
}
