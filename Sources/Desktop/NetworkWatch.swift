internal import CLinux
internal import DBus
internal import Glibc
package import Logging
internal import System

/// An observer of the network status and of resumes of the machine.
///
/// The kernel is observed from the beginning, NetworkManager and logind from ``listenToSystem()`` on, if they run. No
/// service is activated, and nothing is polled. Without netlink, which a container may forbid, the kernel reports no
/// changes.
///
/// Source: rtnetlink(7).
@MainActor
package final class NetworkWatch {
    private let onChange: (NetworkStatus) -> Void
    private let onResume: () -> Void
    private let onNetworkChange: () -> Void
    private var identity = NetworkIdentity(addresses: [:])
    private let systemAddress: @MainActor () throws -> String
    private let logger: Logger
    private var status = NetworkStatus()
    /// The source of the messages of the kernel about addresses.
    private var source: DescriptorSource?
    /// The timer of the next evaluation of the addresses.
    private var timer: MainLoopTimer?
    /// True if an address was removed since the last evaluation.
    private var isRemoved = false
    private var bus: BusConnection?
    private var networkManager: NetworkManagerWatch?
    private var sleep: SignalSubscription?
    private var isListening = false

    /// The time in which changes of addresses are collected. Interfaces start in several steps.
    private static let delay = Duration.milliseconds(300)

    /// Begins to observe the kernel.
    ///
    /// - Parameters:
    ///   - logger: Receives the reason if the system bus is not available.
    ///   - onChange: Called with each new status. At first, the network counts as available.
    ///   - onResume: Called after a resume of the machine.
    ///   - onNetworkChange: Called when the network or the address of the machine changes.
    ///   - systemAddress: Returns the address of the system bus.
    package init(
        logger: Logger, onChange: @escaping (NetworkStatus) -> Void,
        onResume: @escaping () -> Void, onNetworkChange: @escaping () -> Void,
        systemAddress: @escaping @MainActor () throws -> String = {
            try BusConnection.systemAddress()
        }
    ) {
        self.onChange = onChange
        self.onResume = onResume
        self.onNetworkChange = onNetworkChange
        self.logger = logger
        self.systemAddress = systemAddress
        let addresses = Self.addresses
        identity = NetworkIdentity(addresses: addresses ?? [:])
        change { $0.hasAddress = addresses?.isEmpty != true }
        source = makeSource()
    }

    // The explicit `@MainActor` of the class is required: optimised importers lose the default isolation.
    isolated deinit { source?.cancel() }

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
                busDisconnected()
            }
        }
    }

    private func connect() async throws {
        let bus = try await BusConnection.connect(address: try systemAddress())
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

    // MARK: Addresses

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
                    if Self.reportsRemoval(messages) { isRemoved = true }
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
        let addresses = Self.addresses
        if let addresses, identity.update(addresses: addresses, isRemoved: isRemoved) {
            onNetworkChange()
        }
        change { $0.hasAddress = addresses?.isEmpty != true }
        isRemoved = false
    }

    /// The addresses of running interfaces; nil if they cannot be read. Loopback and link-local addresses are excluded,
    /// because they exist without a network.
    private static var addresses: NetworkIdentity.Addresses? {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return nil }
        defer { freeifaddrs(first) }
        var addresses: NetworkIdentity.Addresses = [:]
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
            addresses[name, default: []].insert(bytes)
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

nonisolated extension NetworkWatch {
    /// Returns true if messages of the kernel report the removal of an address that is valid beyond the link.
    ///
    /// Source: netlink(7), rtnetlink(7).
    ///
    /// - Parameter bytes: The messages of one datagram of a netlink socket.
    /// - Returns: True if one of them reports the removal.
    static func reportsRemoval(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let headerLength = 16
        let removal: UInt16 = 21  // RTM_DELADDR
        // The lowest scope of addresses that are valid only on the link or on this machine.
        let linkScope: UInt8 = 253  // RT_SCOPE_LINK
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
