internal import ProviderKit

/// The redirect listeners of all logins. Logins that need the same port share one.
@MainActor
package final class RedirectListeners {
    private let clock: any Clock<Duration>
    private var listeners: [UInt16: Weak] = [:]

    private struct Weak {
        weak let listener: RedirectListener?
    }

    /// Creates the listeners on demand.
    ///
    /// - Parameter clock: The clock of the deadlines of connections, precise to a second.
    package init(clock: any Clock<Duration>) { self.clock = clock }

    /// Returns the redirect address of a port, as it is registered with a service; without a port for nil.
    nonisolated package static func address(port: UInt16?) -> String {
        "http://127.0.0.1\(port.map { ":\($0)" } ?? "")\(RedirectListener.path)"
    }

    /// Listens for the redirect of one login.
    ///
    /// - Parameters:
    ///   - state: The state of the login.
    ///   - port: The port; nil for a free one.
    ///   - onRedirect: Called for each redirect with the state. Returns true if it contains a response.
    /// - Returns: The registration, which retains the listener.
    /// - Throws: ``OAuthError/portTaken(_:)``, ``OAuthError/cannotListen(_:)``.
    func register(
        state: Secret, port: UInt16?, onRedirect: @escaping (RedirectParameters) -> Bool
    ) throws(OAuthError) -> RedirectRegistration {
        let registration = RedirectRegistration(
            state: state, listener: try listener(port), onRedirect: onRedirect)
        registration.listener.add(registration)
        return registration
    }

    private func listener(_ port: UInt16?) throws(OAuthError) -> RedirectListener {
        guard let port else { return try RedirectListener(port: 0, clock: clock) }
        if let listener = listeners[port]?.listener { return listener }
        let listener = try RedirectListener(port: port, clock: clock)
        listeners[port] = Weak(listener: listener)
        return listener
    }
}

/// The registration of one login at its listener, which exists until the last registration is released.
@MainActor
final class RedirectRegistration {
    let state: Secret
    let listener: RedirectListener
    /// Receives a redirect with the right state; returns false if it contains no response.
    let onRedirect: (RedirectParameters) -> Bool
    private var verdict: LoginVerdict?
    /// The browsers that wait for the verdict.
    private var waiters: [(ResponsePage) -> Void] = []

    init(
        state: Secret, listener: RedirectListener,
        onRedirect: @escaping (RedirectParameters) -> Bool
    ) {
        self.state = state
        self.listener = listener
        self.onRedirect = onRedirect
    }

    isolated deinit { waiters.forEach { $0(.unsettled) } }

    /// The redirect address of the listener.
    var address: String { RedirectListeners.address(port: listener.port) }

    /// Shows the result of the login in all browsers that were or will be redirected. The first verdict counts.
    func finish(_ verdict: LoginVerdict) {
        guard self.verdict == nil else { return }
        self.verdict = verdict
        let waiters = waiters
        self.waiters = []
        waiters.forEach { $0(ResponsePage(verdict)) }
    }

    func whenFinished(_ body: @escaping (ResponsePage) -> Void) {
        if let verdict { body(ResponsePage(verdict)) } else { waiters.append(body) }
    }
}
