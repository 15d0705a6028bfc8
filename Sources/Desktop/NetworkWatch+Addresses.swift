internal import CLinux
internal import Glibc
internal import System

/// The addresses of this machine.
///
/// Source: rtnetlink(7).
extension NetworkWatch {
    /// Returns a source of changes of the addresses. Without netlink, which a container may forbid, there is none.
    func makeAddressSource() -> DescriptorSource? {
        let descriptor = socket(
            AF_NETLINK, Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue),
            NETLINK_ROUTE)
        guard descriptor >= 0 else { return nil }
        var address = sockaddr_nl()
        address.nl_family = sa_family_t(AF_NETLINK)
        address.nl_groups = UInt32(RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR)
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_nl>.size)) == 0
            }
        }
        guard isBound else {
            close(descriptor)
            return nil
        }
        let source = DescriptorSource(descriptor, .reading) { [weak self] in
            // The addresses are read again later. An address that was removed and returned on another network is
            // detected only from the messages.
            let isRemoved = withUnsafeTemporaryAllocation(byteCount: 8192, alignment: 8) {
                buffer in
                var isRemoved = false
                while true {
                    let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
                    // The kernel dropped messages.
                    if count < 0 && errno == ENOBUFS { isRemoved = true }
                    guard count > 0 || count < 0 && (errno == ENOBUFS || errno == EINTR) else {
                        return isRemoved
                    }
                    let messages = UnsafeRawBufferPointer(rebasing: buffer[..<max(0, count)])
                    if AddressMessages.reportRemoval(messages) { isRemoved = true }
                }
            }
            self?.addressesChanged(isRemoved: isRemoved)
        }
        source.resume()
        return source
    }

    /// The addresses of running interfaces; nil if they cannot be read. Loopback and link-local addresses are excluded,
    /// because they exist without a network.
    static var addresses: Set<NetworkIdentity.Address>? {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return nil }
        defer { freeifaddrs(first) }
        var addresses: Set<NetworkIdentity.Address> = []
        var next = first
        while let interface = next?.pointee {
            next = interface.ifa_next
            let flags = interface.ifa_flags
            guard flags & UInt32(IFF_RUNNING) != 0,
                flags & UInt32(IFF_LOOPBACK) == 0, let address = interface.ifa_addr
            else { continue }
            let bytes: [UInt8]
            switch Int32(address.pointee.sa_family) {
            case AF_INET:
                bytes = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { v4 in
                    withUnsafeBytes(of: v4.pointee.sin_addr) { Array($0) }
                }
            case AF_INET6:
                bytes = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { v6 in
                    withUnsafeBytes(of: v6.pointee.sin6_addr) { Array($0) }
                }
                guard bytes[0] != 0xfe || bytes[1] & 0xc0 != 0x80 else { continue }
            default: continue
            }
            let name = interface.ifa_name.map { String(cString: $0) } ?? ""
            addresses.insert(NetworkIdentity.Address(interface: name, bytes: bytes))
        }
        return addresses
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
