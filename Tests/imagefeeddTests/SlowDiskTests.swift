import Contract
import DBus
import Glibc
import TestSupport
import Testing

/// Tests with a pictures folder on a disk that hangs or fails.
@Suite(.privateBus, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct SlowDiskTests {
    /// Runs a daemon that scans the pictures, logs ada in and likes photo `1`, and starts another one with faults of
    /// the disk in its place.
    private func restart(
        after names: [String], with faults: [SlowDisk.Fault] = []
    ) async throws -> (SlowDisk, TestClient, AccountClient) {
        let (daemon, client, ada) = try await startWithUser(names)
        let photo = try await ada.firstID()
        let _: String = try await client.proxy(ada.path).call(.like, "Like", photo)
        try await daemon.stop()
        let disk = try await SlowDisk()
        try disk.set(faults)
        _ = try await RunningDaemon(launcher: disk.launcher)
        return (disk, client, ada)
    }

    @Test func `calls are served from the index while the first scan hangs`() async throws {
        let (disk, client, ada) = try await restart(
            after: ["1", "2", "Sea/3", "Sea/4"], with: [.hang(Pictures.home)])
        #expect(try await client.titles(ada, source: "likes") == ["1"])
        #expect(try await client.titles(ada, source: "album:Sea") == ["3", "4"])
        let first = try await ada.page("", cursor: "", count: 3)
        let last = try await ada.page("", cursor: first.next, count: 3)
        #expect(last.photos.map { $0["title"]?.string } == ["4"])
        #expect(last.next.isEmpty)
        await expectError(.notFound) { _ = try await ada.photo("0123456789abcdef") }
        #expect(try await ada.sources().count == 4)
        // A new user does not wait, either.
        _ = try await client.logIn("bob")
        let updates = try await Signals(
            client.connection, ada.path, .feed, "Updated")
        try Pictures.add("5.png", age: -1)
        try disk.set([])
        _ = try await updates.messages.elements(1)
        #expect(try await client.titles(ada) == ["5", "1", "2", "3", "4"])
    }

    @Test func `a photo that hangs delays neither other photos nor a login`() async throws {
        let (disk, client, ada) = try await restart(after: ["1", "2"])
        try await client.waitUntilReady(ada)
        let photos = try await ada.ids(count: 2)
        let start = ContinuousClock.now
        try disk.set([.hang("/1.png")])
        let hanging = try (0..<5).map { _ in
            let other = try TestClient()
            return Task {
                try await other.service.account(ada.path).imagePath(photos[0], size: "small")
            }
        }
        let avatar = Task { try await ada.setAvatar(photos[0]) }
        #expect(try await !ada.imagePath(photos[1], size: "small").isEmpty)
        #expect(try await client.titles(ada) == ["1", "2"])
        let bob = try await client.logIn("bob")
        try await bob.logout()
        try await client.logIn("bob", registers: false)
        #expect(try await client.titles(bob) == ["1", "2"])
        try disk.set([])
        var images: [Result<String, any Error>] = []
        for task in hanging { images.append(await task.result) }
        let change = await avatar.result
        // The daemon gives a file up that hangs for five seconds. On a slow machine, these calls may take longer.
        if ContinuousClock.now - start < .seconds(5) {
            for image in images { #expect(try !image.get().isEmpty) }
            try change.get()
        }
        // A file that was given up is read again after a while.
        try await poll {
            let path = try? await ada.imagePath(photos[0], size: "small")
            return path?.isEmpty == false
        }
    }

    @Test(arguments: [EIO, EHOSTDOWN])
    func `photos and likes of a failing folder remain`(code: Int32) async throws {
        let (_, client, ada) = try await restart(
            after: ["Sea/1", "Sea/2", "3"], with: [.fail(code, "/Sea")])
        _ = try await ada.refresh("")
        #expect(try await client.titles(ada) == ["1", "2", "3"])
        #expect(try await client.titles(ada, source: "likes") == ["1"])
    }
}
