internal import ProviderKit
internal import Quoting

/// The discovery of a server: its address, its software, and its login method.
///
/// Source: docs.joinmastodon.org/methods/instance, /methods/oauth, /methods/apps; RFC 8414.
struct Discovery {
    let settings: MastodonSettings
    let http: any HTTPClient
    let now: Timestamp

    /// The maximum size of a document; the largest documents seen have 26 kB.
    private static let maximumBytes = 1 << 20
    private static let timeLimit = Duration.seconds(10)

    /// Discovers the server of a name that a user typed.
    ///
    /// - Parameters:
    ///   - server: The name of the server, or the domain of a handle.
    ///   - user: The user of the handle, if it was one.
    /// - Returns: The server. For a domain that is not a server, the server that its WebFinger or host-meta document
    ///   names.
    /// - Throws: ``ProviderError/notSupported(_:)`` for a server of another kind; the errors of the requests.
    func discover(_ server: String, user: String?) async throws -> DiscoveredServer {
        do {
            return try await describe(server, named: .configuration)
        } catch ProviderError.notSupported(let reason) {
            var failure: any Error = ProviderError.notSupported(reason)
            // There is only one step: the documents of a server that was found in this way are not followed.
            for candidate in try await handleServers(of: server, user: user) {
                do {
                    return try await describe(candidate, named: .service)
                } catch ProviderError.notSupported {
                    continue
                } catch let error as HTTPError {
                    failure = error
                }
            }
            throw failure
        }
    }

    private func describe(
        _ server: String, named source: HTTPRequest.AddressSource
    ) async throws -> DiscoveredServer {
        let base = try settings.base(server)
        let dialect: Dialect
        let origin: String
        switch try await instance(base, server, source) {
        case .document(let version, let url): (dialect, origin) = (Dialect(version: version), url)
        case .refusal(let response):
            // A server with limited federation shows its instance document only to its users.
            guard let found = try await closedServer(base, source) else {
                throw Self.unsupported(server)
            }
            (dialect, origin) = (found, response.url)
        case .missing: throw Self.unsupported(server)
        }
        guard let name = settings.server(at: origin) else { throw Self.unsupported(server) }
        let found = try settings.base(name)
        let document = try await document(found, name, source)
        return DiscoveredServer(
            name: name, oauth: Self.description(found, settings, dialect, document))
    }

    // MARK: Instance documents

    /// The outcome of the requests for the instance documents.
    private enum Instance {
        /// - Parameters:
        ///   - version: The version that the document states.
        ///   - url: The address of the document, after redirects.
        case document(version: String, url: String)
        /// The server has the document and refuses to send it.
        case refusal(HTTPResponse)
        /// The server has no such document.
        case missing
    }

    /// Returns the dialect of a server at which the user is logged in; `other` if the server does not state it.
    ///
    /// - Throws: The errors of any request: ``ProviderError/unauthorized``, ``ProviderError/rateLimited(until:)``,
    ///   ``ProviderError/failed(_:)``.
    func dialect(_ server: String) async throws -> Dialect {
        switch try await instance(settings.base(server), server, .configuration) {
        case .document(let version, _): return Dialect(version: version)
        case .refusal(let response) where response.status == 401: throw ProviderError.unauthorized
        case .refusal, .missing: return .other
        }
    }

    private func instance(
        _ base: WebAddress, _ server: String, _ source: HTTPRequest.AddressSource
    ) async throws -> Instance {
        var refusal: HTTPResponse?
        var failure: HTTPResponse?
        // Some servers have a broken version 2 and a working version 1.
        for version in ["v2", "v1"] {
            let response = try await get("\(base.text)/api/\(version)/instance", source)
            switch response.status {
            case 200:
                if let record = response.decodeJSON(InstanceRecord.self) {
                    return .document(version: record.version, url: response.url)
                }
            case 401, 403, 422: if Self.isErrorDocument(response) { refusal = response }
            case 429: throw error(response, server)
            case 500...: failure = response
            default: break
            }
        }
        if let refusal { return .refusal(refusal) }
        if let failure { throw error(failure, server) }
        return .missing
    }

    /// Identifies a server that refuses to send its instance document.
    ///
    /// - Returns: The dialect; nil if the server does not appear to have the API.
    private func closedServer(
        _ base: WebAddress, _ source: HTTPRequest.AddressSource
    ) async throws -> Dialect? {
        let links = try await get("\(base.text)/.well-known/nodeinfo", source)
            .decodeJSON(NodeInfoLinks.self)
        if let address = links?.address, address.origin == base.origin,
            let info = try await get(address.text, source).decodeJSON(NodeInfoRecord.self)
        {
            return Dialect(software: info.software)
        }
        let document = try await get(
            "\(base.text)/.well-known/oauth-authorization-server", source
        ).decodeJSON(AuthorizationServerRecord.self)
        return document?.registration == nil ? nil : .other
    }

    private static func isErrorDocument(_ response: HTTPResponse) -> Bool {
        response.decodeJSON(ErrorRecord.self) != nil
    }

    private static func unsupported(_ server: String) -> ProviderError {
        .notSupported(
            "\(server.excerpt) does not support the API of Mastodon; check the name of the server.")
    }

    // MARK: OAuth document

