internal import DBus
package import Logging

/// Tells what is believed about the network, and when the machine wakes up.
///
/// The kernel is heard from the beginning. Who is on the system bus, NetworkManager and logind, is heard from
/// ``listenToSystem()`` on, where there are such; nothing is started for the asking, and nothing is polled.
package final class NetworkWatch {
    private let onChange: (NetworkStatus) -> Void
    private let onResume: () -> Void
    private let onNetworkChange: () -> Void
    private var identity = NetworkIdentity(addresses: [])
    private let logger: Logger
    private var belief = NetworkStatus()
    private var kernel: NetworkMonitor?
    private var bus: BusConnection?
    private var networkManager: NetworkManagerWatch?
    private var sleep: SleepWatch?
    private var isListening = false

    /// - Parameters:
    ///   - logger: Told of what is not there.
    ///   - onChange: Called with each new belief. The first is that the network is there.
    ///   - onResume: Called when the machine has slept.
    ///   - onNetworkChange: Called when the machine is on another network, or has another address there.
    package init(
        logger: Logger, onChange: @escaping (NetworkStatus) -> Void,
        onResume: @escaping () -> Void, onNetworkChange: @escaping () -> Void
    ) {
        self.onChange = onChange
        self.onResume = onResume
        self.onNetworkChange = onNetworkChange
        self.logger = logger
        identity = NetworkIdentity(addresses: NetworkMonitor.addresses ?? [])
        kernel = NetworkMonitor { [unowned self] addresses, isRemoved in
            if identity.update(addresses: addresses, isRemoved: isRemoved) { onNetworkChange() }
        } onChange: { [unowned self] hasAddress in
            change { $0.hasAddress = hasAddress }
        }
    }

    /// Connects to the system bus, once. For who has something to do with the network: it costs a connection.
    package func listenToSystem() {
        guard !isListening else { return }
        isListening = true
        Task {
            do {
                try await connect()
            } catch {
                // A container, a machine without one: the kernel alone is heard.
                logger.debug("The system bus is not heard", metadata: ["reason": "\(error)"])
            }
        }
    }

    private func connect() async throws {
        let bus = try await BusConnection.connect(address: try BusConnection.systemAddress())
        bus.onDisconnect = { [weak self] in self?.busIsGone() }
        self.bus = bus
        sleep = try await SleepWatch(bus) { [weak self] in self?.onResume() }
        networkManager = try await NetworkManagerWatch(bus) { [weak self] word in
            self?.update(word)
        }
    }

    private func update(_ word: NetworkStatus.ManagerState?) {
        // First: the connections are replaced before anything is requested again.
        if let word, identity.update(connection: word.primaryConnection) { onNetworkChange() }
        change { $0.manager = word }
    }

    private func busIsGone() {
        networkManager = nil
        sleep = nil
        bus = nil
        // Those who hear it again ask for it.
        isListening = false
        change { $0.manager = nil }
    }

    private func change(_ body: (inout NetworkStatus) -> Void) {
        let before = belief
        body(&belief)
        if belief != before { onChange(belief) }
    }
}
