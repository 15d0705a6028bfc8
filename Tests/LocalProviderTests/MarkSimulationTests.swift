import TestSupport
import Testing

@testable import LocalProvider

/// Random histories of a pictures folder with marks, compared with a reference model.
@Suite(.timeLimit(.minutes(60))) struct MarkSimulationTests {
    /// The number of concurrent histories. Each one mostly waits for its files.
    private static let concurrency = 4

    @Test func `marks and IDs follow their contents`() async throws {
        let seeds = Simulation.seeds(300, share: 10)
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

    @Test(
        arguments: [
            // A like moves to a copy on a disk that was absent.
            2105,
            // An edited photo keeps its like after a kill of the next scan.
            22290,
        ] as [UInt64])
    func `marks and IDs follow their contents in a history`(seed: UInt64) async throws {
        #expect(try await Self.failure(CollectionOfOne(seed)) == nil)
    }

    /// Runs histories one after the other, up to the first that fails.
    ///
    /// - Returns: A description of the failure; nil if there was none.
    private static func failure(_ seeds: some Sequence<UInt64>) async throws -> String? {
        for seed in seeds {
            let history = try await FolderHistory(seed)
            guard let failure = try await history.run() else { continue }
            return "\(failure) with seed \(seed) after:\n\(history.log.joined(separator: "\n"))"
        }
        return nil
    }
}

/// The reference model of marks.
///
/// A content is the image data of files, whose metadata may differ. A mark belongs to a content until an edit of the file
/// replaces that by another one: an edit is written in place, or replaces a name that no events show to have been free.
///
/// A user sees as many likes of a content as there are files of it, and at most as many as there are likes.
struct MarkModel {
    /// For each user, the number of likes of each content.
    var likes: [String: [Int: Int]] = [:]
    /// The contents of marked photos, by their IDs.
    var contents: [Int64: Int] = [:]
    /// The contents whose last mark may have been removed from a photo while another photo of them was missing, which is
    /// then found by a later scan only.
    var uncertain: Set<Int> = []
    /// The IDs of the photos that each user has hidden.
    var hidden: [String: Set<Int64>] = [:]

    func visible(_ user: String, _ files: some Sequence<Int>) -> [Int: Int] {
        var copies: [Int: Int] = [:]
        for content in files { copies[content, default: 0] += 1 }
        return (likes[user] ?? [:]).reduce(into: [:]) { visible, like in
            let count = min(like.value, copies[like.key] ?? 0)
            if count > 0 { visible[like.key] = count }
        }
    }
}
