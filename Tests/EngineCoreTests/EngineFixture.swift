import EngineModel
import Likes
import OAuth
import ProviderKit
import SlideshowCore
import Storage
import TestSupport
import Testing

@testable import EngineCore
@testable import Services

/// An engine with a fake provider, a manual clock and a store in a temporary directory.
@MainActor
final class EngineFixture: EngineObserver {
    let directory: TemporaryDirectory
    let provider = FakeProvider()
    let ports: FakePorts
    var clock: ManualClock { ports.clock }
    let engine: Engine
    private let store: AccountStore
    /// The states of accounts after their changes, in order.
    let states = Observed<[AccountState]>()
    /// The changes of accounts, in order.
    let changes = Observed<[AccountChange]>()
    /// The events, as text.
    let events = Observed<[String]>()
    /// Runs when a like is announced as confirmed.
    var onLikeConfirmed: () -> Void = {}

    /// - Parameters:
    ///   - directory: The folder of the store; nil for another one.
    ///   - providers: The providers; nil for ``provider``.
    ///   - holdsLogins: True if the logins of ``provider`` may not continue.
    /// - Throws: An error of the store.
    init(
        _ directory: TemporaryDirectory? = nil, providers: [any Provider]? = nil,
        holdsLogins: Bool = false
    ) throws {
        self.directory = try directory ?? TemporaryDirectory()
        ports = FakePorts(cache: self.directory.appending("cache"))
        let data = Self.dataStore(self.directory)
        store = AccountStore(data)
        let contents = try data.runAndWait(AccountStore.read)
        engine = Engine(
            providers: providers ?? [provider], store: store, contents: contents,
            slideshowStore: SlideshowStore(
                data: .inMemory([SlideshowStore.dataFormat]),
                cache: .inMemory([SlideshowStore.cacheFormat])),
            slideshows: SlideshowStore.Contents(),
            cache: Store(
                self.directory.appending("cache/cache.sqlite"), .disposable, Engine.cacheFormats,
                logger: ports.enginePorts.logger),
            ports: ports.enginePorts)
        engine.addObserver(self)
        provider.isOpen.update { $0 = !holdsLogins }
    }

    /// Creates a store with logged-in accounts of the user `ada` at services.
    static func makeStore(_ services: [String], in directory: TemporaryDirectory) async throws {
        let store = AccountStore(dataStore(directory))
        for id in services {
            try await store.save(
                AccountRecord(
                    id: AccountID(stored: "\(id)_ada"), provider: id,
                    identity: AccountIdentity(username: "ada"), label: "ada", isLoggedIn: true),
                defaultAccount: nil)
        }
        store.close()
    }

    /// Configures a service, and stores a token for the user `ada`.
    func configure(_ service: String) async throws {
        let token = ports.token("token")
        try await ports.secrets.store(token.encoded, for: .account("\(service)_ada"), label: "")
        ports.settings.values[service] = ProviderSettings(["ClientId": "id"])
    }

    // Waiting tasks of an engine retain its databases.
    isolated deinit { engine.stop() }

    /// Stops the engine, and makes another one with the same store and the same users.
    func restarted() throws -> EngineFixture {
        engine.stop()
        let next = try EngineFixture(directory)
        let users = provider.users.value
        next.provider.users.update { $0 = users }
        return next
    }

    /// The contents of the store.
    var stored: AccountStore.Contents {
        get throws { try Self.dataStore(directory).runAndWait(AccountStore.read) }
    }

    func start(_ name: String, registers: Bool = true, client: String = "") throws -> Login {
        var options = LoginOptions()
        options.client = client
        options.username = name
        options.registers = registers
        return try engine.logins.start("fake", options)
    }

    @discardableResult
    func logIn(_ name: String, registers: Bool = true) async throws -> Account {
        try await start(name, registers: registers).wait()
    }

    /// Executes SQL in the store through another connection.
    func execute(_ sql: String) throws { try database().execute(sql) }

    /// Returns the first column of the rows that a query finds in the store.
    func rows(_ sql: String) throws -> [String] {
        var texts: [String] = []
        try database().query(sql) { row throws(StorageError) in texts.append(row.text(0)) }
        return texts
    }

