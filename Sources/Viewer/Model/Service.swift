internal import Contract
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
    /// The images of the photos, and of the users.
    let images: ImageLoader
    private(set) var state = State.connecting
    /// The combined account, if there is one, and the accounts, sorted by object path.
    private(set) var accounts: [AccountProperties] = []
    private(set) var providers: [ProviderProperties] = []
    var isOnline: Bool { mirror.isOnline }
    /// Emitted after accounts, providers or the state changed.
    let changed = Event<Void>()
    /// The signals of the photos and likes of an account or of the combined account.
    let event = Event<(account: ObjectPath, ServiceEvent)>()
    /// Emitted when another daemon process has taken over; cached pages and transfers are gone.
    let restarted = Event<Void>()

    private var mirror = DaemonMirror()
    private var subscriptions: [SignalSubscription] = []
    private var isLoading = false
    private var isStale = false
    private lazy var reloadTimer = MainLoopTimer { [weak self] in self?.load() }
    private var backoff = Backoff(first: .seconds(2), factor: 2, longest: .seconds(60))

    init(_ connection: BusConnection) {
        self.connection = connection
        client = ServiceClient(connection)
        images = ImageLoader(client)
        connection.onDisconnect = { [weak self] in
            self?.state = .failed(Problem(BusError.disconnected))
            self?.changed.emit()
        }
    }

    /// The accounts that have photos, the combined one first.
    var feeds: [AccountProperties] { accounts.filter(\.isLoggedIn) }

    /// The accounts whose photos a feed consists of, without the combined account itself.
    ///
    /// - Parameter feed: The path of the account or the combined account that has the feed.
    /// - Returns: The accounts.
    func accounts(of feed: ObjectPath) -> [AccountProperties] {
        accounts.filter {
            !$0.isCombined && ($0.path == feed || feed == ServiceName.combined && $0.isLoggedIn)
        }
    }

    /// True if the photos of an account are on this computer.
    func isLocal(_ account: AccountProperties) -> Bool { provider(of: account)?.id == "local" }

    func account(_ path: ObjectPath) -> AccountProperties? { accounts.first { $0.path == path } }
    func provider(of account: AccountProperties) -> ProviderProperties? {
        providers.first { $0.path == account.provider }
    }

    /// Subscribes to the changes and loads the objects.
    func start() {
        Task {
            do {
                let rule = MatchRule(sender: ServiceName.bus, pathNamespace: ServiceName.root)
                subscriptions = [
                    try await connection.subscribe(rule) { [weak self] in self?.receive($0) },
                    try await connection.watchOwner(of: ServiceName.bus) { [weak self] in
                        self?.ownerChanged($0)
                    },
                ]
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
                // Assigned before the next call, during which a change would be lost.
                mirror = DaemonMirror(manager: mirror.manager, objects: try await client.objects())
                mirror.merge(try await client.properties())
                backoff.recordSuccess()
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
        backoff.recordFailure()
        update(.failed(Problem(error)))
        // A new owner of the name is reported by the bus.
        if connection.isConnected { reloadTimer.start(after: backoff.pause) }
    }

    private func update(_ state: State) {
        self.state = state
        accounts = [mirror.combined].compactMap(\.self) + mirror.accounts
        providers = mirror.providers.sorted { $0.name < $1.name }
        changed.emit()
    }

    // MARK: Changes

    private func receive(_ message: BusMessage) {
        if let path = message.path, let received = ServiceEvent(message) {
            event.emit((path, received))
        } else if mirror.apply(message), state == .ready {
            update(.ready)
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
}
