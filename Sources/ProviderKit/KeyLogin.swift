/// The login of a service that needs no browser: an API key, or no credentials.
public struct KeyDescription: Hashable, Sendable {
    /// The header field of the key, up to the key: `x-api-key: `. nil if the service has no keys.
    public var keyField: String?
    /// The origins (`https://host[:port]`) whose requests carry the key.
    public var keyOrigins: [String]
    /// True if the user must name a server.
    public var needsServer: Bool

    /// Creates a description.
    public init(keyField: String?, keyOrigins: [String], needsServer: Bool = false) {
        self.keyField = keyField
        self.keyOrigins = keyOrigins
        self.needsServer = needsServer
    }
}

/// A provider whose users log in with an API key, or with only a user name or server.
public protocol KeyLogin: Provider {
    /// Describes the login at a server.
    ///
    /// - Parameters:
    ///   - settings: The settings of the provider.
    ///   - server: The server in lower case, as the user entered it: a host, optionally with a port, or an address that
    ///     begins with `https://`. Empty if ``KeyDescription/needsServer`` is false.
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
}
