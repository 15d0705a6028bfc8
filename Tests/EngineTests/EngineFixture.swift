import Engine
import ProviderKit
import Storage
import TestSupport
import Testing

/// An engine with a fake provider, a manual clock and a store in a temporary directory.
@MainActor
final class EngineFixture: EngineObserver {
    let directory: TemporaryDirectory
    let provider = FakeProvider()
    let ports: FakePorts
    var clock: ManualClock { ports.clock }
    let engine: Engine
    /// The states of accounts after their changes, in order.
    let states = Observed<[AccountState]>()
    /// The changes of accounts, in order.
    let changes = Observed<[AccountChange]>()
    /// The calls of the observer methods, as text.
    let events = Observed<[String]>()
    /// Runs when a like is announced as confirmed.
    var onLikeSettled: () -> Void = {}

    init(_ directory: TemporaryDirectory? = nil, providers: [any Provider]? = nil) throws {
        self.directory = try directory ?? TemporaryDirectory()
        ports = FakePorts(cache: self.directory.appending("cache"))
        let (store, contents) = try AccountStore.open(folder: self.directory.appending("data"))
        engine = Engine(
            providers: providers ?? [provider], store: store, contents: contents,
            ports: ports.enginePorts
        )
        engine.observer = self
    }

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
        get throws { try AccountStore.open(folder: directory.appending("data")).contents }
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

    /// Makes the store refuse to write accounts.
    func breakStore() throws {
        try database().execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON account BEGIN SELECT RAISE(ABORT, 'no'); END")
    }

    func repairStore() throws { try database().execute("DROP TRIGGER refuse") }

    private func database() throws -> Database {
        try Database(path: directory.appending("data/accounts.sqlite"), durability: .process)
    }

    /// Locks the store until the result is released. Writers wait for at most two seconds.
    func holdStore() throws -> Database {
        let database = try database()
        try database.execute("BEGIN IMMEDIATE")
        return database
    }

    // MARK: EngineObserver

    func engineChanged() { events.append("engine") }
    func accountAdded(_ account: Account) { events.append("added \(account.id)") }
    func accountChanged(_ account: Account, _ change: AccountChange) {
        changes.append(change)
        states.append(account.state)
        if account.profileState == .ready { events.append("profile \(account.profile.name)") }
        events.append("avatar \(account.profile.avatar)")
        events.append("changed \(account.id)")
    }
    func accountRemoved(_ account: Account) { events.append("removed \(account.id)") }
    func tokenRemains(_ account: Account, _ message: String) {
        events.append("token remains \(account.id)")
    }
    func feedUpdated(_ account: Account, _ source: SourceID, new: Int) {
        events.append("updated \(source) \(new)")
    }
    func photosChanged(_ account: Account, _ photos: [Photo]) {
        events.append("photos changed \(photos.map(\.id))")
    }
    func photosRemoved(_ account: Account, _ photos: [PhotoID]) {
        events.append("photos removed \(photos)")
    }
    func likeSettled(_ account: Account, _ photo: PhotoID, isLiked: Bool, likes: Int) {
        events.append("\(isLiked ? "liked" : "unliked") \(photo) \(likes)")
        onLikeSettled()
    }
    func likeFailed(
        _ account: Account, _ photo: PhotoID, isWanted: Bool, _ error: any Error
    ) {
        events.append("like failed \(photo)")
    }
    func providerAdded(_ provider: any Provider) {
        events.append("provider added \(provider.info.id)")
    }
    func providerRemoved(_ id: String) { events.append("provider removed \(id)") }
    func providerChanged(_ provider: any Provider) { events.append("provider \(provider.info.id)") }
    func loginAdded(_ login: Login) { events.append("login \(login.number)") }
    func loginChanged(_ login: Login) { events.append("login \(login.number) \(login.state)") }
    func loginRemoved(_ login: Login) { events.append("login \(login.number) gone") }
    func transferAdded(_ transfer: Transfer) { events.append("transfer \(transfer.number)") }
    func transferChanged(_ transfer: Transfer) {
        events.append(
            "transfer \(transfer.number) \(transfer.state) \(transfer.received)/\(transfer.total)")
    }
    func transferRemoved(_ transfer: Transfer) {
        events.append("transfer \(transfer.number) gone")
    }
}
