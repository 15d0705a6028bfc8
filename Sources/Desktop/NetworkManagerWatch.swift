internal import DBus

/// An observer of the state of NetworkManager, while it runs.
///
/// Source: NetworkManager D-Bus reference, `org.freedesktop.NetworkManager`.
final class NetworkManagerWatch {
    private let bus: BusConnection
    private let onChange: (NetworkStatus.ManagerState?) -> Void
    private var state: NetworkStatus.ManagerState?
    private var subscriptions: [SignalSubscription] = []

    private static let name: BusName = "org.freedesktop.NetworkManager"
    private static let path: ObjectPath = "/org/freedesktop/NetworkManager"
    private static let interface: InterfaceName = "org.freedesktop.NetworkManager"

    /// Subscribes to NetworkManager and fetches its state.
    ///
    /// - Parameters:
    ///   - bus: The system bus.
    ///   - onChange: Called with each new state; with nil when NetworkManager ends.
    /// - Throws: `BusError`.
    init(
        _ bus: BusConnection, onChange: @escaping (NetworkStatus.ManagerState?) -> Void
    ) async throws {
        self.bus = bus
        self.onChange = onChange
        let proxy = BusProxy(bus, Self.name, Self.path)
        let changes = try await proxy.watch(Self.interface) { [weak self] in self?.update($0) }
        let owner = try await bus.watchOwner(of: Self.name) { [weak self] owner in
            guard let self else { return }
            if let owner {
                Task { await self.fetchState(owner) }
            } else {
                setState(nil)
            }
        }
        subscriptions = [changes, owner]
        if let owner = try await bus.owner(of: Self.name) { await fetchState(owner) }
    }

    /// Fetches the state from the running NetworkManager, without D-Bus activation.
    private func fetchState(_ owner: BusName) async {
        let proxy = BusProxy(bus, owner, Self.path)
        guard let properties = try? await proxy.properties(Self.interface) else { return }
        // It may have ended meanwhile.
        guard (try? await bus.owner(of: Self.name)) == owner else { return }
        update(properties)
    }

    private func update(_ properties: [String: Variant]) {
        var new = state ?? NetworkStatus.ManagerState()
        if let state = properties["State"]?.uint32 { new.state = state }
        if let connectivity = properties["Connectivity"]?.uint32 {
            new.connectivity = connectivity
        }
        if let metered = properties["Metered"]?.uint32 { new.metered = metered }
        if case .objectPath(let path) = properties["PrimaryConnection"] {
            new.primaryConnection = path.text
        }
        setState(new)
    }

    private func setState(_ new: NetworkStatus.ManagerState?) {
        guard new != state else { return }
        state = new
        onChange(new)
    }
}
