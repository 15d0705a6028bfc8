/// The network status, derived from the kernel and from NetworkManager.
nonisolated package struct NetworkStatus: Hashable, Sendable {
    /// True if this machine has an address on a network, according to the kernel.
    var hasAddress = true
    /// The state of NetworkManager; nil if it does not run.
    var manager: ManagerState?

    /// The properties of NetworkManager about the network as a whole.
    ///
    /// Source: NetworkManager D-Bus reference, `NMState`, `NMConnectivityState` and `NMMetered`.
    struct ManagerState: Hashable, Sendable {
        var state: UInt32 = 0
        var connectivity: UInt32 = 0
        var metered: UInt32 = 0
        /// The object path of the primary connection; empty if it is unknown, `/` if there is none.
        var primaryConnection = ""

        /// True if NetworkManager reports a connection; nil if the state is unknown.
        fileprivate var isOnline: Bool? {
            switch (state, connectivity) {
            // Asleep, disconnected, disconnecting, connecting; or connected only to this machine.
            case (10...50, _): false
            // No connectivity, or a captive portal.
            case (_, 1...2): false
            // Connected to a site or globally. With limited connectivity, services may be available.
            case (60..., _): true
            default: nil
            }
        }

        /// True if the connection is metered according to NetworkManager, for certain or as a guess.
        fileprivate var isMetered: Bool { metered == 1 || metered == 3 }
    }

    /// True unless the kernel or NetworkManager reports that the network is unavailable.
    package var isOnline: Bool { hasAddress && manager?.isOnline ?? true }

    /// True if network traffic is metered.
    package var isMetered: Bool { manager?.isMetered ?? false }
}

/// The properties by which one network differs from another: the addresses of this machine, and the primary
/// connection of NetworkManager.
///
/// Connections that were opened on another network may be interrupted without an error.
nonisolated struct NetworkIdentity {
    /// The addresses of each interface.
    typealias Addresses = [String: Set<[UInt8]>]

    private var addresses: Addresses
    private var connection: String?

    /// - Parameter addresses: The present addresses.
    init(addresses: Addresses) { self.addresses = addresses }

    /// Updates the addresses.
    ///
    /// - Parameters:
    ///   - addresses: The present addresses.
    ///   - isRemoved: True if an address was removed since the last call. It may have returned since then, on another
    ///     network.
    /// - Returns: True if the network has changed.
    mutating func update(addresses: Addresses, isRemoved: Bool) -> Bool {
        let hasChanged = isRemoved || addresses != self.addresses
        self.addresses = addresses
        return hasChanged
    }

    /// Updates the primary connection of NetworkManager.
    ///
    /// - Parameter connection: Its object path; empty or `/` while there is none.
    /// - Returns: True if the network has changed. The first connection is no change.
    mutating func update(connection: String) -> Bool {
        guard !connection.isEmpty, connection != "/", connection != self.connection else {
            return false
        }
        defer { self.connection = connection }
        return self.connection != nil
    }
}