    /// Makes the store refuse a kind of changes of accounts.
    func breakStore(_ change: String = "INSERT") throws {
        try execute(
            "CREATE TRIGGER refuse BEFORE \(change) ON account BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
    }

    func repairStore() throws { try execute("DROP TRIGGER refuse") }

    private func database() throws -> Database {
        try Database(path: directory.appending("data/data.sqlite"), isDurable: true)
    }

    /// Opens the store in a directory.
    static func dataStore(_ directory: TemporaryDirectory) -> Store {
        Store(directory.appending("data/data.sqlite"), .durable, Engine.formats)
    }

    /// Holds all tasks of a store until the result is opened. The writers of a locked file would wait for at most two
    /// seconds.
    ///
    /// - Parameter other: The store; nil for that of the accounts.
    /// - Returns: The gate that holds the tasks.
    /// - Throws: An error of the test.
    func holdStore(_ other: Store? = nil) async throws -> Gate {
        let (gate, isHeld) = (Gate(), Observed(false))
        let queue = other ?? store.likes(of: AccountID(stored: "")).store
        Task {
            _ = try? await queue.run { _ in
                isHeld.update { $0 = true }
                gate.wait()
            }
        }
        try await isHeld.wait { $0 ? true : nil }
        return gate
    }

    // MARK: EngineObserver

    func handle(_ event: EngineEvent) {
        switch event {
        case .changed: events.append("engine")
        case .accountAdded(let account): events.append("added \(account.id)")
        case .account(let account, let event): handle(event, of: account)
        case .accountRemoved(let account): events.append("removed \(account.id)")
        case .providerAdded(let provider): events.append("provider added \(provider.info.id)")
        case .providerRemoved(let id): events.append("provider removed \(id)")
        case .providerChanged(let provider): events.append("provider \(provider.info.id)")
        case .loginAdded(let login): events.append("login \(login.number)")
        case .loginChanged(let login): events.append("login \(login.number) \(login.state)")
        case .loginRemoved(let login): events.append("login \(login.number) gone")
        case .transferAdded(let transfer): events.append("transfer \(transfer.number)")
        case .transferChanged(let transfer):
            events.append(
                "transfer \(transfer.number) \(transfer.state) \(transfer.received)/\(transfer.total)"
            )
        case .transferRemoved(let transfer): events.append("transfer \(transfer.number) gone")
        case .slideshowAdded(let slideshow): events.append("slideshow \(slideshow.name)")
        case .slideshowRemoved(let slideshow): events.append("slideshow \(slideshow.name) gone")
        }
    }

    private func handle(_ event: AccountEvent, of account: Account) {
        switch event {
        case .changed(let change):
            changes.append(change)
            states.append(account.state)
            if account.profileState == .ready { events.append("profile \(account.profile.name)") }
            events.append("avatar \(account.profile.avatar)")
            events.append("changed \(account.id)")
        case .updated(let source, let new): events.append("updated \(source) \(new)")
        case .photosChanged(let photos): events.append("photos changed \(photos.map(\.id))")
        case .photosRemoved(let photos): events.append("photos removed \(photos)")
        case .likeConfirmed(let photo, let isLiked, let likes):
            events.append("\(isLiked ? "liked" : "unliked") \(photo) \(likes)")
            onLikeConfirmed()
        case .likeFailed(let photo, _, _): events.append("like failed \(photo)")
        case .tokenRemains: events.append("token remains \(account.id)")
        }
    }
}

@MainActor
extension Account {
    /// The photos of an account at a service.
    var remote: RemoteService? { photos as? RemoteService }

    func setLiked(_ photo: String, _ isLiked: Bool) async throws -> LikeOutcome {
        try await changeLike(of: photo, to: isLiked).outcome
    }

    func toggleLike(_ photo: String) async throws -> (isLiked: Bool, outcome: LikeOutcome) {
        try await changeLike(of: photo, to: nil)
    }
}

@MainActor
extension AccountList {
    /// Removes an account, or logs it out.
    func end(_ account: Account, isRemoval: Bool) async throws {
        if isRemoval { try await remove(account) } else { try await logOut(account) }
    }
}

@MainActor
extension Login {
    /// Expects that the login fails with an error.
    func expectFailure(
        _ error: some Error & Equatable, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        await #expect(throws: error, sourceLocation: sourceLocation) { try await wait() }
    }

    /// Cancels the login and waits for the end of its work.
    func cancelAndWait() async {
        cancel()
        await waitForWork()
    }
}
