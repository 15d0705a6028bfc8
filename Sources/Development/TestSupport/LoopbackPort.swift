internal import Glibc
internal import Synchronization

/// Ports for programs under test that must know their port before they listen on it.
///
/// Two programs with one port would wait for each other's browser until the time limit of the test.
package enum LoopbackPort {
    private static let used = Mutex<Set<UInt16>>([])
    /// Below the ports that the kernel assigns.
    private static let range: ClosedRange<UInt16> = 20_000...31_999

    /// Returns a port that is free, and that no other test of this process has received.
    package static func reserve() -> UInt16 {
        used.withLock { used in
            while true {
                let port = UInt16.random(in: range)
                if used.insert(port).inserted, isFree(port) { return port }
                // Long runs may start over.
                if used.count > range.count / 2 { used = [] }
            }
        }
    }

    private static func isFree(_ port: UInt16) -> Bool {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return false }
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
