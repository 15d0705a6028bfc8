internal import OAuth
internal import ProviderKit
internal import Quoting

/// The properties of a service that a login in the browser uses.
struct BrowserLoginContext {
    let provider: any Provider
    /// The name for users: the name of the provider or of the server.
    let name: String
    let settings: ProviderSettings
    let description: OAuthDescription
    let clientID: String
    /// The key under which the client registration is stored; nil for a client that the user registered.
    var registrationKey: SecretKey?
    /// The keys of the secrets that ``endpoint`` reads.
    var secretKeys: [SecretKey] = []
    /// True if the user configured the client ID and its secret.
    var isClientConfigured = false
    /// Returns the endpoint that exchanges codes for tokens. Reads the client secret.
    let endpoint: () async throws -> TokenEndpoint
    /// Fetches the identity of the user after the login.
    let identify: (SessionPorts) async throws -> AccountIdentity

    /// Returns the error of a login for clients.
    func loginError(_ error: any Error) -> any Error {
        if isClientConfigured, case OAuthError.invalidClient = error {
            return EngineError.loginFailed(
                "\(name) does not accept the client ID or the client secret; configure them again.")
        }
        return Self.loginError(error, name)
    }

    /// Returns the error of a login for clients.
    ///
    /// - Parameters:
    ///   - error: The cause.
    ///   - name: The name of the service for users.
    /// - Returns: The error to throw.
    static func loginError(_ error: any Error, _ name: String) -> any Error {
        guard let error = error as? OAuthError else {
            return switch error {
            case ProviderError.unauthorized:
                EngineError.loginFailed(
                    "\(name) does not accept the token that it issued; try again later.")
            case HTTPError.tooLarge:
                ProviderError.failed("\(name) sent a response that is too large; try again later.")
            case is CancellationError: EngineError.cancelled("The login was cancelled.")
            default: error
            }
        }
        return switch error {
        case .denied: EngineError.loginDenied
        case .invalidGrant:
            EngineError.loginFailed("\(name) does not accept the code; log in again.")
        case .invalidClient:
            EngineError.loginFailed("\(name) does not know this application; log in again.")
        case .refused(let text):
            EngineError.loginFailed("\(name) refused the login: \(text.sentence)")
        case .rateLimited(let until): ProviderError.rateLimited(until: until)
        case .serviceFailed(let text):
            ProviderError.failed("\(name) sent an invalid response: \(text.sentence)")
        case .invalidCode, .noRefreshToken, .portTaken, .cannotListen:
            EngineError.loginFailed("The login failed: \(error).")
        }
    }
}
