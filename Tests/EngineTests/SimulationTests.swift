import ProviderKit
import Storage
import TestSupport
import Testing

@testable import Engine

/// Random walks through the combined feed, checked against a reference model.
@Suite(.timeLimit(.minutes(30)))
struct CombinedSimulationTests {
    @Test func `no walk through the combined feed repeats, loses or misplaces a photo`()
        async throws
    {
        var failures: [String] = []
        var total = CombinedSimulation.Statistics()
        for seed in Simulation.seeds(2_000) where failures.count < 3 {
            var simulation = CombinedSimulation(seed: seed)
            if let failure = simulation.run() { failures.append(failure) }
            total.add(simulation.statistics)
            // Other tests run on the same threads.
            await Task.yield()
        }
        #expect(failures == [], "\(failures.joined(separator: "\n\n"))")
        guard Simulation.seeds(2_000).count >= 2_000 else { return }
        // The histories reach all cases.
        for count in [
            total.pages, total.leftOut, total.joined, total.problems, total.logouts, total.photos,
        ] {
            #expect(count > 200)
        }
    }
}

extension CombinedSimulation.Statistics {
    fileprivate mutating func add(_ other: Self) {
        pages += other.pages
        leftOut += other.leftOut
        joined += other.joined
        problems += other.problems
        logouts += other.logouts
        photos += other.photos
    }
}

/// Random histories of a feed, checked against a model of the service.
@Suite(.timeLimit(.minutes(30)))
struct FeedSimulationTests {
    @Test func `no history repeats or loses a photo`() async throws {
        let database = try Database(path: ":memory:", durability: .process)
        try FeedStore.migrate(database)
        var failures: [String] = []
        for seed in Simulation.seeds(2_000) where failures.count < 3 {
            if let failure = FeedSimulation.run(seed: seed, database) { failures.append(failure) }
            // Other tests run on the same threads.
            await Task.yield()
        }
        #expect(failures == [], "\(failures.joined(separator: "\n\n"))")
    }
}

/// The likes against a reference model, with random histories.
@Suite(.timeLimit(.minutes(30)))
struct LikeSimulationTests {
    /// The number of histories for which one database is used.
    private static let historiesPerDatabase = 500

    @Test func `likes stay consistent in random histories`() async throws {
        var database = try Self.makeDatabase()
        var total = LikeSimulation.Statistics()
        for (number, seed) in Simulation.seeds(2000).enumerated() {
            if number % Self.historiesPerDatabase == 0 { database = try Self.makeDatabase() }
            let simulation = try LikeSimulation(seed: seed, database: database, number: number)
            let failures = try simulation.run(steps: 150)
            await Task.yield()
            total.add(simulation.statistics)
            guard failures.isEmpty else {
                for line in simulation.log { print(line) }
                Issue.record("IMAGEFEED_SEED=\(seed) IMAGEFEED_HISTORIES=1: \(failures)")
                return
            }
        }
        print("Likes: \(total)")
        guard Simulation.seeds(2000).count >= 2000 else { return }
        // The histories reach all outcomes.
        for count in [
            total.done, total.queued, total.local, total.failed, total.refusals, total.kills,
        ] {
            #expect(count > 200)
        }
    }

    private static func makeDatabase() throws -> Database {
        let database = try Database(path: ":memory:", durability: .process)
        try database.migrate(AccountStore.migrations)
        return database
    }
}

extension LikeSimulation.Statistics {
    mutating func add(_ other: Self) {
        done += other.done
        queued += other.queued
        local += other.local
        failed += other.failed
        refusals += other.refusals
        kills += other.kills
        sent += other.sent
    }
}

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
