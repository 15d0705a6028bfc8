import Contract
import DBus
import Logging
import OAuth
import ProviderKit
import Storage
import TestSupport
import Testing

@testable import BusService
@testable import Engine

/// The engine on the bus of the running test, with several accounts of one service and a clock that the test advances.
@MainActor
final class CombinedFixture {
    let directory: TemporaryDirectory
    let clock = ManualClock()
    let time = Observed(Timestamp(secondsSince1970: 1_800_000_000))
    let service: CombinedService
    let secrets = InMemorySecretStore()
    let engine: Engine
    let connection: BusConnection
    let busService: BusService

    /// - Parameters:
    ///   - users: The users with an account, which are logged in.
    ///   - service: The service.
    ///   - directory: The data of an earlier fixture; nil for new accounts.
    ///   - prepare: Runs before the engine starts.
    /// - Throws: An error of the store or the bus.
    init(
        _ users: [String], _ service: CombinedService = CombinedService(),
        after directory: TemporaryDirectory? = nil,
        prepare: (InMemorySecretStore) -> Void = { _ in }
    ) async throws {
        self.service = service
        let folder = try directory ?? TemporaryDirectory()
        self.directory = folder
        for user in users {
            service.update(user) { _ in }
            let token = OAuthToken(
                accessToken: Secret("token"), refreshToken: nil, scopes: [], obtained: time.value,
                expires: nil)
            try await secrets.store(token.encoded, for: .account("service_\(user)"), label: "")
        }
        prepare(secrets)
        if directory == nil {
            let (store, _) = try AccountStore.open(folder: folder.appending("data"))
            for user in users {
                try await store.save(
                    AccountRecord(
                        id: AccountID(stored: "service_\(user)"), provider: "service",
                        identity: AccountIdentity(username: user), label: user, isLoggedIn: true),
                    defaultAccount: nil)
            }
            store.close()
        }
        let (store, contents) = try AccountStore.open(folder: folder.appending("data"))
        let time = time
        engine = Engine(
            providers: [service], store: store, contents: contents,
            ports: EnginePorts(
                http: ScriptedHTTP(), secrets: secrets, settings: CombinedSettings(),
                cacheFolder: folder.appending("cache"), cacheLimitBytes: 1 << 20,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, clock: clock,
                now: { time.value }))
        connection = try PrivateBus.current.connect()
        _ = try await connection.requestName(BusService.name, replacing: true) {}
        let tree = BusService.makeTree(connection)
        busService = BusService(engine, tree, version: "1") { _ in }
        tree.start()
        engine.start()
    }

    func account(_ user: String) throws -> Account {
        try #require(engine.accounts[AccountID(stored: "service_\(user)")])
    }

    /// The exported combined account.
    var object: CombinedObject { get throws { try #require(busService.combined) } }

    /// Waits for a condition that changes on the main actor.
    func until(_ condition: () throws -> Bool) async throws {
        // A closure of its own: a synchronous function value would run outside of the main actor.
        try await poll { try condition() }
    }
}

/// A client of the combined account with its own connection.
@MainActor
final class CombinedClient {
    let connection: BusConnection
    /// The signals of the combined account, as text.
    let signals = Observed<[String]>()
    private var subscriptions: [SignalSubscription] = []

    init() throws { connection = try PrivateBus.current.connect() }

    var combined: AccountClient { ServiceClient(connection).combined }

    /// Subscribes to the signals.
    func listen() async throws {
        let signals = signals
        try await subscribe("Updated") { signal in
            let (source, new): (String, UInt32) = try signal.read()
            signals.append("updated \(source) \(new)")
        }
        try await subscribe("PhotoChanged") { signal in
            let (photo, changes): (String, [String: Variant]) = try signal.read()
            signals.append("changed \(photo) \(changes["liked"]?.bool == true)")
        }
        try await subscribe("PhotosRemoved") { signal in
            let photos: [String] = try signal.read()
            signals.append("removed \(photos)")
        }
        try await subscribe("Changed") { signal in
            let (photo, isLiked, likes): (String, Bool, UInt32) = try signal.read()
            signals.append("like \(photo) \(isLiked) \(likes)")
        }
        try await subscribe("Failed") { signal in
            let (photo, isWanted, error, message): (String, Bool, String, String) =
                try signal.read()
            signals.append("failed \(photo) \(isWanted) \(error)")
            signals.append("failed: \(message)")
        }
        try await subscribe("PropertiesChanged") { signal in
            let (_, changes, _): (String, [String: Variant], [String]) = try signal.read()
            for name in changes.keys.sorted() { signals.append("property \(name)") }
        }
        _ = try await connection.owner(of: ServiceName.bus)
    }

    private func subscribe(
        _ member: MemberName, _ handler: @escaping (BusMessage) throws -> Void
    ) async throws {
        subscriptions.append(
            try await connection.subscribe(
                MatchRule(sender: ServiceName.bus, path: ServiceName.combined, member: member)
            ) { try? handler($0) })
    }

    /// Waits for a signal.
    func wait(for signal: String) async throws {
        try await signals.wait { $0.contains(signal) ? true : nil }
    }

    func page(
        _ cursor: String = "", count: UInt32 = 30, source: String = ""
    ) async throws -> (ids: [String], next: String) {
        let (photos, next) = try await combined.page(source, cursor: cursor, count: count)
        return (photos.compactMap { $0["id"]?.string }, next)
    }

    func property(_ interface: InterfaceName, _ name: MemberName) async throws -> Variant {
        try await BusProxy(connection, ServiceName.bus, ServiceName.combined).property(
            interface, name)
    }
}

private final class CombinedSettings: SettingsStore {
    func settings(of provider: String) -> ProviderSettings { ProviderSettings(["ClientId": "id"]) }
    func set(_ value: String, for key: String, of provider: String) async throws {}
}
