import Glibc
import Logging
import ProviderKit
import Storage
import Synchronization
import System
import TestSupport
import Testing

@testable import LocalProvider

/// Random histories of a pictures folder with local likes, compared with a reference model.
@Suite(.timeLimit(.minutes(60))) struct LocalLikeSimulationTests {
    /// The number of concurrent histories. Each one mostly waits for its databases.
    private static let concurrency = 4

    @Test func `each like follows its content`() async throws {
        let directory = try TemporaryDirectory()
        let seeds = Simulation.seeds(150, share: 10)
        let failures = try await withThrowingTaskGroup(of: String?.self) { group in
            for number in 0..<Self.concurrency {
                let path = directory.appending("local\(number).sqlite")
                group.addTask {
                    try await Self.failure(
                        stride(
                            from: seeds.lowerBound + UInt64(number), to: seeds.upperBound,
                            by: Self.concurrency), path)
                }
            }
            var failures: [String] = []
            for try await failure in group { failures += [failure].compactMap(\.self) }
            return failures
        }
        #expect(failures == [], "\(failures.joined(separator: "\n\n"))")
    }

    /// Runs histories one after the other, up to the first that fails.
    ///
    /// - Parameters:
    ///   - seeds: The seeds of the histories.
    ///   - path: The path of the database of the likes.
    /// - Returns: A description of the failure; nil if there was none.
    /// - Throws: `StorageError`.
    private static func failure(
        _ seeds: some Sequence<UInt64>, _ path: String
    ) async throws -> String? {
        let database = DatabaseQueue(label: "likes") {
            let database = try Database(path: path, durability: .process)
            try database.migrate(LocalUserDatabase.migrations)
            return database
        }
        for seed in seeds {
            let history = try await LikeHistory(seed, database)
            try await history.run()
            guard let failure = history.failure else { continue }
            return "\(failure) with seed \(seed) after:\n\(history.log.joined(separator: "\n"))"
        }
        return nil
    }
}
