/// The requests that carry the key or the token of an account, and the hosts that receive it.
public struct KeyDescription: Hashable, Sendable {
    /// The field of Basic authentication.
    ///
    /// Source: RFC 7617 §2.
    public static let basicField = "Authorization: Basic "

    /// The header field of the key, up to the key: `x-api-key: `. nil if the service has no keys.
    public var keyField: String?
    /// The origins (`https://host[:port]`) whose requests carry the key or the token, or those of a service without
    /// either.
    public var keyOrigins: [String]
    /// True if the user must name a server.
    public var needsServer: Bool
    /// The header field of a token that the service issued for a user name and a password, up to the token:
    /// `Authorization: Bearer `. nil if the service issues none. See ``TokenLogin``.
    public var tokenField: String?
    /// The origins (`https://host[:port]` or `http://host[:port]`) that the user named. Requests to them may use `http`
    /// and lead into the user's network. Requests and redirects to any other origin are refused. Empty for a plugin
    /// whose manifest defines its hosts.
    package var namedOrigins: Set<String> = []
    /// The responses that mean that the key or the token is refused.
    package var refusals = [TokenRefusal(status: 401)]

    /// The description without a key, for requests without credentials.
    package var anonymous: KeyDescription {
        var description = self
        description.keyField = nil
        description.tokenField = nil
        return description
    }

    /// Creates a description.
    public init(keyField: String?, keyOrigins: [String], needsServer: Bool = false) {
        self.keyField = keyField
        self.keyOrigins = keyOrigins
        self.needsServer = needsServer
    }

    /// Creates the description of the requests with an OAuth token; of requests without a token for nil.
    package init(_ oauth: OAuthDescription?) {
        self.init(
            keyField: oauth == nil ? nil : HTTPRequest.bearerField,
            keyOrigins: oauth?.tokenOrigins ?? [])
        refusals = oauth?.tokenRefusals ?? []
    }
}

/// A provider whose users log in with an API key, or with only a user name or server.
public protocol KeyLogin: Provider {
    /// Describes the login at a server.
    ///
    /// - Parameters:
    ///   - settings: The settings of the provider.
    ///   - server: The server in lower case, as the user entered it: a host, optionally with a port, or an address that
    ///     begins with `https://`. For a built-in provider, any text. Empty if ``KeyDescription/needsServer`` is false.
    /// - Returns: The description.
    /// - Throws: ``ProviderError/invalidArgument(_:)`` for an invalid server.
    func access(
        _ settings: ProviderSettings, server: String
    ) throws(ProviderError) -> KeyDescription

    /// Fetches the identity of the user during a login. The HTTP client adds the key.
    ///
    /// - Parameters:
    ///   - account: The user name, which may be empty, and the server.
    ///   - ports: The settings, the HTTP client and the logger.
    /// - Returns: The identity.
    /// - Throws: ``ProviderError/unauthorized`` if the service refuses the key; the errors of ``HTTPClient``.
    func identify(_ account: AccountIdentity, _ ports: SessionPorts) async throws -> AccountIdentity

    /// The provider as ``TokenLogin``; nil if it has no login with a password.
    var tokenLogin: (any TokenLogin)? { get }
}

// The defaults. The compiler chooses one where a type conforms to `KeyLogin`.

extension KeyLogin {
    /// Nil.
    public var tokenLogin: (any TokenLogin)? { nil }
}

extension TokenLogin {
    /// The provider.
    public var tokenLogin: (any TokenLogin)? { self }
}

/// A provider whose users log in with a key, or with a user name and a password, for which the service issues a token.
///
/// Only the token is stored. The login uses the password if the caller names a user. Plugins cannot use this protocol,
/// because they never receive a secret.
public protocol TokenLogin: KeyLogin {
    /// Requests a token. The password is not stored.
    ///
    /// - Parameters:
    ///   - account: The user name and the server.
    ///   - password: The password.
    ///   - ports: The settings, an HTTP client without credentials and the logger.
    /// - Returns: The token, which is sent in ``KeyDescription/tokenField``.
    /// - Throws: ``ProviderError/wrongPassword(_:)`` if the service refuses the user name or the password; the errors
    ///   of ``HTTPClient``.
    func requestToken(
        _ account: AccountIdentity, password: Secret, _ ports: SessionPorts
    ) async throws -> Secret

    /// Revokes a token that ``requestToken(_:password:_:)`` returned. The HTTP client adds it.
    ///
    /// - Parameters:
    ///   - account: The server; the user name may be empty.
    ///   - ports: The settings, the HTTP client and the logger.
    /// - Throws: ``ProviderError``, ``HTTPError``. Temporary errors are retried.
    func revokeToken(_ account: AccountIdentity, _ ports: SessionPorts) async throws
}

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
