/// The network status, derived from the kernel and from NetworkManager.
nonisolated package struct NetworkStatus: Hashable, Sendable {
    /// True if this machine has an address on a network, according to the kernel.
    package var hasAddress = true
    /// The state of NetworkManager; nil if it does not run.
    package var manager: ManagerState?

    /// The properties of NetworkManager about the network as a whole.
    ///
    /// Source: NetworkManager D-Bus reference, `NMState`, `NMConnectivityState` and `NMMetered`.
    package struct ManagerState: Hashable, Sendable {
        package var state: UInt32 = 0
        package var connectivity: UInt32 = 0
        package var metered: UInt32 = 0
        /// The object path of the primary connection; empty if it is unknown, `/` if there is none.
        package var primaryConnection = ""

        package init(
            state: UInt32 = 0, connectivity: UInt32 = 0, metered: UInt32 = 0,
            primaryConnection: String = ""
        ) {
            self.state = state
            self.connectivity = connectivity
            self.metered = metered
            self.primaryConnection = primaryConnection
        }

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

    package init(hasAddress: Bool = true, manager: ManagerState? = nil) {
        self.hasAddress = hasAddress
        self.manager = manager
    }

    /// True unless the kernel or NetworkManager reports that the network is unavailable.
    package var isOnline: Bool { hasAddress && manager?.isOnline ?? true }

    /// True if network traffic is metered.
    package var isMetered: Bool { manager?.isMetered ?? false }
}
