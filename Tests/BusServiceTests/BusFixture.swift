import Contract
import DBus
import EngineModel
import Logging
import OAuth
import ProviderKit
import SlideshowCore
import Storage
import TestSupport
import Testing

@testable import BusService
@testable import EngineCore
@testable import Services

/// The engine on the bus of the running test, with accounts of one service and a clock that the test advances.
@MainActor
class BusFixture {
    let directory: TemporaryDirectory
    let clock = ManualClock()
    let time = Observed(Timestamp(secondsSince1970: 1_800_000_000))
    let service: FakeService
    let secrets = InMemorySecretStore()
    let engine: Engine
    let connection: BusConnection
    let busService: BusExporter

    private static func dataStore(_ folder: TemporaryDirectory) -> Store {
        Store(folder.appending("data/data.sqlite"), .durable, Engine.formats)
    }

    /// - Parameters:
    ///   - users: The users with an account, which are logged in.
    ///   - service: The service.
    ///   - directory: The data of an earlier fixture; nil for new accounts.
    ///   - prepare: Runs before the engine starts.
    /// - Throws: An error of the store or the bus.
    init(
        _ users: [String], _ service: FakeService = FakeService(),
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
            let store = AccountStore(Self.dataStore(folder))
            for user in users {
                try await store.save(
                    AccountRecord(
                        id: AccountID(stored: "service_\(user)"), provider: "service",
                        identity: AccountIdentity(username: user), label: user, isLoggedIn: true),
                    defaultAccount: nil)
            }
            store.close()
        }
        let store = AccountStore(Self.dataStore(folder))
        let contents = try await store.contents()
        let time = time
        var ports = EnginePorts(
            http: ScriptedHTTP(), secrets: secrets,
            settings: { _ in ProviderSettings(["ClientId": "id"]) }, setClientID: { _, _ in },
            cacheFolder: folder.appending("cache"), cacheLimitBytes: 1 << 20,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        ports.clock = clock
        ports.now = { time.value }
        engine = Engine(
            providers: [service], store: store, contents: contents,
            slideshowStore: SlideshowStore(
                data: .inMemory([SlideshowStore.dataFormat]),
                cache: .inMemory([SlideshowStore.cacheFormat])),
            slideshows: SlideshowStore.Contents(),
            cache: Store(
                folder.appending("cache/cache.sqlite"), .disposable, Engine.cacheFormats,
                logger: ports.logger),
            ports: ports)
        connection = try PrivateBus.current.connect()
        _ = try await connection.requestName(BusExporter.name, replacing: true) {}
        let tree = BusExporter.makeTree(connection)
        busService = BusExporter(engine, tree)
        tree.start()
        engine.start()
    }

    func account(_ user: String) throws -> Account {
        try #require(engine.accounts[AccountID(stored: "service_\(user)")])
    }

    /// The exported combined account.
    var combined: CombinedObject { get throws { try #require(busService.combined) } }

    /// Waits for a condition that changes on the main actor.
    func until(_ condition: () throws -> Bool) async throws {
        // A closure of its own: a synchronous function value would run outside of the main actor.
        try await poll { try condition() }
    }
}
