import Contract
import DBus
import Foundation
import Glibc
import Storage
import TestSupport
import Testing
import UnsplashSimulator

/// Ends the daemon at random moments while it likes, walks and downloads, and tests that nothing is lost. A watching
/// client stays on the bus, and daemons start on a second bus with the same folders.
///
/// `dist/development/soak` runs a thousand rounds of each test, without other tests that delay the start-up.
@Suite(.serialized, .privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(60)))
@MainActor
struct KillTests {
    private static let wantedRounds =
        getenv("IMAGEFEED_ROUNDS").flatMap { Int(String(cString: $0)) }
    private static let rounds = wantedRounds ?? 20
    /// The largest median start-up time of a soak.
    private static let startLimit = Duration.milliseconds(50)

    @Test(arguments: [true, false])
    func `an end at any moment loses no confirmed state`(isKill: Bool) async throws {
        let seed = Simulation.seed
        print("IMAGEFEED_SEED=\(seed)")
        var random = SeededRandom(seed: seed)
        let fixture = try await UnsplashFixture(photoCount: 240)
        fixture.unsplash.settings.requestsPerHour = 10_000_000
        let ada = try await fixture.logIn("ada")
        let load = try await LoadUnderKills(fixture, ada, seed: random.next())
        let watcher = try await WatcherUnderKills(ada.path)
        let secondBus = try await SecondBusUnderKills(ada.path, seed: random.next())
        var starts: [Duration] = []
        for round in 1...Self.rounds {
            load.injectFaults()
            let work = load.start()
            try await secondBus.start()
            // The random delay is the purpose of this test.
            let delay = Int.random(in: 0...150_000, using: &random)
            try await Task.sleep(for: .microseconds(delay))
            load.isEnding = true
            try await isKill ? fixture.daemon.kill() : fixture.daemon.stop()
            for worker in work { await worker.value }
            load.removeFaults()
            try await secondBus.end()
            try load.check(copyOfDatabase(isDurable: true))
            if round % 10 == 0 { try checkFiles() }
            try await fixture.start()
            starts.append(fixture.daemon.startUp)
            try await load.compare()
        }
        try await fixture.waitForLikes(ada)
        try await load.compare()
        load.checkService()
        try await watcher.check(load.states)
        try await fixture.daemon.stop()
        try checkFiles()
        starts.sort()
        let median = starts[starts.count / 2]
        print(
            """
            \(Self.rounds) \(isKill ? "kills" : "stops"): \(load.report); \(watcher.report); \
            \(secondBus.report); start-up after one: median \(median), \
            of twenty the slowest \(starts[starts.count * 19 / 20]), slowest \(starts[starts.count - 1])
            """)
        if Self.wantedRounds != nil { #expect(median <= Self.startLimit) }
    }

    /// Expects complete images and intact databases.
    private func checkFiles() throws {
        let directory = try PrivateBus.current.directory
        let images = "home/.cache/imagefeed/images/unsplash_ada"
        for name in names(in: directory.appending(images)) where name.hasSuffix(".jpg") {
            try checkImage("\(images)/\(name)")
        }
        for name in names(in: directory.appending("downloads")) {
            try checkImage("downloads/\(name)")
        }
        for isDurable in [true, false] {
            let database = try copyOfDatabase(isDurable: isDurable)
            #expect(try database.first("PRAGMA integrity_check") { $0.text(0) } == "ok")
            #expect(try database.first("SELECT 1 FROM pragma_foreign_key_check") { _ in 1 } == nil)
        }
    }

    /// Opens a copy of the data store or of the cache, because opening a database that was not closed would repair it.
    /// The copy of the data store consists of its file and its journal.
    private func copyOfDatabase(isDurable: Bool) throws -> Database {
        let directory = try PrivateBus.current.directory
        let (path, log) =
            isDurable
            ? ("home/.local/share/imagefeed/data", "-journal")
            : ("home/.cache/imagefeed/cache", "-wal")
        for suffix in ["-wal", "-journal", "-shm"] {
            unlink(directory.appending("copy.sqlite\(suffix)"))
        }
        for suffix in ["", log] {
            let source = directory.appending("\(path).sqlite\(suffix)")
            guard access(source, F_OK) == 0 else { continue }
            let copy = directory.appending("copy.sqlite\(suffix)")
            let target = try Destination.open(copy, O_WRONLY | O_CREAT | O_TRUNC)
            let bytes = try Destination.read(Destination.open(source, O_RDONLY))
            #expect(write(target.rawValue, bytes, bytes.count) == bytes.count)
        }
        return try Database(path: directory.appending("copy.sqlite"), isDurable: isDurable)
    }

    private func checkImage(_ name: String) throws {
        let bytes = try Destination.content(name)
        #expect(
            Array(bytes.prefix(2)) == [0xff, 0xd8] && Array(bytes.suffix(2)) == [0xff, 0xd9],
            "\(name)")
    }
}

/// Returns the names in a folder; empty if the folder does not exist.
private func names(in folder: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
}
