import Engine
import ProviderKit
import Storage
import TestSupport
import Testing

/// An engine with a fake provider, a clock and a store in a directory of its own.
@MainActor
final class EngineFixture: EngineObserver {
    let directory: TemporaryDirectory
    let provider = FakeProvider()
    let world: World
    var clock: ManualClock { world.clock }
    let engine: Engine
    /// The states of accounts that have changed, in their order.
    let states = Observed<[AccountState]>()
    /// The changes of accounts, in their order.
    let changes = Observed<[AccountChange]>()
    /// What was told, in words.
    let told = Observed<[String]>()
    /// Runs when a like is announced as confirmed.
    var onLikeSettled: () -> Void = {}

    init(_ directory: TemporaryDirectory? = nil, providers: [any Provider]? = nil) throws {
        self.directory = try directory ?? TemporaryDirectory()
        world = World(cache: self.directory.appending("cache"))
        let (store, contents) = try AccountStore.open(folder: self.directory.appending("data"))
        engine = Engine(
            providers: providers ?? [provider], store: store, contents: contents, ports: world.ports
        )
        engine.observer = self
    }

    /// Another engine on the same store, with the same users.
    func restarted() throws -> EngineFixture {
        engine.stop()
        let next = try EngineFixture(directory)
        let users = provider.users.value
        next.provider.users.update { $0 = users }
        return next
    }

    /// What the store holds.
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

    /// Changes the store from beside.
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

    /// Keeps the store from being written until the result is dropped, for two seconds at most.
    func holdStore() throws -> Database {
        let database = try database()
        try database.execute("BEGIN IMMEDIATE")
        return database
    }

    // MARK: EngineObserver

    func engineChanged() { told.append("engine") }
    func accountAdded(_ account: Account) { told.append("added \(account.id)") }
    func accountChanged(_ account: Account, _ change: AccountChange) {
        changes.append(change)
        states.append(account.state)
        if account.profileState == .ready { told.append("profile \(account.profile.name)") }
        told.append("avatar \(account.profile.avatar)")
        told.append("changed \(account.id)")
    }
    func accountRemoved(_ account: Account) { told.append("removed \(account.id)") }
    func tokenRemains(_ account: Account, _ message: String) {
        told.append("token remains \(account.id)")
    }
    func feedUpdated(_ account: Account, _ source: SourceID, new: Int) {
        told.append("updated \(source) \(new)")
    }
    func photosChanged(_ account: Account, _ photos: [Photo]) {
        told.append("photos changed \(photos.map(\.id))")
    }
    func photosRemoved(_ account: Account, _ photos: [PhotoID]) {
        told.append("photos removed \(photos)")
    }
    func likeSettled(_ account: Account, _ photo: PhotoID, isLiked: Bool, likes: Int) {
        told.append("\(isLiked ? "liked" : "unliked") \(photo) \(likes)")
        onLikeSettled()
    }
    func likeFailed(
        _ account: Account, _ photo: PhotoID, isWanted: Bool, _ error: any Error
    ) {
        told.append("like failed \(photo)")
    }
    func providerAdded(_ provider: any Provider) {
        told.append("provider added \(provider.info.id)")
    }
    func providerRemoved(_ id: String) { told.append("provider removed \(id)") }
    func providerChanged(_ provider: any Provider) { told.append("provider \(provider.info.id)") }
    func loginAdded(_ login: Login) { told.append("login \(login.number)") }
    func loginChanged(_ login: Login) { told.append("login \(login.number) \(login.state)") }
    func loginRemoved(_ login: Login) { told.append("login \(login.number) gone") }
    func transferAdded(_ transfer: Transfer) { told.append("transfer \(transfer.number)") }
    func transferChanged(_ transfer: Transfer) {
        told.append(
            "transfer \(transfer.number) \(transfer.state) \(transfer.received)/\(transfer.total)")
    }
    func transferRemoved(_ transfer: Transfer) {
        told.append("transfer \(transfer.number) gone")
    }
}
