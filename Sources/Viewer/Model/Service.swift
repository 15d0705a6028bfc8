internal import BusAPI
internal import DBus
internal import System

/// The daemon as the window sees it: its objects, kept up to date, and the signals of its feeds.
///
/// If the daemon ends, the bus starts it again with the next call.
final class Service {
    enum State: Equatable {
        case connecting
        case ready
        case failed(Problem)
    }

    let connection: BusConnection
    let client: ServiceClient
    private(set) var state = State.connecting
    private(set) var accounts: [Account] = []
    private(set) var providers: [ProviderRecord] = []
    private(set) var defaultAccount: ObjectPath?
    /// False if the daemon considers the network unavailable.
    private(set) var isOnline = true
    /// Emitted after accounts, providers or the state changed.
    let changed = Event<Void>()
    /// The signals of `Feed` and `Like`.
    let feedSignal = Event<BusMessage>()
    /// Emitted when another daemon process has taken over; cached pages and transfers are gone.
    let restarted = Event<Void>()

    private var objects: [ObjectPath: [String: [String: Variant]]] = [:]
    private var subscriptions: [SignalSubscription] = []
    private var isLoading = false
    private var isStale = false
    private lazy var reloadTimer = MainLoopTimer { [weak self] in self?.load() }
    private var failures = 0

    init(_ connection: BusConnection) {
        self.connection = connection
        client = ServiceClient(connection)
        connection.onDisconnect = { [weak self] in
            self?.state = .failed(Problem(BusError.disconnected))
            self?.changed.emit()
        }
    }

    /// The accounts that have photos, the combined one first.
    var feeds: [Account] { accounts.filter(\.hasFeed) }

    /// The accounts whose photos a feed consists of, without the combined account itself.
    ///
    /// - Parameter feed: The path of the account or the combined account that has the feed.
    /// - Returns: The accounts.
    func accounts(of feed: ObjectPath) -> [Account] {
        accounts.filter {
            !$0.isCombined && ($0.path == feed || feed == ServiceName.combined && $0.hasFeed)
        }
    }

    /// True if the photos of an account are on this computer.
    func isLocal(_ account: Account) -> Bool { provider(of: account)?.id == "local" }

    func account(_ path: ObjectPath) -> Account? { accounts.first { $0.path == path } }
    func provider(of account: Account) -> ProviderRecord? {
        providers.first { $0.path == account.provider }
    }

    /// Subscribes to the changes and loads the objects.
    func start() {
        Task {
            do {
                try await subscribe()
                load()
            } catch {
                fail(error)
            }
        }
    }

    /// Loads all objects. Starts the daemon if it is not running.
    func load() {
        guard !isLoading else {
            isStale = true
            return
        }
        isLoading = true
        reloadTimer.cancel()
        Task {
            do {
                // Assigned at once: a change during the next call would be lost.
                objects = try await client.objects()
                let manager = try await client.manager.properties()
                defaultAccount = manager["DefaultAccount"]?.objectPath
                isOnline = manager["Online"]?.bool ?? true
                failures = 0
                isLoading = false
                update(.ready)
            } catch {
                isLoading = false
                fail(error)
            }
            if isStale {
                isStale = false
                load()
            }
        }
    }

    private func fail(_ error: any Error) {
        failures += 1
        update(.failed(Problem(error)))
        // Once a minute at most; a new owner of the name is reported by the bus.
        if connection.isConnected {
            reloadTimer.start(after: .seconds(min(60, 1 << min(failures, 6))))
        }
    }

    private func update(_ state: State) {
        self.state = state
        let prefix = ServiceName.accounts.text + "/"
        accounts = objects.filter {
            $0.key.text.hasPrefix(prefix) || $0.key == ServiceName.combined
        }
        .map { Account($0.key, $0.value) }
        .sorted { ($0.isCombined ? 0 : 1, $0.path.text) < ($1.isCombined ? 0 : 1, $1.path.text) }
        providers = objects.compactMap { ProviderRecord(path: $0.key, interfaces: $0.value) }
            .sorted { $0.name < $1.name }
        changed.emit()
    }

    // MARK: Changes

    private func subscribe() async throws {
        let rule = MatchRule(sender: ServiceName.bus, pathNamespace: ServiceName.root)
        subscriptions = [
            try await connection.subscribe(rule) { [weak self] in self?.receive($0) },
            try await connection.watchOwner(of: ServiceName.bus) { [weak self] in
                self?.ownerChanged($0)
            },
        ]
    }

    private func receive(_ message: BusMessage) {
        switch (message.interface, message.member) {
        case (.feed, _), (.like, _): feedSignal.emit(message)
        case (_, "InterfacesAdded"), (_, "InterfacesRemoved"): objectsChanged(message)
        case (_, "PropertiesChanged"): propertiesChanged(message)
        default: break
        }
    }

    private func ownerChanged(_ owner: BusName?) {
        if owner != nil {
            restarted.emit()
            load()
        } else {
            state = .connecting
            changed.emit()
            // The daemon may be restarting; if it is not back soon, the next call starts it.
            reloadTimer.start(after: .seconds(1))
        }
    }

    private func objectsChanged(_ message: BusMessage) {
        if message.member == "InterfacesAdded",
            let (path, interfaces): (ObjectPath, [String: [String: Variant]]) = try? message.read()
        {
            objects[path, default: [:]].merge(interfaces) { $1 }
        } else if let (path, interfaces): (ObjectPath, [String]) = try? message.read() {
            for interface in interfaces { objects[path]?[interface] = nil }
            if objects[path]?.isEmpty == true { objects[path] = nil }
        }
        if state == .ready { update(.ready) }
    }

    private func propertiesChanged(_ message: BusMessage) {
        guard let path = message.path,
            let (interface, changes, _): (String, [String: Variant], [String]) = try? message.read()
        else { return }
        if path == ServiceName.root {
            if let account = changes["DefaultAccount"]?.objectPath { defaultAccount = account }
            if let isOnline = changes["Online"]?.bool { self.isOnline = isOnline }
        } else {
            guard objects[path]?[interface] != nil else { return }
            objects[path]?[interface]?.merge(changes) { $1 }
        }
        if state == .ready { update(.ready) }
    }
}