    /// Fetches the description of the authorization server; nil if there is none, as before Mastodon 4.3.
    private func document(
        _ base: WebAddress, _ server: String, _ source: HTTPRequest.AddressSource
    ) async throws -> AuthorizationServerRecord? {
        let response = try await get(
            "\(base.text)/.well-known/oauth-authorization-server", source)
        // Without the document, the client would be registered with other scopes.
        if response.status == 429 { throw error(response, server) }
        guard response.status == 200,
            let record = response.decodeJSON(AuthorizationServerRecord.self)
        else { return nil }
        // The document of another issuer is invalid (RFC 8414 §3.3).
        let issuer = record.issuer.flatMap { WebAddress($0) }
        return issuer?.origin == base.origin ? record : nil
    }

    // MARK: Requests

    /// Fetches a document without a token.
    ///
    /// - Parameters:
    ///   - url: The address.
    ///   - source: The origin of the address. Addresses on this computer always count as configured.
    ///   - accept: The media types.
    /// - Returns: The response, with any status.
    /// - Throws: The errors of the HTTP client.
    func get(
        _ url: String, _ source: HTTPRequest.AddressSource,
        accept: String = "application/json"
    ) async throws -> HTTPResponse {
        var request = HTTPRequest(.get, url)
        request.headers.append("Accept", accept)
        request.maximumBytes = Self.maximumBytes
        request.timeLimit = Self.timeLimit
        let isConfigured = WebAddress(url)?.isLoopback == true
        request.addressSource = isConfigured ? .configuration : source
        // A configured server may redirect to another one.
        request.allowsLoopback = isConfigured
        return try await http.send(request)
    }

    private func error(_ response: HTTPResponse, _ server: String) -> ProviderError {
        let refusal = Refusal(
            response: response, subject: .server, server: server.excerpt, now: now)
        return refusal.error ?? refusal.invalidResponse("status \(response.status)")
    }

    // MARK: Description

    /// Returns the description of the login at a server.
    ///
    /// - Parameters:
    ///   - base: The address of the server.
    ///   - settings: The port of redirect addresses that are compared exactly.
    ///   - dialect: The dialect, for properties that the document does not state; nil if it is unknown.
    ///   - document: The document of the server.
    /// - Returns: The description.
    static func description(
        _ base: WebAddress, _ settings: MastodonSettings, _ dialect: Dialect? = nil,
        _ document: AuthorizationServerRecord? = nil
    ) -> OAuthDescription {
        /// Returns an address from the document if it is at the server, else the default path. Codes and secrets are
        /// sent only to the server.
        func ownAddress(_ text: String?, else path: String) -> String {
            guard let address = text.flatMap({ WebAddress($0) }), address.origin == base.origin
            else {
                return "\(base.text)\(path)"
            }
            return address.text
        }
        var oauth = OAuthDescription(
            authorizationURL: ownAddress(document?.authorization, else: "/oauth/authorize"),
            tokenURL: ownAddress(document?.token, else: "/oauth/token"),
            scopes: scopes(dialect, document?.scopes), tokenOrigins: [base.origin])
        // Servers without support for PKCE ignore it.
        oauth.usesPKCE = document?.challengeMethods?.contains("S256") ?? true
        oauth.issuer = document?.issuer
        oauth.countsPerApplication = false
        oauth.tokenRefusals += tokenRefusals(base)
        switch dialect {
        case .pixelfed, .snac, .other:
            // Several registered redirect addresses become one that never matches (Pixelfed, Friendica); an address
            // with a port that was not registered does not match (GoToSocial).
            oauth.showsCode = false
            oauth.redirectPort = settings.redirectPort
        case .mastodon, nil:
            // Doorkeeper accepts any port in a loopback address.
            break
        }
        oauth.revocationURL =
            dialect == .pixelfed && document?.revocation == nil
            ? nil : ownAddress(document?.revocation, else: "/oauth/revoke")
        oauth.registration = ClientRegistration(
            url: ownAddress(document?.registration, else: "/api/v1/apps"),
            fields: ["client_name": "Image Feed", "scopes": oauth.scopes.joined(separator: " ")],
            redirectField: "redirect_uris")
        oauth.registration?.isForOneLogin = dialect == .snac
        return oauth
    }

    /// The responses other than status 401 that reject a token, for all dialects, because accounts do not store their
    /// dialect.
    private static func tokenRefusals(_ base: WebAddress) -> [TokenRefusal] {
        [
            // Pixelfed.
            TokenRefusal(status: 500, text: "Unauthenticated"),
            // Pleroma and Akkoma: `Invalid credentials.` or `Insufficient permissions: read:accounts.`
            TokenRefusal(status: 403, path: "\(base.rest)/api/v1/accounts/verify_credentials"),
            // Takahē.
            TokenRefusal(status: 400, text: "Invalid Bearer token"),
        ]
    }

    /// Returns the requested scopes: the narrowest ones that the server supports.
    private static func scopes(_ dialect: Dialect?, _ supported: [String]?) -> [String] {
        let wanted = ["read:accounts", "read:statuses", "read:favourites", "write:favourites"]
        let isMastodon = dialect == nil || dialect == .mastodon
        var scopes: [String] = []
        for scope in wanted {
            let isKnown = supported?.contains(scope) ?? isMastodon
            let scope = isKnown ? scope : String(scope.prefix { $0 != ":" })
            if !scopes.contains(scope) { scopes.append(scope) }
        }
        return scopes
    }
}
