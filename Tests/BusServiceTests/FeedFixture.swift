import Contract
import DBus
import EngineModel
import ProviderKit
import System
import TestSupport
import Testing

@testable import BusService
@testable import EngineCore
@testable import Services

/// The engine on the bus of the running test, with one account whose feed has no likes.
@MainActor
final class FeedFixture: BusFixture {
    var account: Account { engine.accounts.all[0] }

    init(photos: [String]) async throws {
        let service = FakeService(capabilities: [.feed])
        service.update("ada") { $0.photos = photos.map { (id: $0, created: 0) } }
        try await super.init(["ada"], service)
        try await until { self.account.state == .ready }
    }

    /// The exported account.
    var object: AccountObject {
        get throws { try #require(busService.accounts[account.id]) }
    }

    func connect() throws -> ListeningClient { try ListeningClient(account.path) }

    /// Advances the clock and the time of day.
    func pass(_ duration: Duration) {
        time.update { $0 = $0 + duration }
        clock.advance(by: duration)
    }

    /// Waits until the daemon's match rules watch the given number of clients.
    func waitForNames(_ count: Int) async throws {
        while try await watchedNames().count != count { try Task.checkCancellation() }
    }

    /// Publishes a photo at the service.
    func publish(_ photo: String) {
        service.update("ada") { $0.photos.insert((id: photo, created: 0), at: 0) }
    }

    /// The number of requests for pages.
    var requestCount: Int { service.users.value["ada"]?.requests.count ?? 0 }

    func waitForRequests(_ count: Int) async throws {
        try await service.users.wait { $0["ada"]?.requests.count == count ? true : nil }
    }

    /// Waits until no refresh is in progress.
    func waitForRefresh() async throws {
        let photos = try #require(account.photos as? RemoteService)
        try await until { photos.feed?.tops.isRunning(SourceID("new")) == false }
    }

    /// Returns the daemon's match rules for clients that leave the bus.
    func watchedNames() async throws -> [String] {
        let rules: [String: [String]] = try await connection.call(
            .methodCall(
                .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus.Debug.Stats",
                "GetAllMatchRules"))
        return (rules[connection.uniqueName.text] ?? []).filter { $0.contains("NameOwnerChanged") }
    }
}
