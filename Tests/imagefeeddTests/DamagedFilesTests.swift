import Contract
import DBus
import Foundation
import TestSupport
import Testing

/// Random damages of the files of a daemon in use. The tests of `Storage` state what remains of a damaged file.
///
/// To repeat a damage, set `IMAGEFEED_SEED=SEED IMAGEFEED_HISTORIES=1`.
@Suite(.privateBus, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct DamagedFilesTests {
    /// Fills all files: two users, likes, a hidden photo, a slideshow of its own, the cache and the index.
    private func fill() async throws {
        let (daemon, client, ada) = try await startWithUser(["a", "b", "Album/c"])
        let bob = try await client.logIn("bob")
        for account in [ada, bob] {
            for photo in try await account.page("", cursor: "", count: 2).photos {
                _ = try await account.like(photo["id"]?.string ?? "")
            }
            try await account.setDefaultSource("album:Album")
        }
        let photos = try await ada.page("all", cursor: "", count: 9).photos
        let path = try await client.service.openSlideshow("kitchen")
        let slideshow = client.service.slideshow(path)
        try await slideshow.setInterval(60)
        try await slideshow.next()
        try await slideshow.hide("local_ada/\(photos[0]["id"]?.string ?? "")")
        try await daemon.stop()
    }

    @Test func `the daemon starts and replies after each damage of a file`() async throws {
        try await fill()
        let directory = try PrivateBus.current.directory
        let folders = [Disk.data, Disk.cache].map(directory.appending)
        let files = [
            "\(folders[0])/data.sqlite", "\(folders[1])/cache.sqlite", "\(folders[1])/index.sqlite",
        ]
        let contents = try files.map { try Data(contentsOf: URL(filePath: $0)) }
        for seed in Simulation.seeds(20) {
            var random = SeededRandom(seed: seed)
            for folder in folders {
                for name in try FileManager.default.contentsOfDirectory(atPath: folder)
                where name.contains(".sqlite") {
                    try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
                }
            }
            let damaged = Int.random(in: 0..<4, using: &random) % 3
            for (index, content) in contents.enumerated() {
                var bytes = [UInt8](content)
                if index == damaged {
                    // Most of a file is empty.
                    let used = bytes.indices.filter { bytes[$0] != 0 }
                    for _ in 0..<Int.random(in: 1...3, using: &random) {
                        let place = used.randomElement(using: &random) ?? 0
                        bytes[place] =
                            Bool.random(using: &random)
                            ? bytes[place] ^ 1 << UInt8.random(in: 0..<8, using: &random)
                            : UInt8.random(in: 0...255, using: &random)
                    }
                }
                try Data(bytes).write(to: URL(filePath: files[index]))
                chmod(files[index], 0o600)
            }
            do {
                let (daemon, client) = try await startDaemon()
                let objects = try await client.service.objects()
                for (path, interfaces) in objects
                where interfaces[InterfaceName.feed.text] != nil {
                    // A refusal is a reply.
                    do {
                        _ = try await client.service.account(path).page("", cursor: "", count: 9)
                    } catch BusError.reply {}
                }
                _ = try? await client.service.slideshow.next()
                try await daemon.stop()
            } catch {
                Issue.record(error, "seed \(seed), \(files[damaged])")
            }
        }
    }
}
