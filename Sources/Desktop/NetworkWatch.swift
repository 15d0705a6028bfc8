internal import DBus
internal import Glibc
package import Logging

/// An observer of the network status and of resumes of the machine.
///
/// The kernel is observed from the beginning, NetworkManager and logind from ``listenToSystem()`` on, if they run. No
/// service is activated, and nothing is polled.
package final class NetworkWatch {
    private let onChange: (NetworkStatus) -> Void
    private let onResume: () -> Void
    private let onNetworkChange: () -> Void
    private var identity = NetworkIdentity(addresses: [])
    private let logger: Logger
    private var status = NetworkStatus()
    private var kernel: NetworkMonitor?
    private var bus: BusConnection?
    private var networkManager: NetworkManagerWatch?
    private var sleep: SignalSubscription?
    private var isListening = false

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
        let addresses = NetworkMonitor.addresses
        identity = NetworkIdentity(addresses: addresses ?? [])
        change { $0.hasAddress = addresses?.isEmpty != true }
        kernel = NetworkMonitor { [unowned self] addresses, isRemoved in
            if let addresses, identity.update(addresses: addresses, isRemoved: isRemoved) {
                onNetworkChange()
            }
            change { $0.hasAddress = addresses?.isEmpty != true }
        }
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

/// Messages of the kernel about addresses, as a netlink socket delivers them.
///
/// Source: netlink(7), rtnetlink(7).
nonisolated enum AddressMessages {
    private static let headerLength = 16
    private static let removal: UInt16 = 21  // RTM_DELADDR
    /// The lowest scope of addresses that are valid only on the link or on this machine.
    private static let linkScope: UInt8 = 253  // RT_SCOPE_LINK

    /// Returns true if the messages report the removal of an address that is valid beyond the link.
    ///
    /// - Parameter bytes: The messages of one datagram.
    /// - Returns: True if one of them reports the removal.
    static func reportRemoval(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes[...]
        while rest.count >= headerLength {
            let message = UnsafeRawBufferPointer(rebasing: rest)
            let length = Int(message.loadUnaligned(as: UInt32.self))
            let type = message.loadUnaligned(fromByteOffset: 4, as: UInt16.self)
            guard length >= headerLength, length <= message.count else { return false }
            // The scope is the fourth byte after the header.
            if type == removal, length >= headerLength + 8,
                message[headerLength + 3] < linkScope
            {
                return true
            }
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return false
    }
}
