import Contract
import DBus
import Foundation
import TestSupport
import Testing
import UnsplashSimulator

/// Tests of a client that reads a page once and then only listens.
@Suite(.privateBus, .privateKeyring, .timeLimit(.minutes(10))) @MainActor
struct WatchTests {
    private func setInterval(_ value: String, _ fixture: UnsplashFixture) throws {
        let directory = try PrivateBus.current.directory
        let name = "home/.config/imagefeed/imagefeed.conf"
        let text = try String(contentsOfFile: directory.appending(name), encoding: .utf8)
        let other = text.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.hasPrefix("RefreshInterval=") && $0 != "[Daemon]" }
        try directory.write(
            "[Daemon]\nRefreshInterval=\(value)\n" + other.joined(separator: "\n"), to: name)
        fixture.daemon.process.kill(SIGHUP)
    }

    @Test
    func `a listening client gets new photos within the refresh interval, also after it changes`()
        async throws
    {
        let fixture = try await UnsplashFixture()
        let ada = try await fixture.logIn("ada")
        let listener = try TestClient()
        _ = try await listener.service.account(ada.path).page("", cursor: "", count: 30)
        let updates = try await Signals(listener.connection, ada.path, .feed, "Updated")
        // With the default interval, the update would come long after the end of the test.
        _ = fixture.publish()
        let start = ContinuousClock.now
        try setInterval("1s", fixture)
        try await updates.messages.wait { $0.isEmpty ? nil : true }
        // The shortest interval is five seconds, and this task may be resumed later.
        let intervals = Int((ContinuousClock.now - start) / .seconds(5))
        #expect(fixture.unsplash.requests("GET /photos").count <= 3 + intervals)
        try await fixture.daemon.stop()
    }
}
