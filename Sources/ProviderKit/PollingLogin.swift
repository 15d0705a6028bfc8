/// A provider whose users log in with the browser at a server that they name, without a redirect: the service issues a
/// user name and a password for this application, which the engine polls for.
///
/// The engine starts the login, opens the browser, polls, and sends the password with Basic authentication (RFC 7617)
/// to the origin of the server only. The provider never receives it.
///
/// Source: “Login Flow v2” in the developer manual of the servers that have it.
public protocol PollingLogin: Provider {
    /// Parses the server that a user entered.
    ///
    /// - Parameters:
    ///   - text: A host, optionally with a port and a path, or the address of a page of the server.
    ///   - settings: The settings of the provider.
    /// - Returns: The server for ``access(_:server:)`` and ``describeLogin(_:_:)``.
    /// - Throws: ``ProviderError/invalidArgument(_:)`` if the text names no server.
    func server(_ text: String, _ settings: ProviderSettings) throws(ProviderError) -> String

    /// Describes the requests that carry the password, as far as that is known without a request.
    ///
    /// - Parameters:
    ///   - settings: The settings of the provider.
    ///   - server: A result of ``server(_:_:)`` or a ``PollingDescription/server``.
    /// - Returns: The description, with the field ``KeyDescription/basicField``.
    /// - Throws: ``ProviderError/invalidArgument(_:)`` for an invalid server.
    func access(
        _ settings: ProviderSettings, server: String
    ) throws(ProviderError) -> KeyDescription

    /// Describes the login at a server. The requests carry no password.
    ///
    /// - Parameters:
    ///   - server: A result of ``server(_:_:)`` or a ``PollingDescription/server``.
    ///   - ports: The settings, the HTTP client and the logger.
    /// - Returns: The description. Its server has the same origin.
    /// - Throws: ``ProviderError/notSupported(_:)`` if the server runs different software; the errors of
    ///   ``HTTPClient``.
    func describeLogin(_ server: String, _ ports: SessionPorts) async throws -> PollingDescription

    /// Fetches the identity of the newly logged-in user. The HTTP client adds the password.
    ///
    /// - Parameters:
    ///   - account: The login name and the ``PollingDescription/server``.
    ///   - ports: The settings, the HTTP client and the logger.
    /// - Returns: The identity.
    /// - Throws: ``ProviderError/unauthorized`` if the server refuses the password; the errors of ``HTTPClient``.
    func identify(_ account: AccountIdentity, _ ports: SessionPorts) async throws -> AccountIdentity
}

/// The login of a ``PollingLogin`` at a server. All addresses have the origin of the server.
public struct PollingDescription: Sendable {
    /// The canonical name of the server, as stored in ``AccountIdentity/server``.
    public var server: String
    /// The address that starts a login with a POST request without a body.
    ///
    /// The response has, in JSON, the address for the browser in `login`, and in `poll` the `endpoint` and the `token`.
    /// The engine posts the form `token=…` to the endpoint. Its response has the status 404 until the user has
    /// confirmed, and then once the members `loginName` and `appPassword`.
    public var startURL: String
    /// The request that revokes a password. It carries that password. nil if passwords cannot be revoked.
    public var revocation: HTTPRequest?

    /// Creates a description.
    public init(server: String, startURL: String, revocation: HTTPRequest? = nil) {
        self.server = server
        self.startURL = startURL
        self.revocation = revocation
    }
}

extension KeyDescription {
    /// The field of Basic authentication.
    ///
    /// Source: RFC 7617 §2.
    public static let basicField = "Authorization: Basic "
}
