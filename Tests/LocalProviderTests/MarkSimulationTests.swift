import Glibc
import Logging
import ProviderKit
import Storage
import Synchronization
import System
import TestSupport
import Testing

@testable import LocalProvider

/// Random histories of a pictures folder with marks, compared with a reference model.
@Suite(.timeLimit(.minutes(60))) struct MarkSimulationTests {
    /// The number of concurrent histories. Each one mostly waits for its files.
    private static let concurrency = 4

    @Test func `marks and IDs follow their contents`() async throws {
        let seeds = Simulation.seeds(150, share: 10)
        let failures = try await withThrowingTaskGroup(of: String?.self) { group in
            for number in 0..<Self.concurrency {
                group.addTask {
                    try await Self.failure(
                        stride(
                            from: seeds.lowerBound + UInt64(number), to: seeds.upperBound,
                            by: Self.concurrency))
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
    /// - Returns: A description of the failure; nil if there was none.
    private static func failure(_ seeds: some Sequence<UInt64>) async throws -> String? {
        for seed in seeds {
            let history = try await FolderHistory(seed)
            try await history.run()
            guard let failure = history.failure else { continue }
            return "\(failure) with seed \(seed) after:\n\(history.log.joined(separator: "\n"))"
        }
        return nil
    }
}
