internal import LoopbackHTTP
internal import Synchronization

/// Ports for programs under test that receive their port before they listen on it.
///
/// Two programs with the same port would each wait for the redirect of the other until the time limit of the test.
package enum LoopbackPort {
    private static let used = Mutex<Set<UInt16>>([])
    /// The range of the ports, which is below the ports that the kernel assigns.
    private static let range: ClosedRange<UInt16> = 20_000...31_999

    /// Returns a free port that no other test of this process has received.
    package static func reserve() -> UInt16 {
        used.withLock { used in
            while true {
                let port = UInt16.random(in: range)
                if used.insert(port).inserted, LoopbackSocket.isFree(port) { return port }
                // A long run starts over when half of the ports are used.
                if used.count > range.count / 2 { used = [] }
            }
        }
    }
}
