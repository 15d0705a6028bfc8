import BusAPI
import DBus
import Foundation
import Glibc
import TestSupport
import Testing

/// More changes than the kernel keeps for the daemon.
@Suite(.privateBus, .timeLimit(.minutes(1)), .enabled { keptEvents <= 100_000 }) @MainActor
struct OverflowTests {
    @Test func `what the kernel has lost track of shows all the same`() async throws {
        try Pictures.add(["a", "sub/b"])
        let daemon = try await RunningDaemon()
        let client = try TestClient()
        let account = try await client.logIn("ada")
        try await client.waitUntilReady(account)
        let updates = try await Signals(client.connection, account.path, .feed, "Updated")
        let removed = try await Signals(client.connection, account.path, .feed, "PhotosRemoved")
        daemon.process.kill(SIGSTOP)
        let files = try ["one", "other"].map {
            try PrivateBus.current.directory.write("", to: "\(Pictures.home)/.\($0)")
        }
        await overflow(files)
        try Pictures.add("c.png", age: -1)
        try Pictures.add("new/d.png", age: -2)
        try Pictures.remove("a.png")
        daemon.process.kill(SIGCONT)
        _ = try await updates.messages.elements(1)
        _ = try await removed.messages.elements(1)
        #expect(try await client.titles(account) == ["d", "c", "b"])
        // The new folder is watched, too.
        try Pictures.add("new/e.png", age: -3)
        _ = try await updates.messages.wait { messages in
            messages.contains { message in
                let change: (String, UInt32)? = try? message.read()
                return change?.0 == "album:new"
            } ? true : nil
        }
        try await daemon.stop()
    }
}

/// How many events the kernel keeps. Source: inotify(7).
private let keptEvents =
    (try? String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8))
    .flatMap { Int($0.prefix { $0.isNumber }) } ?? .max

/// Makes more events than are kept. None of them says that a photo has changed, and it is not for the
/// number of changes that the daemon looks at everything.
@concurrent
private func overflow(_ files: [String]) async {
    // In turns: equal events that follow each other are one.
    for _ in 0...keptEvents / 2 { for file in files { chmod(file, 0o600) } }
}
