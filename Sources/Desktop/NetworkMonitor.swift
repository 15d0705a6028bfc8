internal import CLinux
internal import DBus
internal import Glibc
internal import System

/// An observer of the addresses of this machine.
///
/// The kernel reports changes; nothing is polled. Without netlink, which a container may forbid, there are no reports.
///
/// Source: rtnetlink(7).
package final class NetworkMonitor {
    private let onChange: (Set<NetworkIdentity.Address>?, _ isRemoved: Bool) -> Void
    /// True if an address was removed since the last evaluation.
    private var isRemoved = false
    private var source: DescriptorSource?
    /// The timer of the next evaluation.
    private var timer: MainLoopTimer?

    /// The time in which changes are collected. Interfaces start in several steps.
    private static let delay = Duration.milliseconds(300)

    /// Begins to observe.
    ///
    /// - Parameter onChange: Called with ``addresses`` when they may have changed, and with true if an address was
    ///   removed.
    init(onChange: @escaping (Set<NetworkIdentity.Address>?, _ isRemoved: Bool) -> Void) {
        self.onChange = onChange
        source = makeSource()
    }

    isolated deinit { source?.cancel() }

    private func makeSource() -> DescriptorSource? {
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
            self?.scheduleEvaluation(isRemoved: isRemoved)
        }
        source.resume()
        return source
    }

    private func scheduleEvaluation(isRemoved: Bool) {
        self.isRemoved = self.isRemoved || isRemoved
        guard timer == nil else { return }
        timer = MainLoopTimer(after: Self.delay) { [weak self] in self?.evaluate() }
    }

    private func evaluate() {
        timer = nil
        onChange(Self.addresses, isRemoved)
        isRemoved = false
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
