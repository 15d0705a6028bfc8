internal import ProviderKit

/// The ports on which logins wait for the browser: one listener for each, shared by those that need the
/// same one.
@MainActor
package final class RedirectListeners {
    private let clock: any Clock<Duration>
    private var listeners: [UInt16: Weak] = [:]

    private struct Weak {
        weak let listener: RedirectListener?
    }

    /// - Parameter clock: Of the deadlines of connections. Must be precise to a second.
    package init(clock: any Clock<Duration>) { self.clock = clock }

    /// The redirect address at a port, as it is registered with a service; of any port for nil.
    nonisolated package static func address(port: UInt16?) -> String {
        "http://127.0.0.1\(port.map { ":\($0)" } ?? "")\(RedirectListener.path)"
    }

    /// Waits for the redirect of one login.
    ///
    /// - Parameters:
    ///   - state: Of the login.
    ///   - port: nil for a free one.
    ///   - onRedirect: Called for each redirect with the state: whether it answers the request.
    /// - Returns: What keeps the listener listening.
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

/// The place of one login at its listener, which is there until the last of them is dropped.
@MainActor
final class RedirectRegistration {
    let state: Secret
    let listener: RedirectListener
    private let onRedirect: (RedirectParameters) -> Bool
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

    /// Where a browser comes to it.
    var address: String { RedirectListeners.address(port: listener.port) }

    /// Takes a redirect with the right state; false if it answers nothing.
    func receive(_ parameters: RedirectParameters) -> Bool { onRedirect(parameters) }

    /// Shows the browsers that came, and those that still come, what became of the login. The first verdict
    /// counts.
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
