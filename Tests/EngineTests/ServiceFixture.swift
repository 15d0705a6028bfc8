import OAuth
import ProviderKit
import Storage
import TestSupport
import Testing

@testable import Engine

/// An account at a service of the network that is logged in: its store and its token were there before.
@MainActor
final class ServiceFixture {
    let base: EngineFixture
    let service: FakeService
    let account: Account
    var world: World { base.world }
    var engine: Engine { base.engine }

    /// - Parameters:
    ///   - photos: What the service has, newest first.
    ///   - previous: The fixture whose disk and service it goes on with.
    ///   - prepare: Runs before the engine starts.
    /// - Throws: What the disk says.
    init(
        _ photos: [String] = [], after previous: ServiceFixture? = nil,
        prepare: (World) -> Void = { _ in }
    ) async throws {
        let directory = try previous?.base.directory ?? TemporaryDirectory()
        service = previous?.service ?? FakeService()
        if previous == nil {
            service.state.update { $0.photos = photos }
            let (store, _) = try AccountStore.open(folder: directory.appending("data"))
            let identity = AccountIdentity(username: "ada")
            try await store.save(
                AccountRecord(
                    id: AccountID(stored: "service_ada"), provider: "service", identity: identity,
                    label: "ada", isLoggedIn: true),
                defaultAccount: nil)
            store.close()
        } else {
            previous?.engine.stop()
        }
        base = try EngineFixture(directory, providers: [service])
        let token = OAuthToken(
            accessToken: Secret("token"), refreshToken: nil, scopes: [],
            obtained: base.world.time.value, expires: nil)
        try await base.world.secrets.store(token.encoded, for: .account("service_ada"), label: "")
        base.world.settings.values["service"] = ProviderSettings(["ClientId": "id"])
        prepare(base.world)
        account = try #require(base.engine.accounts.first)
        base.engine.start()
    }

    /// Waits until the account's state is one that `isRight` takes.
    func state(_ isRight: @escaping @Sendable (AccountState) -> Bool) async throws {
        base.states.append(account.state)
        try await base.states.wait { $0.last.map(isRight) == true ? true : nil }
    }

    /// Waits until something was told, in the words of ``EngineFixture/told``.
    func told(_ words: String) async throws {
        try await base.told.wait { $0.contains(words) ? true : nil }
    }

    /// The ids of a page, and the cursor of the next.
    func page(
        _ source: String = "", _ cursor: String = "", count: Int = 3
    ) async throws -> (ids: [String], next: String) {
        let (photos, next) = try await account.page(source, cursor: cursor, count: count)
        return (photos.map(\.id.text), next)
    }

    /// All photos of a source, by pages of `count`.
    func walk(_ source: String = "", count: Int = 2) async throws -> [String] {
        var found: [String] = []
        var cursor = ""
        repeat {
            let (ids, next) = try await page(source, cursor, count: count)
            found += ids
            cursor = next
        } while !cursor.isEmpty
        return found
    }

    /// How often the service was asked something.
    func count(_ request: String) -> Int { service.state.value.requests.count { $0 == request } }
}
