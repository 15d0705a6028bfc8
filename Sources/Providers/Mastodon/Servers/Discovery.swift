internal import FoundationEssentials
internal import ProviderKit
internal import Quoting

/// Finds out whether a server is of Mastodon's kind, and how it lets its users in.
///
/// Source: docs.joinmastodon.org/methods/instance, /methods/oauth, /methods/apps; RFC 8414.
struct Discovery {
    let settings: MastodonSettings
    let http: any HTTPClient

    /// The largest documents seen have 26 kB.
    private static let maximumBytes = 1 << 20
    private static let timeLimit = Duration.seconds(10)

    func discover(_ server: String) async throws -> DiscoveredServer {
        let (instance, origin) = try await instance(server)
        guard let name = settings.server(at: origin) else { throw Self.stranger(server) }
        let base = try settings.base(name)
        let document = try await document(base)
        return DiscoveredServer(
            name: name,
            oauth: Self.description(
                base, settings, Dialect(version: instance.version), document))
    }

    /// Asks a server what it is, and says where the answer came from.
    ///
    /// - Throws: ``ProviderError/notSupported(_:)`` for one of another kind.
    func instance(_ server: String) async throws -> (InstanceRecord, url: String) {
        let base = try settings.base(server)
        for version in ["v2", "v1"] {
            let response = try await get("\(base.text)/api/\(version)/instance")
            guard response.status < 500 else {
                throw ProviderError.failed(
                    "\(server.excerpt) has trouble (status \(response.status)); try again later.")
            }
            if response.status == 200, let record: InstanceRecord = Self.decode(response) {
                return (record, response.url)
            }
        }
        throw Self.stranger(server)
    }

    private static func stranger(_ server: String) -> ProviderError {
        .notSupported(
            "\(server.excerpt) does not speak the API of Mastodon; check the name of the server.")
    }

    /// Where the server lets its users in; nil where it does not say, as before Mastodon 4.3.
    private func document(_ base: WebAddress) async throws -> AuthorizationServerRecord? {
        let response = try await get("\(base.text)/.well-known/oauth-authorization-server")
        guard response.status == 200, let record: AuthorizationServerRecord = Self.decode(response)
        else { return nil }
        // Whoever speaks for somebody else is not listened to (RFC 8414 §3.3).
        let issuer = record.issuer.flatMap { WebAddress($0) }
        return issuer?.origin == base.origin ? record : nil
    }

    private func get(_ url: String) async throws -> HTTPResponse {
        var request = HTTPRequest(.get, url)
        request.headers.append("Accept", "application/json")
        request.maximumBytes = Self.maximumBytes
        request.timeLimit = Self.timeLimit
        return try await http.send(request)
    }

    private static func decode<Value: Decodable>(_ response: HTTPResponse) -> Value? {
        try? JSONDecoder().decode(Value.self, from: Data(response.body))
    }

    // MARK: What follows from it

    /// How a server lets its users in.
    ///
    /// - Parameters:
    ///   - base: Where it is.
    ///   - settings: The port of redirect addresses that are compared exactly.
    ///   - dialect: Decides what is not said; nil as long as it is not known.
    ///   - document: What the server says itself.
    /// - Returns: The description.
    static func description(
        _ base: WebAddress, _ settings: MastodonSettings, _ dialect: Dialect? = nil,
        _ document: AuthorizationServerRecord? = nil
    ) -> OAuthDescription {
        /// An address that the document names, at the server itself: codes and secrets go nowhere else.
        func own(_ text: String?, else path: String) -> String {
            guard let address = text.flatMap({ WebAddress($0) }), address.origin == base.origin
            else {
                return "\(base.text)\(path)"
            }
            return address.text
        }
        var oauth = OAuthDescription(
            authorizationURL: own(document?.authorization, else: "/oauth/authorize"),
            tokenURL: own(document?.token, else: "/oauth/token"),
            scopes: scopes(dialect, document?.scopes), tokenOrigins: [base.origin])
        // Where it is not understood it is passed over.
        oauth.usesPKCE = document?.challengeMethods?.contains("S256") ?? true
        oauth.issuer = document?.issuer
        oauth.countsPerApplication = false
        // Pixelfed says "Unauthenticated." with one or the other.
        oauth.tokenRefusals.append(TokenRefusal(status: 500, text: "Unauthenticated"))
        switch dialect {
        case .pixelfed:
            // Takes one redirect address, and has long not shown codes.
            oauth.showsCode = false
            oauth.redirectPort = settings.redirectPort
            oauth.revocationURL = document?.revocation.map { own($0, else: "/oauth/revoke") }
        case .other:
            oauth.redirectPort = settings.redirectPort
            oauth.revocationURL = own(document?.revocation, else: "/oauth/revoke")
        case .mastodon, nil:
            // Doorkeeper takes any port of a loopback address.
            oauth.revocationURL = own(document?.revocation, else: "/oauth/revoke")
        }
        oauth.registration = ClientRegistration(
            url: own(document?.registration, else: "/api/v1/apps"),
            fields: ["client_name": "Image Feed", "scopes": oauth.scopes.joined(separator: " ")],
            redirectField: "redirect_uris")
        return oauth
    }

    /// What is asked for: no more than is used, as far as the server tells it apart.
    private static func scopes(_ dialect: Dialect?, _ supported: [String]?) -> [String] {
        let wanted = ["read:accounts", "read:statuses", "read:favourites", "write:favourites"]
        var scopes: [String] = []
        for scope in wanted {
            let isKnown = supported?.contains(scope) ?? (dialect != .pixelfed && dialect != .other)
            let scope = isKnown ? scope : String(scope.prefix { $0 != ":" })
            if !scopes.contains(scope) { scopes.append(scope) }
        }
        return scopes
    }
}
