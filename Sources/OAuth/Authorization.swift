package import ProviderKit

/// One login at a service with OAuth: from the address that the browser opens to the page that it shows at
/// the end.
///
///     let redirects = RedirectListeners(clock: clock)              // one for all logins
///     let endpoint = TokenEndpoint(description, client, http)
///
///     let authorization = Authorization(
///         description, clientID: client.id, redirects: isManual ? nil : redirects)
///     open(authorization.url)
///     do {
///         let code = try await authorization.code()                // as long as the caller lets it
///         let token = try await endpoint.exchange(code, for: authorization.request)
///         let identity = …                                         // asks who it is, stores the token
///         authorization.finish(.loggedIn)
///     } catch OAuthError.denied {
///         authorization.finish(.denied)
///     } catch {
///         authorization.finish(.failed("…"))
///     }
///     // meanwhile: try authorization.submit(text), for what somebody pastes
///
/// The listener answers as long as this object lives, so that reloading the page shows it again; keep it
/// for a minute after the end. A port that is taken is no error: see ``listenerError``.
@MainActor
package final class Authorization {
    /// What is asked of the service; the token endpoint wants it, too.
    package private(set) var request: AuthorizationRequest
    /// Why the code has to be pasted though a listener was wanted: ``OAuthError/portTaken(_:)`` or
    /// ``OAuthError/cannotListen(_:)``. For the log.
    package private(set) var listenerError: OAuthError?

    private let issuer: String?
    private var registration: RedirectRegistration?
    private var answer: RedirectAnswer?
    private var continuation: CheckedContinuation<Secret, any Error>?

    /// - Parameters:
    ///   - description: Of the service.
    ///   - clientID: What the service knows the application by.
    ///   - redirects: nil for a login whose code is pasted.
    ///   - generator: Where state and verifier come from; must be fit for cryptography.
    package init(
        _ description: OAuthDescription, clientID: String, redirects: RedirectListeners?,
        using generator: inout some RandomNumberGenerator
    ) {
        request = AuthorizationRequest(description, clientID: clientID, using: &generator)
        issuer = description.issuer
        if !description.showsCode {
            request.redirectAddress = RedirectListeners.address(port: description.redirectPort)
        }
        guard let redirects else { return }
        do throws(OAuthError) {
            let registration = try redirects.register(
                state: request.state, port: description.redirectPort,
                onRedirect: { [weak self] in self?.receive($0) ?? false })
            request.redirectAddress = registration.address
            self.registration = registration
        } catch {
            listenerError = error
        }
    }

    /// As the initializer with a generator, with random numbers of the system: getrandom(2).
    package convenience init(
        _ description: OAuthDescription, clientID: String, redirects: RedirectListeners?
    ) {
        var generator = SystemRandomNumberGenerator()
        self.init(description, clientID: clientID, redirects: redirects, using: &generator)
    }

    /// The address that the browser opens.
    package var url: String { request.url }

    /// Waits for the code: from the browser, or pasted. One caller at a time.
    ///
    /// - Throws: ``OAuthError/denied`` and the other errors that the service answers with;
    ///   `CancellationError`. There is no deadline.
    package func code() async throws -> Secret {
        precondition(continuation == nil, "somebody waits for the code already")
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else if let answer {
                    continuation.resume(with: answer.result)
                } else {
                    self.continuation = continuation
                }
            }
        } onCancel: {
            Task { @MainActor in
                continuation?.resume(throwing: CancellationError())
                continuation = nil
            }
        }
    }

    /// Takes what somebody pasted: a code, or the whole address that the browser ended on. Whatever comes
    /// after the first answer counts for nothing.
    ///
    /// - Throws: ``OAuthError/invalidCode(_:)``. The login goes on.
    package func submit(_ text: String) throws(OAuthError) {
        end(try RedirectAnswer(pasted: text, state: request.state, issuer: issuer))
    }

    /// Shows the browser, if one came back, what became of the login. The first verdict counts.
    package func finish(_ verdict: LoginVerdict) { registration?.finish(verdict) }

    private func receive(_ parameters: RedirectParameters) -> Bool {
        // A second hit, as by reloading, shows what became of the first.
        guard answer == nil else { return true }
        guard let answer = RedirectAnswer(parameters, issuer: issuer) else { return false }
        end(answer)
        return true
    }

    private func end(_ answer: RedirectAnswer) {
        guard self.answer == nil else { return }
        self.answer = answer
        continuation?.resume(with: answer.result)
        continuation = nil
    }
}

nonisolated extension RedirectAnswer {
    fileprivate var result: Result<Secret, any Error> {
        switch self {
        case .code(let code): .success(code)
        case .failed(let error): .failure(error)
        }
    }
}
