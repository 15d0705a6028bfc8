import EngineModel
import ProviderKit
import Storage
import System
import TestSupport
import Testing

@testable import Likes

/// The likes against a reference model, with random histories.
@Suite(.timeLimit(.minutes(30))) @MainActor
struct LikeSimulationTests {
    /// The number of histories for which one database is used.
    private static let historiesPerDatabase = 500

    /// The tasks of a history run on one thread, as those of the daemon do. Otherwise, a task that is resumed first passes
    /// another thread, and the order of the steps depends on the load of the machine.
    @Test func `likes stay consistent in random histories`() async {
        await #expect(processExitsWith: .success) { @MainActor in
            MainLoop.use()
            await recordErrors { try await LikeSimulationTests.runHistories() }
        }
    }

    private static func runHistories() async throws {
        var database = try makeDatabase()
        var total: [LikeSimulation.Event: Int] = [:]
        for (number, seed) in Simulation.seeds(300).enumerated() {
            if number % historiesPerDatabase == 0 { database = try makeDatabase() }
            let simulation = try LikeSimulation(seed: seed, database: database, number: number)
            let failures = try await simulation.run(steps: 150)
            total.merge(simulation.counts, uniquingKeysWith: +)
            guard failures.isEmpty else {
                let log = simulation.log.joined(separator: "\n")
                Issue.record("IMAGEFEED_SEED=\(seed) IMAGEFEED_HISTORIES=1: \(failures)\n\(log)")
                return
            }
        }
        guard Simulation.seeds(300).count >= 300 else { return }
        for event in LikeSimulation.Event.allCases { #expect(total[event] ?? 0 > 20, "\(event)") }
    }

    @Test func `a photo is liked although the position of another row is damaged`() throws {
        let directory = try TemporaryDirectory()
        let database = try Database(path: directory.appending("data.sqlite"), isDurable: true)
        try database.prepare([OutboxTable.format])
        let table = OutboxTable(database: database, account: AccountID(stored: "a"))
        try table.write(OutboxRow(photo: PhotoID("b"), isWanted: true, position: .max))
        var outbox = LikeOutbox { $0.text }
        for row in try table.rows() { outbox.insert(row) }
        let call = outbox.decide(PhotoID("c"), true, cached: false, isLocal: false)
        guard case .store(let row) = call.1 else {
            Issue.record("\(call)")
            return
        }
        outbox.insert(row)
        #expect(outbox.pending.map(\.photo) == [PhotoID("b"), PhotoID("c")])
    }

    private static func makeDatabase() throws -> Database {
        try Database.inMemory([OutboxTable.format])
    }
}
