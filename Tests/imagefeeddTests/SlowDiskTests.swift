import Contract
import TestSupport
import Testing

/// Tests with a pictures folder on a disk that hangs.
@Suite(.privateBus, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct SlowDiskTests {
    @Test func `a scan or a photo that hangs delays no other photo and no login`() async throws {
        let (first, client, ada) = try await startWithUser(["1", "2"])
        let photos = try await ada.ids()
        try await first.stop()
        let disk = try await SlowDisk()
        let start = ContinuousClock.now
        try disk.hang(Pictures.home)
        _ = try await RunningDaemon(launcher: disk.launcher)
        #expect(try await client.titles(ada) == ["1", "2"])
        let bob = try await client.logIn("bob")
        try disk.hang(nil)
        try await client.waitUntilReady(ada)
        try disk.hang("/1.png")
        let hanging = try (0..<5).map { _ in
            let other = try TestClient()
            return Task {
                try await other.service.account(ada.path).imagePath(photos[0], size: "small")
            }
        }
        let avatar = Task { try await ada.setAvatar(photos[0]) }
        #expect(try await !ada.imagePath(photos[1], size: "small").isEmpty)
        #expect(try await client.titles(ada) == ["1", "2"])
        try await bob.logout()
        try await client.logIn("bob", registers: false)
        #expect(try await client.titles(bob) == ["1", "2"])
        try disk.hang(nil)
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
}
