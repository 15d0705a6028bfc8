internal import CLinux
internal import Dispatch
internal import Glibc

/// Tells whether this machine has an address on some network, and when that changes.
///
/// The kernel says when; nothing is polled. Without netlink (a container may forbid it) the first answer
/// stands.
///
/// Source: rtnetlink(7).
package final class NetworkMonitor {
    private let onChange: (Bool) -> Void
    private var source: (any DispatchSourceRead)?
    private var isEvaluationScheduled = false
    private var isOnline: Bool

    /// Interfaces come up in steps; one answer for all of them.
    private static let settling = DispatchTimeInterval.milliseconds(300)

    /// - Parameter onChange: Called with each new answer, the first one included.
    package init(onChange: @escaping (Bool) -> Void) {
        self.onChange = onChange
        isOnline = Self.hasAddress
        onChange(isOnline)
        source = makeSource()
    }

    isolated deinit { source?.cancel() }

    private func makeSource() -> (any DispatchSourceRead)? {
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
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .main)
        source.setEventHandler { [weak self] in
            // What has changed is not worth parsing: the addresses are looked at anew.
            withUnsafeTemporaryAllocation(byteCount: 8192, alignment: 8) { buffer in
                while recv(descriptor, buffer.baseAddress, buffer.count, 0) > 0 {}
            }
            self?.scheduleEvaluation()
        }
        source.setCancelHandler { close(descriptor) }
        source.activate()
        return source
    }

    private func scheduleEvaluation() {
        guard !isEvaluationScheduled else { return }
        isEvaluationScheduled = true
        DispatchQueue.main.asyncAfter(deadline: .now() + Self.settling) { [weak self] in
            self?.evaluate()
        }
    }

    private func evaluate() {
        isEvaluationScheduled = false
        let isOnline = Self.hasAddress
        guard isOnline != self.isOnline else { return }
        self.isOnline = isOnline
        onChange(isOnline)
    }

    /// Whether an interface other than the loopback is running and has an address that leads somewhere.
    private static var hasAddress: Bool {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return true }
        defer { freeifaddrs(first) }
        var next = first
        while let interface = next?.pointee {
            next = interface.ifa_next
            let flags = interface.ifa_flags
            guard flags & UInt32(IFF_RUNNING) != 0,
                flags & UInt32(IFF_LOOPBACK) == 0, let address = interface.ifa_addr
            else { continue }
            switch Int32(address.pointee.sa_family) {
            case AF_INET: return true
            case AF_INET6:
                // A link-local address is there without any network.
                let isLinkLocal = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    v6 in
                    withUnsafeBytes(of: v6.pointee.sin6_addr) {
                        $0[0] == 0xfe && $0[1] & 0xc0 == 0x80
                    }
                }
                if !isLinkLocal { return true }
            default: continue
            }
        }
        return false
    }
}
