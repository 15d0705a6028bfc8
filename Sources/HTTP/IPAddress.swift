internal import Glibc
internal import Web

/// An IPv4 or IPv6 address.
nonisolated struct IPAddress: Hashable {
    /// The 4 or 16 bytes in network byte order.
    let bytes: [UInt8]

    /// Parses an address in its usual notation, without brackets; nil for a name.
    ///
    /// The corresponding C function is `inet_pton`.
    init?(_ text: some StringProtocol) {
        var four = in_addr()
        var sixteen = in6_addr()
        let text = String(text)
        if inet_pton(AF_INET, text, &four) == 1 {
            bytes = withUnsafeBytes(of: four) { Array($0) }
        } else if inet_pton(AF_INET6, text, &sixteen) == 1 {
            bytes = withUnsafeBytes(of: sixteen) { Array($0) }
        } else {
            return nil
        }
    }

    /// Reads a `sockaddr` of the C library; nil for another family.
    init?(family: Int32, _ address: UnsafeRawPointer) {
        // The address follows the family and the port, and in IPv6 the flow information.
        let place: Range<Int>
        switch family {
        case AF_INET: place = 4..<8
        case AF_INET6: place = 8..<24
        default: return nil
        }
        let whole = UnsafeRawBufferPointer(start: address, count: place.upperBound)
        bytes = Array(whole[place])
    }

    private init(v4 bytes: ArraySlice<UInt8>) { self.bytes = Array(bytes) }

    /// True for the loopback addresses of this computer: 127/8 and ::1.
    var isLoopback: Bool {
        if let embedded = mapped { return embedded.isLoopback }
        if bytes.count == 4 { return bytes[0] == 127 }
        return bytes == [UInt8](repeating: 0, count: 15) + [1]
    }

    /// True if the address is globally reachable.
    ///
    /// Source: the special-purpose registries of IANA (RFC 6890), which list the other addresses.
    var isPublic: Bool {
        if bytes.count == 4 { return !Self.special4.contains { isWithin($0.0, bits: $0.1) } }
        // Packets to an address with an embedded IPv4 address are sent to the IPv4 address.
        if let embedded = mapped ?? translated { return embedded.isPublic }
        return bytes[0] & 0xe0 == 0x20 && !Self.special6.contains { isWithin($0.0, bits: $0.1) }
    }

    /// True if the address is in a range that tunnel programs commonly use as a placeholder for a name ("fake IP").
    ///
    /// Devices of a local network do not have such an address: 198.18.0.0/15 is reserved for benchmarks (RFC 2544), and
    /// fc00::/8 is not assigned (RFC 4193 §3.1). The traffic goes to the tunnel, which connects to the name.
    ///
    /// Source: the defaults of sing-box (`dns.servers.fakeip`), mihomo (`dns.fake-ip-range`) and Xray (`fakedns`).
    var isPlaceholder: Bool {
        isWithin([198, 18], bits: 15) && bytes.count == 4
            || isWithin([0xfc, 0], bits: 18) && bytes.count == 16
    }

    /// Returns true if the first bits are those of another address of the same version.
    func isWithin(_ prefix: [UInt8], bits: Int) -> Bool {
        guard prefix.count <= bytes.count, bits <= bytes.count * 8 else { return false }
        return (0..<bits).allSatisfy { bit in
            let other = bit / 8 < prefix.count ? prefix[bit / 8] : 0
            return (bytes[bit / 8] ^ other) & (0x80 >> UInt8(bit % 8)) == 0
        }
    }

    /// The IPv4 address in ::ffff:0:0/96.
    private var mapped: IPAddress? {
        guard bytes.count == 16 else { return nil }
        return bytes.starts(with: [UInt8](repeating: 0, count: 10) + [0xff, 0xff])
            ? IPAddress(v4: bytes[12...]) : nil
    }

    /// The IPv4 address that a translator (64:ff9b::/96) or a 6to4 relay (2002::/16) sends to.
    private var translated: IPAddress? {
        if bytes.starts(with: [0, 0x64, 0xff, 0x9b] + [UInt8](repeating: 0, count: 8)) {
            return IPAddress(v4: bytes[12...])
        }
        return bytes.starts(with: [0x20, 0x02]) ? IPAddress(v4: bytes[2..<6]) : nil
    }

    private static let special4: [([UInt8], Int)] = [
        ([0], 8), ([10], 8), ([100, 64], 10), ([127], 8), ([169, 254], 16), ([172, 16], 12),
        ([192, 0, 0], 24), ([192, 0, 2], 24), ([192, 88, 99], 24), ([192, 168], 16),
        ([198, 18], 15), ([198, 51, 100], 24), ([203, 0, 113], 24),
        // Multicast, reserved, broadcast.
        ([224], 3),
    ]

    /// Within 2000::/3: protocol assignments (Teredo, benchmarking, ORCHID) and documentation.
    private static let special6: [([UInt8], Int)] = [
        ([0x20, 0x01, 0, 0], 23), ([0x20, 0x01, 0x0d, 0xb8], 32), ([0x3f, 0xff, 0], 20),
    ]
}

/// The addresses to which the connections of a request may lead.
///
/// Each scope has its own connections: a request for an address from a third party cannot use a connection that was
/// opened for the user in the local network under the same name.
nonisolated enum AddressScope: Hashable {
    case anywhere
    case publicOnly
    case publicOrLoopback
    /// An origin that the user named as a server: any address, also over `http`.
    case named

    /// Returns true if a connection to an address is permitted.
    ///
    /// - Parameters:
    ///   - address: The address.
    ///   - scheme: The scheme of the request. `http` is permitted on loopback, and to an origin that the user named.
    ///   - isResolved: True if the address was resolved from a host name, false if the request contains it. A resolved
    ///     address may be the placeholder of a tunnel.
    /// - Returns: True if the connection is permitted.
    func permits(_ address: IPAddress, _ scheme: ParsedAddress.Scheme, isResolved: Bool) -> Bool {
        if scheme == .http && !address.isLoopback && self != .named { return false }
        let isPublic = address.isPublic || isResolved && address.isPlaceholder
        return switch self {
        case .anywhere, .named: true
        case .publicOnly: isPublic
        case .publicOrLoopback: isPublic || address.isLoopback
        }
    }
}
