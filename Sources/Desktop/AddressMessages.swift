internal import Glibc

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
