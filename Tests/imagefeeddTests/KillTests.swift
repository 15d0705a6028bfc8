import Contract
import DBus
import Foundation
import Glibc
import Storage
import TestSupport
import Testing
import UnsplashSimulator

/// Kills the daemon at random moments while it likes, walks and downloads, and tests that nothing is lost. A watching
/// client stays on the bus, and daemons start on a second bus with the same folders.
///
/// `dist/development/soak` runs a thousand kills, without other tests that delay the start-up.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(60))) @MainActor
struct KillTests {
    private static let wantedKills = getenv("IMAGEFEED_KILLS").flatMap { Int(String(cString: $0)) }
    private static let kills = wantedKills ?? 20
    /// The largest median start-up time of a soak.
    private static let startLimit = Duration.milliseconds(50)

    @Test func `a kill at any moment loses no confirmed state`() async throws {
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
        for kill in 1...Self.kills {
            load.injectFaults()
            let work = load.start()
            try await secondBus.start()
            // The random delay is the purpose of this test.
            let delay = Int.random(in: 0...150_000, using: &random)
            try await Task.sleep(for: .microseconds(delay))
            load.isEnding = true
            try await fixture.daemon.kill()
            for worker in work { await worker.value }
            load.removeFaults()
            try await secondBus.end()
            if kill % 10 == 0 || kill == Self.kills { try await checkFiles() }
            try await fixture.start()
            starts.append(fixture.daemon.startUp)
            try await load.compare()
        }
        try await fixture.waitForLikes(ada)
        try await load.compare()
        load.checkService()
        try await watcher.check(load.states)
        try await fixture.daemon.stop()
        try await checkFiles()
        starts.sort()
        let median = starts[starts.count / 2]
        print(
            """
            \(Self.kills) kills: \(load.report); \(watcher.report); \(secondBus.report); start-up after one: median \(median), \
            of twenty the slowest \(starts[starts.count * 19 / 20]), slowest \(starts[starts.count - 1])
            """)
        if Self.wantedKills != nil { #expect(median <= Self.startLimit) }
    }

    /// Expects complete images and intact databases.
    private func checkFiles() async throws {
        let directory = try PrivateBus.current.directory
        let images = "home/.cache/imagefeed/images/unsplash_ada"
        for name in names(in: directory.appending(images)) where name.hasSuffix(".jpg") {
            try checkImage("\(images)/\(name)")
        }
        for name in names(in: directory.appending("downloads")) {
            try checkImage("downloads/\(name)")
        }
        for path in ["home/.local/share/imagefeed/data", "home/.cache/imagefeed/cache"] {
            // A copy, because opening a database that was not closed would repair it.
            for suffix in ["", "-journal", "-wal"] {
                let source = directory.appending("\(path).sqlite\(suffix)")
                guard access(source, F_OK) == 0 else { continue }
                let copy = directory.appending("copy.sqlite\(suffix)")
                unlink(copy)
                let target = try Destination.open(copy, O_WRONLY | O_CREAT | O_TRUNC)
                let bytes = try Destination.read(Destination.open(source, O_RDONLY))
                #expect(write(target.rawValue, bytes, bytes.count) == bytes.count)
            }
            let database = try Database(
                path: directory.appending("copy.sqlite"),
                durability: path.hasSuffix("data") ? .full : .process)
            #expect(try database.first("PRAGMA integrity_check") { $0.text(0) } == "ok")
            #expect(try database.first("SELECT 1 FROM pragma_foreign_key_check") { _ in 1 } == nil)
            for suffix in ["", "-journal", "-wal", "-shm"] {
                unlink(directory.appending("copy.sqlite\(suffix)"))
            }
        }
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
