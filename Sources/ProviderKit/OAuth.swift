/// The OAuth 2.0 login of a service.
///
/// The engine implements the login: `state`, PKCE, the redirect, the token exchange, renewal and revocation.
///
/// Source: RFC 6749, RFC 7636, RFC 8252.
public struct OAuthDescription: Hashable, Codable, Sendable {
    /// The address that the browser opens.
    public var authorizationURL: String
    /// The token endpoint.
    public var tokenURL: String
    /// The revocation endpoint (RFC 7009); nil if the service has none.
    public var revocationURL: String?
    /// The requested scopes.
    public var scopes: [String]
    /// True if the service supports PKCE with S256.
    public var usesPKCE = false
    /// The port of the redirect address if the service compares it exactly; nil if it accepts every port, as RFC 8252
    /// §7.3 requires.
    public var redirectPort: UInt16?
    /// The issuer that a redirect must name if it names one (RFC 9207); nil if it is unknown. Then it must have the
    /// origin of ``authorizationURL``.
    public var issuer: String?
    /// True if the service announces that each redirect names the issuer (RFC 9207 §3).
    public var namesIssuer = false
    /// True if the rate limit applies to the application, false if it applies to each user.
    public var countsPerApplication = true
    /// True if the service can show a code instead of a redirect (`urn:ietf:wg:oauth:2.0:oob`). Otherwise, a manual
    /// login asks for the address of the last page in the browser.
    public var showsCode = true
    /// The origins (`https://host[:port]`) whose requests carry the token.
    public var tokenOrigins: [String]
    /// The responses with which the service refuses a token. The default is status 401.
    public var tokenRefusals = [TokenRefusal(status: 401)]
    /// The automatic registration of the application; nil if the user registers it.
    public var registration: ClientRegistration?

    /// Returns true if a client that was registered with this description can be used with another one. Token refusals
    /// do not matter.
    package func isRegistered(like other: OAuthDescription) -> Bool {
        var same = self
        same.tokenRefusals = other.tokenRefusals
        return same == other
    }

    /// Creates a description without optional features.
    public init(
        authorizationURL: String, tokenURL: String, scopes: [String], tokenOrigins: [String]
    ) {
        self.authorizationURL = authorizationURL
        self.tokenURL = tokenURL
        self.scopes = scopes
        self.tokenOrigins = tokenOrigins
    }
}

/// A response with which a service refuses a token.
public struct TokenRefusal: Hashable, Codable, Sendable {
    /// The status code.
    public var status: Int
    /// A text in the body, or in the field of the header that ``field`` names; nil if the status is sufficient.
    public var text: String?
    /// The path of the requests to which the rule applies; nil for all requests. A response in HTML is not a refusal.
    public var path: String?
    /// The field of the header that has the text. A page with it comes from the service.
    public var field: String?

    /// Creates a rule.
    public init(status: Int, text: String? = nil, path: String? = nil, field: String? = nil) {
        self.status = status
        self.text = text
        self.path = path
        self.field = field
    }
}

/// The automatic registration of the application: a form whose response has `client_id` and `client_secret`.
///
/// Source: RFC 7591 §3.2.1 for the response.
public struct ClientRegistration: Hashable, Codable, Sendable {
    /// The address of the form.
    public var url: String
    /// The fields of the form except the redirect addresses.
    public var fields: [String: String]
    /// The name of the field with the redirect addresses, one per line.
    public var redirectField: String
    /// True if the registration is valid for one login, because the service deletes it, or all its tokens, with the token
    /// of that login.
    public var isForOneLogin = false

    /// Creates a registration that is valid for many logins.
    public init(url: String, fields: [String: String], redirectField: String) {
        self.url = url
        self.fields = fields
        self.redirectField = redirectField
    }
}

/// A provider with a browser login (OAuth 2.0).
public protocol OAuthLogin: Provider {
    /// Describes the login with the given settings.
    ///
    /// - Parameter settings: The settings of the provider.
    /// - Returns: The description.
    /// - Throws: ``ProviderError/notConfigured(_:)`` for invalid settings, such as an invalid address.
    func oauth(_ settings: ProviderSettings) throws(ProviderError) -> OAuthDescription

    /// The instructions for registering the application: a few sentences for the user, with the address of the
    /// registration page.
    var registrationHelp: String { get }

    /// Fetches the identity of the newly logged-in user. The HTTP client adds the new token.
    ///
    /// - Parameter ports: The settings, the HTTP client and the logger.
    /// - Returns: The identity.
    /// - Throws: ``ProviderError/unauthorized`` if the service refuses the token; the errors of ``HTTPClient``.
    func identify(_ ports: SessionPorts) async throws -> AccountIdentity
}

/// The settings of a provider: the group `[Provider ID]` of the configuration.
public struct ProviderSettings: Hashable, Sendable {
    /// All settings by key.
    public private(set) var all: [String: String]

    /// Creates settings.
    public init(_ values: [String: String] = [:]) { all = values }

    /// The value of a key; nil if it is missing or empty.
    public subscript(key: String) -> String? {
        get { all[key].flatMap { $0.isEmpty ? nil : $0 } }
        set { all[key] = newValue }
    }
}

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
