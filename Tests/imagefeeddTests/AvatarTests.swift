import Contract
import DBus
import Foundation
import TestSupport
import Testing

/// Tests of the avatars of local users, which the image helper makes from photos.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct AvatarTests {
    /// Returns the width and height of a PNG.
    private func size(ofPNG path: String) throws -> [Int] {
        let bytes = Array(try Data(contentsOf: URL(filePath: path)).prefix(24))
        try #require(bytes.count == 24, "\(path)")
        #expect(bytes.prefix(8).elementsEqual([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))
        return [bytes[16..<20], bytes[20..<24]].map { $0.reduce(0) { $0 << 8 | Int($1) } }
    }

    @Test func `the avatar of a local user is empty until it is set to a photo`() async throws {
        try Pictures.add(["a", "Sea/b"])
        let (daemon, client) = try await startDaemon()
        let ada = try await client.logIn("Ада Лавлейс")
        #expect(try await ada.properties(.profile)["Avatar"] == .string(""))
        let photo = try await ada.firstID("album:Sea")
        let changed = try await Signals(propertiesOf: ada.path, client.connection)
        let id = String(ada.path.text.split(separator: "/").last ?? "")
        let set = try await Terminal.output("profile", id, "--set-avatar", "\(id)/\(photo)")
        let second = try await client.avatar(of: ada)
        #expect(set.contains("Avatar\t\(second)\n"))
        #expect(try size(ofPNG: second) == [512, 512])
        try await changed.messages.wait { messages in
            messages.contains { $0.propertyChange?.values["Avatar"] == .string(second) }
                ? true : nil
        }
        try Pictures.remove("Sea/b.png")
        try await ada.logout()
        #expect(try await client.avatar(of: ada) == second)
        try await daemon.stop()
        _ = try await RunningDaemon()
        try await client.wait(ada.path, .profile, "Avatar", .string(second))
        #expect(try size(ofPNG: second) == [512, 512])
        try await client.logIn("Ада Лавлейс", registers: false)
        #expect(try await client.avatar(of: ada) == second)
        try await ada.remove()
        #expect(!FileManager.default.fileExists(atPath: second))
    }
}
