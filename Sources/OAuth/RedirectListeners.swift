internal import ProviderKit

/// The redirect listeners of all logins. Logins that need the same port share one.
@MainActor
package final class RedirectListeners {
    private let clock: any Clock<Duration>
    /// Functions that return the listeners of ports, which are referenced weakly.
    private var listeners: [UInt16: () -> RedirectListener?] = [:]

    /// Creates the listeners on demand.
    ///
    /// - Parameter clock: The clock of the deadlines of connections, precise to a second.
    package init(clock: any Clock<Duration>) { self.clock = clock }

    /// Returns the redirect address of a port, as it is registered with a service; without a port for nil.
    nonisolated package static func address(port: UInt16?) -> String {
        "http://127.0.0.1\(port.map { ":\($0)" } ?? "")\(RedirectListener.path)"
    }

    /// Listens on a port.
    ///
    /// - Parameter port: The port; nil for a free one.
    /// - Returns: The listener, which exists as long as the caller retains it.
    /// - Throws: ``OAuthError/portTaken(_:)``, ``OAuthError/cannotListen(_:)``.
    func listener(_ port: UInt16?) throws(OAuthError) -> RedirectListener {
        guard let port else { return try RedirectListener(port: 0, clock: clock) }
        if let listener = listeners[port]?() { return listener }
        let listener = try RedirectListener(port: port, clock: clock)
        listeners[port] = { [weak listener] in listener }
        return listener
    }
}
