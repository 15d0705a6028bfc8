internal import DBus
package import Logging
internal import System

/// An observer of the network status and of resumes of the machine.
///
/// The kernel is observed from the beginning, NetworkManager and logind from ``listenToSystem()`` on, if they run. No
/// service is activated, and nothing is polled.
package final class NetworkWatch {
    private let onChange: (NetworkStatus) -> Void
    private let onResume: () -> Void
    private let onNetworkChange: () -> Void
    private var identity: NetworkIdentity
    private let logger: Logger
    private var status = NetworkStatus()
    private var addressSource: DescriptorSource?
    /// True if an address was removed since the last evaluation of the addresses.
    private var isAddressRemoved = false
    /// The timer of the next evaluation of the addresses.
    private var evaluation: MainLoopTimer?
    private var bus: BusConnection?
    private var networkManager: NetworkManagerWatch?
    private var sleep: SignalSubscription?
    private var isListening = false

    /// The time in which changes of addresses are collected. Interfaces start in several steps.
    private static let delay = Duration.milliseconds(300)

    /// Begins to observe the kernel.
    ///
    /// - Parameters:
    ///   - logger: Receives the reason if the system bus is not available.
    ///   - onChange: Called with each new status. At first, the network counts as available.
    ///   - onResume: Called after a resume of the machine.
    ///   - onNetworkChange: Called when the network or the address of the machine changes.
    package init(
        logger: Logger, onChange: @escaping (NetworkStatus) -> Void,
        onResume: @escaping () -> Void, onNetworkChange: @escaping () -> Void
    ) {
        self.onChange = onChange
        self.onResume = onResume
        self.onNetworkChange = onNetworkChange
        self.logger = logger
        let addresses = Self.addresses
        identity = NetworkIdentity(addresses: addresses ?? [])
        change { $0.hasAddress = addresses?.isEmpty != true }
        addressSource = makeAddressSource()
    }

    isolated deinit { addressSource?.cancel() }

    /// Evaluates the addresses a little later.
    ///
    /// - Parameter isRemoved: True if an address was removed. It may have returned since then, on another network.
    func addressesChanged(isRemoved: Bool) {
        isAddressRemoved = isAddressRemoved || isRemoved
        guard evaluation == nil else { return }
        evaluation = MainLoopTimer(after: Self.delay) { [weak self] in self?.evaluateAddresses() }
    }

    private func evaluateAddresses() {
        evaluation = nil
        let addresses = Self.addresses
        if let addresses, identity.update(addresses: addresses, isRemoved: isAddressRemoved) {
            onNetworkChange()
        }
        change { $0.hasAddress = addresses?.isEmpty != true }
        isAddressRemoved = false
    }

    /// Connects to the system bus, unless connected. Call it only when there is network activity, because it opens a
    /// connection.
    package func listenToSystem() {
        guard !isListening else { return }
        isListening = true
        Task {
            do {
                try await connect()
            } catch {
                // Containers may have no system bus. The kernel is observed in any case.
                logger.debug("The system bus is not available", metadata: ["reason": "\(error)"])
            }
        }
    }

    private func connect() async throws {
        let bus = try await BusConnection.connect(address: try BusConnection.systemAddress())
        bus.onDisconnect = { [weak self] in self?.busDisconnected() }
        self.bus = bus
        sleep = try await bus.watchResume { [weak self] in self?.onResume() }
        networkManager = try await NetworkManagerWatch(bus) { [weak self] state in
            self?.update(state)
        }
    }

    private func update(_ state: NetworkStatus.ManagerState?) {
        // This call is first, so that connections are replaced before new requests.
        if let state, identity.update(connection: state.primaryConnection) { onNetworkChange() }
        change { $0.manager = state }
    }

    private func busDisconnected() {
        networkManager = nil
        sleep = nil
        bus = nil
        // The next call of ``listenToSystem()`` connects again.
        isListening = false
        change { $0.manager = nil }
    }

    private func change(_ body: (inout NetworkStatus) -> Void) {
        let before = status
        body(&status)
        if status != before { onChange(status) }
    }
}

extension BusConnection {
    /// Observes the resume of the machine, as reported by logind on the system bus.
    ///
    /// Source: org.freedesktop.login1(5), `PrepareForSleep`.
    ///
    /// - Parameter onResume: Called after a resume.
    /// - Returns: The subscription, which ends when it is released.
    /// - Throws: `BusError`.
    func watchResume(_ onResume: @escaping () -> Void) async throws -> SignalSubscription {
        try await subscribe(
            MatchRule(
                sender: "org.freedesktop.login1", path: "/org/freedesktop/login1",
                interface: "org.freedesktop.login1.Manager", member: "PrepareForSleep")
        ) { signal in
            guard let isAboutToSleep: Bool = try? signal.read(), !isAboutToSleep else { return }
            onResume()
        }
    }
}
