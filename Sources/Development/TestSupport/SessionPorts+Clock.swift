package import ProviderKit

extension SessionPorts {
    /// Returns the ports with another clock.
    package func at(_ now: @escaping @Sendable () -> Timestamp) -> SessionPorts {
        var ports = self
        ports.now = now
        return ports
    }
}
