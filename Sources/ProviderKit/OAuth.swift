/// How a service lets its users in by OAuth 2.0: where, for what, and with which quirks.
///
/// The engine does the rest: state, PKCE, the redirect, the exchange, refreshing, revoking.
///
/// Source: RFC 6749, RFC 7636, RFC 8252.
public struct OAuthDescription: Hashable, Codable, Sendable {
    /// The page that the browser opens.
    public var authorizationURL: String
    /// Where a code becomes a token.
    public var tokenURL: String
    /// Where a token is given back (RFC 7009); nil where the service has no such place.
    public var revocationURL: String?
    public var scopes: [String]
    /// Whether the service takes PKCE with S256.
    public var usesPKCE = false
    /// The port of the redirect address for a service that compares it exactly; nil for one that takes
    /// any port, as RFC 8252 §7.3 asks for.
    public var redirectPort: UInt16?
    /// The issuer that a redirect must name if it names one (RFC 9207); nil if it is not known.
    public var issuer: String?
    /// Whether the service counts requests of the whole application, not of each of its users.
    public var countsPerApplication = true
    /// Whether the service can show a code instead of sending the browser back
    /// (`urn:ietf:wg:oauth:2.0:oob`). Where it cannot, the address that the browser ended on is pasted.
    public var showsCode = true
    /// The origins (`https://host[:port]`) whose requests carry the account's token.
    public var tokenOrigins: [String]
    /// The answers with which the service refuses a token, 401 among them.
    public var tokenRefusals = [TokenRefusal(status: 401)]
    /// How the application makes itself known; nil where a person has registered it.
    public var registration: ClientRegistration?

    /// Returns true if a client that was registered with this description can be used with another one: refusals of
    /// tokens concern no registration.
    package func isRegistered(like other: OAuthDescription) -> Bool {
        var same = self
        same.tokenRefusals = other.tokenRefusals
        return same == other
    }

    public init(
        authorizationURL: String, tokenURL: String, scopes: [String], tokenOrigins: [String]
    ) {
        self.authorizationURL = authorizationURL
        self.tokenURL = tokenURL
        self.scopes = scopes
        self.tokenOrigins = tokenOrigins
    }
}

/// An answer with which a service refuses a token.
public struct TokenRefusal: Hashable, Codable, Sendable {
    public var status: Int
    /// What stands in the body; nil where the status says enough.
    public var text: String?
    /// The path of the requests to which the answer refuses the token; nil for all requests. A page for people is no
    /// answer to such a request.
    public var path: String?

    public init(status: Int, text: String? = nil, path: String? = nil) {
        self.status = status
        self.text = text
        self.path = path
    }
}

/// How an application makes itself known to a service: a form, which is answered with `client_id` and
/// `client_secret`.
///
/// Source: RFC 7591 §3.2.1 for the answer.
public struct ClientRegistration: Hashable, Codable, Sendable {
    /// Where the form goes.
    public var url: String
    /// The fields of the form, but for the redirect addresses.
    public var fields: [String: String]
    /// The field of the redirect addresses, a line each.
    public var redirectField: String
    /// True if the registration is good for one login: the service deletes it with the token of that login.
    public var isForOneLogin = false

    public init(url: String, fields: [String: String], redirectField: String) {
        self.url = url
        self.fields = fields
        self.redirectField = redirectField
    }

    private enum CodingKeys: String, CodingKey {
        case url, fields, redirectField, isForOneLogin
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        url = try values.decode(String.self, forKey: .url)
        fields = try values.decode([String: String].self, forKey: .fields)
        redirectField = try values.decode(String.self, forKey: .redirectField)
        // Missing in registrations that older versions stored.
        isForOneLogin = try values.decodeIfPresent(Bool.self, forKey: .isForOneLogin) ?? false
    }
}

/// A provider that is logged in to with OAuth.
public protocol OAuthLogin: Provider {
    /// How its service lets users in, as it is configured.
    ///
    /// - Throws: ``ProviderError/notConfigured(_:)`` for settings that cannot be right, such as an
    ///   address that is none.
    func oauth(_ settings: ProviderSettings) throws(ProviderError) -> OAuthDescription

    /// What somebody has to do who wants to use this provider and has not configured it: a few sentences,
    /// with the address where an application is registered.
    var registrationHelp: String { get }

    /// Asks the service who has just logged in. The HTTP client carries the new token.
    func identify(_ ports: SessionPorts) async throws -> AccountIdentity
}

/// What is configured for a provider: the group `[Provider ID]` of the configuration.
public struct ProviderSettings: Hashable, Sendable {
    private var values: [String: String]

    public init(_ values: [String: String] = [:]) { self.values = values }

    /// All that is set, by key.
    public var all: [String: String] { values }

    /// The value of a key; nil where it is not set, or set to nothing.
    public subscript(key: String) -> String? {
        get { values[key].flatMap { $0.isEmpty ? nil : $0 } }
        set { values[key] = newValue }
    }
}
