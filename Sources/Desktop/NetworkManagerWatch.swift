internal import DBus

/// Tells what NetworkManager says, as long as it is there.
///
/// Source: NetworkManager D-Bus reference, `org.freedesktop.NetworkManager`.
final class NetworkManagerWatch {
    private let bus: BusConnection
    private let onChange: (NetworkStatus.ManagerState?) -> Void
    private var word: NetworkStatus.ManagerState?
    private var subscriptions: [SignalSubscription] = []

    private static let name: BusName = "org.freedesktop.NetworkManager"
    private static let path: ObjectPath = "/org/freedesktop/NetworkManager"
    private static let interface: InterfaceName = "org.freedesktop.NetworkManager"

    /// - Parameters:
    ///   - bus: The system bus.
    ///   - onChange: Called with each new word; with nil when it has gone.
    /// - Throws: What the bus says.
    init(
        _ bus: BusConnection, onChange: @escaping (NetworkStatus.ManagerState?) -> Void
    ) async throws {
        self.bus = bus
        self.onChange = onChange
        let changes = try await bus.subscribe(
            MatchRule(
                sender: Self.name, path: Self.path, interface: "org.freedesktop.DBus.Properties",
                member: "PropertiesChanged", argument0: Self.interface.text)
        ) { [weak self] signal in
            guard let change: (String, [String: Variant], [String]) = try? signal.read() else {
                return
            }
            self?.hear(change.1)
        }
        let owner = try await bus.watchOwner(of: Self.name) { [weak self] owner in
            guard let self else { return }
            if let owner {
                Task { await self.ask(owner) }
            } else {
                forget()
            }
        }
        subscriptions = [changes, owner]
        if let owner = try await bus.owner(of: Self.name) { await ask(owner) }
    }

    /// Asks the one who is there, and starts nobody who is not.
    private func ask(_ owner: BusName) async {
        let proxy = BusProxy(bus, owner, Self.path)
        guard let properties = try? await proxy.properties(Self.interface) else { return }
        // It may have gone meanwhile.
        guard (try? await bus.owner(of: Self.name)) == owner else { return }
        hear(properties)
    }

    private func hear(_ properties: [String: Variant]) {
        var word = word ?? NetworkStatus.ManagerState()
        if let state = properties["State"]?.uint32 { word.state = state }
        if let connectivity = properties["Connectivity"]?.uint32 {
            word.connectivity = connectivity
        }
        if let metered = properties["Metered"]?.uint32 { word.metered = metered }
        if case .objectPath(let path) = properties["PrimaryConnection"] {
            word.primaryConnection = path.text
        }
        guard word != self.word else { return }
        self.word = word
        onChange(word)
    }

    private func forget() {
        guard word != nil else { return }
        word = nil
        onChange(nil)
    }
}
