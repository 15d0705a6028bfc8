package import ProviderKit
internal import System

/// One browser login at a service, from the address that the browser opens to the page that it shows at the end.
///
///     let redirects = RedirectListeners(clock: clock)              // one for all logins
///     let endpoint = TokenEndpoint(client, http)
///
///     let authorization = Authorization(
///         client.description, clientID: client.id, redirects: isManual ? nil : redirects)
///     open(authorization.url)
///     do {
///         let code = try await authorization.code()                // no deadline
///         let token = try await endpoint.exchange(code, for: authorization.request)
///         let identity = …                                         // fetches the identity, stores the token
///         authorization.finish(.loggedIn)
///     } catch OAuthError.denied {
///         authorization.finish(.denied)
///     } catch {
///         authorization.finish(.failed("…"))
///     }
///     // meanwhile: try authorization.submit(text), for a pasted code
///
/// The listener responds as long as this object exists, so that reloading the page shows it again. The caller retains
/// the object for a minute after the end. A port in use is not an error of the login: see ``listenerError``.
@MainActor
package final class Authorization {
    /// The authorization request. The token endpoint needs it as well.
    package private(set) var request: AuthorizationRequest
    /// The reason why the code must be pasted although a listener was requested: ``OAuthError/portTaken(_:)`` or
    /// ``OAuthError/cannotListen(_:)``. For the log.
    package private(set) var listenerError: OAuthError?

    private let service: OAuthDescription
    /// The listener that receives the redirect; nil for a manual login.
    private var listener: RedirectListener?
    /// The page that shows the result; nil until the login has ended.
    private var verdict: ResponsePage?
    /// The browsers that wait for the verdict.
    private var browsers: [RedirectConnection] = []
    private var answer: RedirectAnswer?
    /// The wait for the code in progress.
    private var wait: OneShotResult<Secret, any Error>?

    /// Creates a login and begins to listen for its redirect.
    ///
    /// - Parameters:
    ///   - description: The OAuth description of the service.
    ///   - clientID: The client ID of the application at the service.
    ///   - redirects: The listeners; nil for a manual login.
    package init(_ description: OAuthDescription, clientID: String, redirects: RedirectListeners?) {
        // Random numbers of the system: getrandom(2).
        var generator = SystemRandomNumberGenerator()
        request = AuthorizationRequest(description, clientID: clientID, using: &generator)
        service = description
        if !description.showsCode {
            request.redirectAddress = RedirectListeners.address(port: description.redirectPort)
        }
        guard let redirects else { return }
        do throws(OAuthError) {
            let listener = try redirects.listener(description.redirectPort)
            request.redirectAddress = RedirectListeners.address(port: listener.port)
            self.listener = listener
            listener.add(self)
        } catch {
            listenerError = error
        }
    }

    isolated deinit { browsers.forEach { $0.send(.unsettled) } }

    /// The address that the browser opens.
    package var url: String { request.url }

    /// Waits for the code, from the browser or pasted. One task may wait at a time. There is no deadline.
    ///
    /// - Throws: ``OAuthError/denied`` and the other errors of the service; `CancellationError`.
    package func code() async throws -> Secret {
        precondition(wait == nil, "a task waits for the code already")
        try Task.checkCancellation()
        if let answer { return try answer.get() }
        let wait = OneShotResult<Secret, any Error>()
        self.wait = wait
        defer { self.wait = nil }
        return try await wait.valueUnlessCancelled()
    }

    /// Accepts pasted text: a code, or the complete address of the browser. Text after the first result is ignored.
    ///
    /// - Throws: ``OAuthError/invalidCode(_:)``. The login continues.
    package func submit(_ text: String) throws(OAuthError) {
        end(
            try RedirectAnswer(
                pasted: text, state: request.state, redirectAddress: request.redirectAddress,
                from: service))
    }

    /// Shows the result of the login in all browsers that were or will be redirected. The first verdict counts.
    package func finish(_ verdict: ResponsePage) {
        guard self.verdict == nil else { return }
        self.verdict = verdict
        let browsers = browsers
        self.browsers = []
        browsers.forEach { $0.send(verdict) }
    }

    /// Shows the verdict in a browser as soon as it is known.
    func showVerdict(in browser: RedirectConnection) {
        if let verdict { browser.send(verdict) } else { browsers.append(browser) }
    }

    /// Receives a redirect with the state of ``request``; returns false if it contains no response.
    func receive(_ parameters: RedirectParameters) -> Bool {
        // A second request, as after reloading, shows the result of the first one.
        guard answer == nil else { return true }
        guard let answer = RedirectAnswer(parameters, from: service) else { return false }
        end(answer)
        return true
    }

    private func end(_ answer: RedirectAnswer) {
        guard self.answer == nil else { return }
        self.answer = answer
        wait?.complete(answer.mapError { $0 })
    }
}

/// The authorization request of one login, which the browser sends.
///
/// Source: RFC 6749 §4.1.1, RFC 7636 §4.3, RFC 8252 §7.3.
nonisolated package struct AuthorizationRequest: Sendable {
    /// The redirect address with which a service shows the code instead of redirecting the browser.
    package static let outOfBand = "urn:ietf:wg:oauth:2.0:oob"

    /// The state parameter, 128 random bits. Only the redirect of this request contains it.
    package let state: Secret
    /// The redirect address. ``outOfBand`` at first.
    package internal(set) var redirectAddress = Self.outOfBand
    /// The PKCE verifier, 43 letters, digits, `-` and `_`. It is sent with the code, and proves that this program sent
    /// the request. nil if the service does not support PKCE.
    let verifier: Secret?
    private let description: OAuthDescription
    private let clientID: String

    /// Creates a request with a new state and a new verifier.
    ///
    /// - Parameters:
    ///   - description: The OAuth description of the service.
    ///   - clientID: The client ID of the application at the service.
    ///   - generator: The source of state and verifier. It must be cryptographically secure.
    package init(
        _ description: OAuthDescription, clientID: String,
        using generator: inout some RandomNumberGenerator
    ) {
        self.description = description
        self.clientID = clientID
        state = makeNonce(byteCount: 16, using: &generator)
        verifier = description.usesPKCE ? makeNonce(byteCount: 32, using: &generator) : nil
    }

    /// The address that the browser opens.
    package var url: String {
        var fields = [
            (name: "response_type", value: "code"), ("client_id", clientID),
            ("redirect_uri", redirectAddress),
        ]
        if !description.scopes.isEmpty {
            fields.append(("scope", description.scopes.joined(separator: " ")))
        }
        fields.append(("state", state.withText { $0 }))
        if let verifier {
            fields.append(("code_challenge", verifier.codeChallenge))
            fields.append(("code_challenge_method", "S256"))
        }
        return URLEncoding.adding(fields, to: description.authorizationURL)
    }
}
