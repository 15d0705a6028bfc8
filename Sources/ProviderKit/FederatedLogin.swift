/// A provider of a federated service: the user names a server, and the application registers itself there.
///
/// The ``AccountIdentity`` of its accounts has a server. The user configures nothing.
public protocol FederatedLogin: Provider {
    /// Parses the server that a user entered.
    ///
    /// - Parameters:
    ///   - text: A host name, a handle such as `@ada@photos.example`, or the address of a page on the server.
    ///   - settings: The settings of the provider.
    /// - Returns: The server name as stored in ``AccountIdentity/server``.
    /// - Throws: ``ProviderError/invalidArgument(_:)`` if the text names no server.
    func server(_ text: String, _ settings: ProviderSettings) throws(ProviderError) -> String

    /// Describes the login at a server as far as it is known without a request: the origins that get the token, and the
    /// responses that refuse it.
    ///
    /// - Parameters:
    ///   - server: A result of ``server(_:_:)``.
    ///   - settings: The settings of the provider.
    /// - Returns: The description. Its addresses may be placeholders until ``discover(_:user:_:)`` returns them.
    /// - Throws: ``ProviderError/notConfigured(_:)`` for invalid settings.
    func oauth(
        _ server: String, _ settings: ProviderSettings
    ) throws(ProviderError) -> OAuthDescription

    /// Fetches the login description of a server. The requests carry no token.
    ///
    /// - Parameters:
    ///   - server: A result of ``server(_:_:)``.
    ///   - user: The user of the handle that named the server; nil if the user entered no handle. The domain of a
    ///     handle may differ from the name of the server.
    ///   - ports: The settings, the HTTP client and the logger.
    /// - Returns: The server with its canonical name, which may differ from `server`. Its description has a
    ///   ``OAuthDescription/registration``.
    /// - Throws: ``ProviderError/notSupported(_:)`` if the server runs different software; the errors of
    ///   ``HTTPClient``.
    func discover(
        _ server: String, user: String?, _ ports: SessionPorts
    ) async throws -> DiscoveredServer

    /// Fetches the identity of the newly logged-in user. The HTTP client adds the new token.
    ///
    /// - Parameters:
    ///   - server: The name of a ``DiscoveredServer``.
    ///   - ports: The settings, the HTTP client and the logger.
    /// - Returns: The identity. Its ``AccountIdentity/server`` is `server`.
    /// - Throws: ``ProviderError/unauthorized`` if the server refuses the token; the errors of ``HTTPClient``.
    func identify(_ server: String, _ ports: SessionPorts) async throws -> AccountIdentity
}

/// A server of a federated service with its login description.
public struct DiscoveredServer: Hashable, Sendable {
    /// The canonical host name of the server.
    public let name: String
    /// The login description. It has a ``OAuthDescription/registration``.
    public let oauth: OAuthDescription

    /// Creates a server.
    public init(name: String, oauth: OAuthDescription) {
        self.name = name
        self.oauth = oauth
    }
}
