import Contract
import DBus
import TestSupport
import Testing
import UnsplashSimulator

/// Tests of the notifications on a desktop with dunst.
@Suite(.privateBus, .privateKeyring, .timeLimit(.minutes(10))) @MainActor
struct NotificationTests {
    /// Toggles likes whose current state cannot be fetched, and expects that to fail.
    private func failLikes(
        _ count: Int, _ fixture: UnsplashFixture, _ account: AccountClient
    ) async throws -> [String] {
        let ids = (0..<count).map { _ in
            fixture.unsplash.publish { photo in
                photo.kind = .photo
                photo.isPlus = false
                photo.imagePath = "/photo-1"
            }.id
        }
        fixture.unsplash.stop()
        for id in ids {
            await expectError(ServiceError.offline.name) { _ = try await account.toggleLike(id) }
        }
        return ids
    }

    @Test func `a failed like has a notification whose action sends it`() async throws {
        let desktop = try await NotifiedDesktop()
        let fixture = try await UnsplashFixture()
        let ada = try await fixture.logIn("ada")
        let ids = try await failLikes(1, fixture, ada)
        try await desktop.showing(1)
        try fixture.unsplash.resume()
        try await desktop.control("action")
        try await fixture.unsplash.waitForRequests("POST /photos/*/like")
        try await desktop.showing(0)
        #expect(try await desktop.count == 0)
        try await fixture.client.wait(ada.path, .like, "Pending", .array([], of: String.signature))
        #expect(fixture.unsplash.likes(of: "ada") == ids)
        try await fixture.daemon.stop()
    }

    @Test func `ten failed likes share one notification`() async throws {
        let desktop = try await NotifiedDesktop()
        let fixture = try await UnsplashFixture()
        let ada = try await fixture.logIn("ada")
        let recording = try await BusRecording()
        let ids = try await failLikes(10, fixture, ada)
        try await desktop.showing(1)
        #expect(try await desktop.count == 1)
        // The notification contains the number once all likes have failed.
        try await recording.wait(for: "10 likes could not be sent for ada")
        #expect(try await desktop.count == 1)
        try fixture.unsplash.resume()
        try await desktop.control("action")
        try await fixture.unsplash.waitForRequests("POST /photos/*/like", count: 10)
        try await fixture.client.wait(ada.path, .like, "Pending", .array([], of: String.signature))
        #expect(Set(fixture.unsplash.likes(of: "ada")) == Set(ids))
        try await desktop.showing(0)
        try await fixture.daemon.stop()
    }

    @Test func `a revoked token has one notification whose action opens the browser`()
        async throws
    {
        let desktop = try await NotifiedDesktop()
        let portal = try await FakePortal()
        let fixture = try await UnsplashFixture()
        let ada = try await fixture.logIn("ada")
        fixture.unsplash.revokeTokens(of: "ada")
        for _ in 0..<3 {
            await expectError(ServiceError.needsLogin.name) { _ = try await ada.refresh("") }
        }
        try await desktop.showing(1)
        #expect(try await desktop.count == 1)
        try await desktop.control("action")
        let address = try await portal.opened.elements(1)[0]
        try await desktop.showing(0)
        try await fixture.unsplash.approve(address, as: "ada")
        try await fixture.wait(ada, "ready")
        #expect(try await fixture.accounts() == ["unsplash_ada"])
        #expect(try await desktop.count == 0)
        try await fixture.daemon.stop()
    }

    @Test func `notifications are withdrawn when resolved and at exit`() async throws {
        let desktop = try await NotifiedDesktop()
        let fixture = try await UnsplashFixture()
        let ada = try await fixture.logIn("ada")
        fixture.unsplash.revokeTokens(of: "ada")
        await expectError(ServiceError.needsLogin.name) { _ = try await ada.refresh("") }
        try await desktop.showing(1)
        try await fixture.logIn("ada")
        try await desktop.showing(0)
        _ = try await failLikes(1, fixture, ada)
        try await fixture.daemon.stop()
        try await desktop.showing(0)
    }

    @Test func `notifications can be disabled`() async throws {
        let desktop = try await NotifiedDesktop()
        try PrivateBus.current.directory.write(
            "[Daemon]\nNotifications=false\n", to: "etc/imagefeed/imagefeed.conf")
        let fixture = try await UnsplashFixture()
        let ada = try await fixture.logIn("ada")
        _ = try await failLikes(1, fixture, ada)
        #expect(try await desktop.count == 0)
        try await fixture.daemon.stop()
    }
}
