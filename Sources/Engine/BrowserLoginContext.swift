internal import OAuth
internal import ProviderKit

/// A service that somebody logs in to in the browser, and what it takes.
struct BrowserLoginContext {
    let provider: any Provider
    /// What a person calls the service: the name of the provider, or of the server.
    let name: String
    let settings: ProviderSettings
    let description: OAuthDescription
    let clientID: String
    /// The key under which the client registration is stored; nil for a client that the user registered.
    var registrationKey: SecretKey?
    /// The keys of the secrets that ``endpoint`` reads.
    var secretKeys: [SecretKey] = []
    /// What to do when the service does not know the application.
    let advice: String
    /// Where codes become tokens. Takes the client's secret.
    let endpoint: () async throws -> TokenEndpoint
    /// Asks who it was.
    let identify: (SessionPorts) async throws -> AccountIdentity

    /// What a login fails with, in the terms that clients are told in.
    ///
    /// - Parameters:
    ///   - error: What went wrong.
    ///   - name: What a person calls the service.
    ///   - advice: What to do when the service does not know the application.
    /// - Returns: The error to tell.
    static func loginError(
        _ error: any Error, _ name: String, advice: String = "try again later"
    ) -> any Error {
        guard let error = error as? OAuthError else {
            return switch error {
            case ProviderError.unauthorized:
                EngineError.loginFailed("\(name) does not accept the token that it gave.")
            case HTTPError.tooLarge:
                ProviderError.failed("\(name) did not do its part: it answered without an end.")
            case is CancellationError: EngineError.cancelled("The login was cancelled.")
            default: error
            }
        }
        return switch error {
        case .denied: EngineError.loginDenied
        case .invalidGrant:
            EngineError.loginFailed("\(name) does not accept the code; log in again.")
        case .invalidClient:
            EngineError.loginFailed(
                "\(name) does not know the client id or its secret: \(advice).")
        case .refused(let text): EngineError.loginFailed("\(name) refused: \(text.sentence)")
        case .rateLimited(let until): ProviderError.rateLimited(until: until)
        case .serviceFailed(let text):
            ProviderError.failed("\(name) did not do its part: \(text.sentence)")
        case .invalidCode, .noRefreshToken, .portTaken, .cannotListen:
            EngineError.loginFailed("The login failed: \(error).")
        }
    }
}

extension String {
    /// The text of a service at the end of a message, with one full stop.
    var sentence: String { hasSuffix(".") ? self : self + "." }
}
