/// The properties by which one network differs from another: the addresses of this machine, and the primary
/// connection of NetworkManager.
///
/// Connections that were opened on another network may be interrupted without an error.
nonisolated struct NetworkIdentity {
    /// An address of an interface.
    struct Address: Hashable {
        let interface: String
        let bytes: [UInt8]
    }

    private var addresses: Set<Address>
    private var connection: String?

    /// - Parameter addresses: The present addresses.
    init(addresses: Set<Address>) { self.addresses = addresses }

    /// Updates the addresses.
    ///
    /// - Parameters:
    ///   - addresses: The present addresses.
    ///   - isRemoved: True if an address was removed since the last call. It may have returned since then, on another
    ///     network.
    /// - Returns: True if the network has changed.
    mutating func update(addresses: Set<Address>, isRemoved: Bool) -> Bool {
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
