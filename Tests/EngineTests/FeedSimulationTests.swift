import Storage
import TestSupport
import Testing

@testable import Engine

/// Random histories of a feed, checked against a model of the service.
@Suite(.timeLimit(.minutes(30)))
struct FeedSimulationTests {
    @Test func `no history shows a photo twice, or loses one`() async throws {
        let seeds = Simulation.seeds(2_000)
        let parts = 2
        let failures = try await withThrowingTaskGroup(of: [String].self) { group in
            for part in 0..<parts {
                group.addTask {
                    let database = try Database(path: ":memory:", durability: .process)
                    try database.migrate(FeedStore.migrations)
                    var failures: [String] = []
                    for seed in seeds where Int(seed) % parts == part {
                        guard let failure = FeedSimulation.run(seed: seed, database) else {
                            continue
                        }
                        failures.append(failure)
                        if failures.count == 3 { break }
                    }
                    return failures
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(failures == [], "\(failures.joined(separator: "\n\n"))")
    }
}
