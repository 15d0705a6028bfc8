import Contract
import DBus
import TestSupport
import Testing
import UnsplashSimulator

/// Tests of a client that reads a page once and then only listens.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct WatchTests {
    @Test func `a new refresh interval applies to clients that listen`() async throws {
        let (fixture, ada) = try await logIn(to: UnsplashFixture())
        let listener = try TestClient()
        _ = try await listener.service.account(ada.path).page("", cursor: "", count: 30)
        let updates = try await Signals(listener.connection, ada.path, .feed, "Updated")
        // With the default interval, the update would come long after the end of the test.
        _ = fixture.publish()
        let start = ContinuousClock.now
        try await fixture.daemon.configure(
            "[Daemon]\nRefreshInterval=1s\n" + RunningDaemon.configuration)
        try await updates.messages.wait { $0.isEmpty ? nil : true }
        // The shortest interval is five seconds, and this task may be resumed later.
        let intervals = Int((ContinuousClock.now - start) / .seconds(5))
        #expect(fixture.unsplash.requests("GET /photos").count <= 3 + intervals)
    }
}
