import Contract
import DBus
import ProviderKit
import TestSupport
import Testing
import UnsplashSimulator

/// Tests of the prepared reply to `GetManagedObjects`.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct ObjectListTests {
    /// Performs a change, and expects that the list of objects has the same values as the objects.
    @discardableResult
    private func check<Result>(
        _ client: TestClient, sourceLocation: SourceLocation = #_sourceLocation,
        after change: () async throws -> Result
    ) async throws -> Result {
        let result = try await change()
        var difference: String?
        // A value may change between the calls, but not in all attempts.
        for _ in 0..<10 {
            difference = try await findDifference(client)
            if difference == nil { return result }
        }
        Issue.record("\(difference ?? "")", sourceLocation: sourceLocation)
        return result
    }

    private func findDifference(_ client: TestClient) async throws -> String? {
        let objects = try await client.service.objects()
        for (path, interfaces) in objects {
            for (name, properties) in interfaces {
                let current = try await client.proxy(path).properties(InterfaceName(name))
                if current != properties { return "\(path) \(name)" }
            }
        }
        return nil
    }

    @Test func `the list of objects equals the objects after each change`() async throws {
        try Pictures.add(["a", "b"])
        let fixture = try await UnsplashFixture()
        let client = fixture.client
        try await check(client) {}
        let local = try await check(client) { try await client.logIn("ada") }
        try await check(client) { try await client.waitUntilReady(local) }
        try await check(client) { try await local.setAvatar(local.firstID()) }
        let ada = try await check(client) {
            let ada = try await fixture.logIn("ada")
            try await fixture.wait(ada, "ready")
            return ada
        }
        try await check(client) { try await ada.setLabel("A") }
        let ids = try await ada.ids(count: 3)
        #expect(try await check(client) { try await ada.like(ids[0]) } == .done)
        fixture.unsplash.stop()
        #expect(try await check(client) { try await ada.like(ids[1]) } == .queued)
        try await check(client) { try await fixture.wait(ada, "offline") }
        try await check(client) { try await Disk.remove("\(Disk.data)/avatars") }
        try await check(client) { try await ada.logout() }
        try await check(client) { try await local.remove() }
    }
}
