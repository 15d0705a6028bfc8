/// A provider of many services of one kind: whoever logs in names the server, and the application makes
/// itself known there.
///
/// Its accounts have a server in their ``AccountIdentity``. Nothing has to be configured.
public protocol FederatedLogin: Provider {
    /// Reads what somebody named as their server.
    ///
    /// - Parameters:
    ///   - text: What they wrote: a host name, maybe the address of a page there.
    ///   - settings: Those of the provider.
    /// - Returns: The name of the server, as accounts have it.
    /// - Throws: ``ProviderError/invalidArgument(_:)`` for what is none.
    func server(_ text: String, _ settings: ProviderSettings) throws(ProviderError) -> String

    /// How a server lets its users in, as far as that can be said without asking it: where its token goes,
    /// and what refuses it.
    ///
    /// - Throws: ``ProviderError/notConfigured(_:)`` for settings that cannot be right.
    func oauth(
        _ server: String, _ settings: ProviderSettings
    ) throws(ProviderError) -> OAuthDescription

    /// Finds out what kind of server it is and how its users log in. The requests carry no token.
    ///
    /// - Parameters:
    ///   - server: The result of ``server(_:_:)``.
    ///   - user: The user of the handle that named the server, if it was one: the domain of a handle may be another
    ///     than that of the server.
    ///   - ports: The settings and the network.
    /// - Returns: The server under the name by which it is to be known, which may be another than the one it
    ///   was asked by; its description has a ``OAuthDescription/registration``.
    /// - Throws: ``ProviderError/notSupported(_:)`` for a server of another kind; the errors of the requests.
    func discover(
        _ server: String, user: String?, _ ports: SessionPorts
    ) async throws -> DiscoveredServer

    /// Asks a server who has just logged in. The HTTP client carries the new token.
    func identify(_ server: String, _ ports: SessionPorts) async throws -> AccountIdentity
}

/// A server that said how it lets its users in.
public struct DiscoveredServer: Hashable, Sendable {
    public let name: String
    public let oauth: OAuthDescription

    public init(name: String, oauth: OAuthDescription) {
        self.name = name
        self.oauth = oauth
    }
}
