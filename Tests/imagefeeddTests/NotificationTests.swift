import Contract
import TestSupport
import Testing
import UnsplashSimulator

/// Tests of the notifications on a desktop with dunst.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct NotificationTests {
    private let desktop: NotifiedDesktop

    init() async throws { desktop = try await NotifiedDesktop() }

    /// Toggles a like whose current state cannot be fetched, and expects that to fail.
    private func failLike(_ fixture: UnsplashFixture, _ account: AccountClient) async -> String {
        let id = fixture.publish()
        fixture.unsplash.stop()
        await expectError(.offline) { _ = try await account.toggleLike(id) }
        return id
    }

    @Test func `a failed like has a notification whose action sends it`() async throws {
        let (fixture, ada) = try await logIn(to: UnsplashFixture())
        let id = await failLike(fixture, ada)
        try await desktop.showing(1)
        try fixture.unsplash.resume()
        try await desktop.control("action")
        try await fixture.unsplash.waitForRequests("POST /photos/*/like")
        try await desktop.showing(0)
        #expect(try await desktop.count == 0)
        try await fixture.waitForLikes(ada)
        #expect(fixture.unsplash.likes(of: "ada") == [id])
    }

    @Test func `a revoked token has one notification, which opens the browser`() async throws {
        let portal = try await FakePortal()
        let (fixture, ada) = try await logIn(to: UnsplashFixture())
        fixture.unsplash.revokeTokens(of: "ada")
        for _ in 0..<3 {
            await expectError(.needsLogin) { _ = try await ada.refresh("") }
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
    }

    @Test func `notifications are withdrawn when resolved and at exit`() async throws {
        let (fixture, ada) = try await logIn(to: UnsplashFixture())
        fixture.unsplash.revokeTokens(of: "ada")
        await expectError(.needsLogin) { _ = try await ada.refresh("") }
        try await desktop.showing(1)
        try await fixture.logIn("ada")
        try await desktop.showing(0)
        _ = await failLike(fixture, ada)
        try await fixture.daemon.stop()
        try await desktop.showing(0)
    }

    @Test func `notifications can be disabled`() async throws {
        try PrivateBus.current.directory.write(
            "[Daemon]\nNotifications=false\n", to: "etc/imagefeed/imagefeed.conf")
        let (fixture, ada) = try await logIn(to: UnsplashFixture())
        _ = await failLike(fixture, ada)
        #expect(try await desktop.count == 0)
    }
}
