import Contract
import DBus
import Foundation
import Glibc
import TestSupport
import Testing

/// Tests with more file system events than the kernel queues for the daemon.
@Suite(
    .privateBus, .endsDaemons, .timeLimit(.minutes(10)), .enabled { maximumQueuedEvents <= 100_000 }
)
@MainActor
struct OverflowTests {
    @Test(.timeLimit(.minutes(10)))
    func `all changes are found after an overflow of events`() async throws {
        let (daemon, client, account) = try await startWithUser(["a", "sub/b"])
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
        // A scan that takes long announces its changes in parts.
        try await poll { try await client.titles(account) == ["d", "c", "b"] }
        // The new folder is also watched.
        try Pictures.add("new/e.png", age: -3)
        _ = try await updates.messages.wait { messages in
            messages.contains { message in
                let change: (String, UInt32)? = try? message.read()
                return change?.0 == "album:new"
            } ? true : nil
        }
    }
}

/// The largest number of queued events. Source: inotify(7).
private let maximumQueuedEvents =
    (try? String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8))
    .flatMap { Int($0.prefix { $0.isNumber }) } ?? .max

/// Causes more events than the kernel queues. No event reports a change of a photo, and there are too few changes for
/// the daemon's own limit.
@concurrent
private func overflow(_ files: [String]) async {
    // Alternating, because the kernel merges equal consecutive events.
    for _ in 0...maximumQueuedEvents / 2 { for file in files { chmod(file, 0o600) } }
}
