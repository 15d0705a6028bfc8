/// How a service lets its users in without a browser: with a key that it gave them, or with nothing at all.
public struct KeyDescription: Hashable, Sendable {
    /// The header field of the key, and what stands before the key in it: `x-api-key: `. nil where there is
    /// no key.
    public var keyField: String?
    /// The origins (`https://host[:port]`) whose requests carry the key.
    public var keyOrigins: [String]
    /// Whether there are many servers, of which the user has to name one.
    public var needsServer: Bool

    public init(keyField: String?, keyOrigins: [String], needsServer: Bool = false) {
        self.keyField = keyField
        self.keyOrigins = keyOrigins
        self.needsServer = needsServer
    }
}

/// A provider of the network that is logged in to with a key, or with nothing but a name or a server.
public protocol KeyLogin: Provider {
    /// How one of its servers lets users in.
    ///
    /// - Throws: ``ProviderError/invalidArgument(_:)`` for what is no server.
    func access(
        _ settings: ProviderSettings, server: String
    ) throws(ProviderError) -> KeyDescription

    /// Finds out who logs in. The HTTP client carries the key.
    ///
    /// - Parameters:
    ///   - account: The name that the user gave, maybe empty, and the server.
    ///   - ports: What there is to work with.
    /// - Returns: Who it is.
    /// - Throws: ``ProviderError/unauthorized`` for a key that the service does not accept; what asking throws.
    func identify(_ account: AccountIdentity, _ ports: SessionPorts) async throws -> AccountIdentity
}
