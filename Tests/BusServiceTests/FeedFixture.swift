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

/// The engine on the bus of the running test, with one remote account and a clock that the test advances.
@MainActor
final class FeedFixture {
    let directory: TemporaryDirectory
    let clock = ManualClock()
    let time = Observed(Timestamp(secondsSince1970: 1_800_000_000))
    let service = FeedService()
    let engine: Engine
    let account: Account
    let connection: BusConnection
    let busService: BusService

    init(photos: [String]) async throws {
        let directory = try TemporaryDirectory()
        self.directory = directory
        service.state.update { $0.photos = photos }
        let (store, _) = try AccountStore.open(folder: directory.appending("data"))
        try await store.save(
            AccountRecord(
                id: AccountID(stored: "service_ada"), provider: "service",
                identity: AccountIdentity(username: "ada"), label: "ada", isLoggedIn: true),
            defaultAccount: nil)
        store.close()
        let (reopened, contents) = try AccountStore.open(folder: directory.appending("data"))
        let secrets = InMemorySecretStore()
        let token = OAuthToken(
            accessToken: Secret("token"), refreshToken: nil, scopes: [], obtained: time.value,
            expires: nil)
        try await secrets.store(token.encoded, for: .account("service_ada"), label: "")
        let time = time
        engine = Engine(
            providers: [service], store: reopened, contents: contents,
            ports: EnginePorts(
                http: ScriptedHTTP(), secrets: secrets, settings: FixedSettings(),
                cacheFolder: directory.appending("cache"), cacheLimitBytes: 1 << 20,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, clock: clock,
                now: { time.value }))
        account = try #require(engine.accounts.all.first)
        connection = try PrivateBus.current.connect()
        _ = try await connection.requestName(BusService.name, replacing: false) {}
        let tree = BusService.makeTree(connection)
        busService = BusService(engine, tree, version: "1") { _ in }
        tree.start()
        engine.start()
        try await until { account.state == .ready }
    }

    /// The exported account.
    var object: AccountObject {
        get throws { try #require(busService.accounts[account.id]) }
    }

    func connect() throws -> FeedClient { try FeedClient(account.path) }

    /// Advances the clock and the time of day.
    func pass(_ duration: Duration) {
        time.update { $0 = $0 + duration }
        clock.advance(by: duration)
    }

    /// Waits for a condition that changes on the main actor.
    func until(_ condition: () throws -> Bool) async throws {
        // A closure of its own: a synchronous function value would run outside of the main actor.
        try await poll { try condition() }
    }

    /// Waits until the daemon's match rules watch the given number of clients.
    func waitForNames(_ count: Int) async throws {
        while try await watchedNames().count != count { try Task.checkCancellation() }
    }

    /// Publishes a photo at the service.
    func publish(_ photo: String) { service.state.update { $0.photos.insert(photo, at: 0) } }

    /// Returns the daemon's match rules for clients that leave the bus.
    func watchedNames() async throws -> [String] {
        let rules: [String: [String]] = try await connection.call(
            .methodCall(
                .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus.Debug.Stats",
                "GetAllMatchRules"))
        return (rules[connection.uniqueName.text] ?? []).filter { $0.contains("NameOwnerChanged") }
    }
}

/// A client with its own connection.
@MainActor
final class FeedClient {
    /// The unique name of the client.
    let name: String
    /// The `Updated` signals.
    let updates = Observed<[String]>()
    private let path: ObjectPath
    private var openConnection: BusConnection?
    private var subscription: SignalSubscription?

    init(_ path: ObjectPath) throws {
        let connection = try PrivateBus.current.connect()
        self.path = path
        name = connection.uniqueName.text
        openConnection = connection
    }

    var connection: BusConnection { get throws { try #require(openConnection) } }
    var account: AccountClient { get throws { ServiceClient(try connection).account(path) } }

    /// Subscribes to `Updated`.
    func listen() async throws {
        subscription = try await connection.subscribe(
            MatchRule(sender: ServiceName.bus, path: path, member: "Updated")
        ) { [updates] signal in
            guard let (source, new): (String, UInt32) = try? signal.read() else { return }
            updates.append("\(source) \(new)")
        }
        _ = try await connection.owner(of: ServiceName.bus)
    }

    func ids(_ source: String = "", count: UInt32 = 30) async throws -> [String] {
        try await account.page(source, cursor: "", count: count).photos.compactMap {
            $0["id"]?.string
        }
    }

    /// Leaves the bus.
    func disconnect() {
        subscription = nil
        openConnection = nil
    }
}

private final class FixedSettings: SettingsStore {
    func settings(of provider: String) -> ProviderSettings { ProviderSettings(["ClientId": "id"]) }
    func set(_ value: String, for key: String, of provider: String) async throws {}
}
