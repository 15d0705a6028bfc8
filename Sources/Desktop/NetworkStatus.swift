/// What is believed about the network, from what those say who know something about it.
nonisolated package struct NetworkStatus: Hashable, Sendable {
    /// Whether this machine has an address on some network: the kernel says.
    package var hasAddress = true
    /// What NetworkManager says; nil where there is none.
    package var manager: ManagerState?

    /// What NetworkManager says of the network as a whole.
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

        /// nil where it does not know.
        fileprivate var isOnline: Bool? {
            switch (state, connectivity) {
            // Asleep, disconnected, disconnecting, connecting; connected, but to nothing beyond this machine.
            case (10...50, _): false
            // No way out; a page that wants something first, in the place of every other.
            case (_, 1...2): false
            // Connected to a site, or to the world. That not all of it is reached says little about services.
            case (60..., _): true
            default: nil
            }
        }

        /// Yes, and a guess that it is.
        fileprivate var isMetered: Bool { metered == 1 || metered == 3 }
    }

    package init(hasAddress: Bool = true, manager: ManagerState? = nil) {
        self.hasAddress = hasAddress
        self.manager = manager
    }

    /// Whether services can be reached, as far as anybody here can tell.
    package var isOnline: Bool { hasAddress && manager?.isOnline ?? true }

    /// Whether what goes over the network has to be paid for.
    package var isMetered: Bool { manager?.isMetered ?? false }
}
