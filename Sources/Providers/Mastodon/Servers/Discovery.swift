internal import ProviderKit
internal import Quoting
internal import Translation
internal import WebService

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
    /// - Throws: ``ProviderError/notSupported(_:)`` for a server of another kind; ``ProviderError/failed(_:)`` for the
    ///   page of a gateway before it; the errors of the requests.
    func discover(_ server: String, user: String?) async throws -> DiscoveredServer {
        do {
            return try await describe(server, named: .configuration)
        } catch let error as ProviderError where Self.isOtherSite(error, server) {
            var failure: any Error = error
            // There is only one step: the documents of a server that was found in this way are not followed.
            for candidate in try await handleServers(of: server, user: user) {
                do {
                    return try await describe(candidate, named: .service)
                } catch let error as ProviderError where Self.isOtherSite(error, candidate) {
                    continue
                } catch let error as HTTPError {
                    failure = error
                }
            }
            throw failure
        }
    }

    /// Returns true for the error of a host that is no server, or whose documents are pages of a gateway before it.
    private static func isOtherSite(_ error: ProviderError, _ host: String) -> Bool {
        if case .notSupported = error { return true }
        return error == .otherLogin(host.excerpt)
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
        case .missing(let page):
            throw page ?? Self.unsupported(server)
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
        ///
        /// - Parameter page: The error for the page of a gateway before the server; nil if there was none.
        case missing(page: ProviderError?)
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
        var page: ProviderError?
        // Some servers have a broken version 2 and a working version 1.
        for version in ["v2", "v1"] {
            let response = try await get("\(base.text)/api/\(version)/instance", source)
            if response.isOtherLogin { page = self.refusal(response, server).page }
            switch response.status {
            case 200:
                if let version = Self.version(response) {
                    return .document(version: version, url: response.url)
                }
            case 401, 403, 422: if response.record?.text("error") != nil { refusal = response }
            case 429: throw error(response, server)
            case 500...: failure = response
            default: break
            }
        }
        if let refusal { return .refusal(refusal) }
        if let failure { throw error(failure, server) }
        return .missing(page: page)
    }

    /// Returns the version in an instance document; nil for another document. Documents of other services may also have
    /// a version.
    private static func version(_ response: HTTPResponse) -> String? {
        guard let record = response.record, record.text("title") != nil,
            (record.text("domain") ?? record.text("uri"))?.isEmpty == false
        else { return nil }
        return record.text("version")
    }

    /// Identifies a server that refuses to send its instance document.
    ///
    /// - Returns: The dialect; nil if the server does not appear to have the API.
    ///
    /// Source: nodeinfo.diaspora.software, protocol 2.1.
    private func closedServer(
        _ base: WebAddress, _ source: HTTPRequest.AddressSource
    ) async throws -> Dialect? {
        let links = try await get("\(base.text)/.well-known/nodeinfo", source).record
        let formats = (links?.records("links") ?? []).compactMap { link -> (String, String)? in
            guard let format = link.text("rel"), let address = link.text("href"),
                format.contains("nodeinfo.diaspora.software/ns/schema/")
            else { return nil }
            return (format, address)
        }
        let newest = formats.max { $0.0 < $1.0 }.flatMap { WebAddress($0.1) }
        if let newest, newest.origin == base.origin,
            let info = try await get(newest.text, source).record,
            let software = info.record("software")?.text("name")
        {
            return Dialect(software: software)
        }
        let document = try await get(
            "\(base.text)/.well-known/oauth-authorization-server", source
        ).record
        return document?.text("app_registration_endpoint") == nil ? nil : .other
    }

    private static func unsupported(_ server: String) -> ProviderError {
        .notSupported(
            Message(
                "{server} does not support the API of Mastodon; check the name of the server.",
                ["server": server.excerpt]))
    }

    // MARK: OAuth document

    /// Fetches the description of the authorization server; nil if there is none, as before Mastodon 4.3.
    private func document(
        _ base: WebAddress, _ server: String, _ source: HTTPRequest.AddressSource
    ) async throws -> ServiceRecord? {
        let response = try await get(
            "\(base.text)/.well-known/oauth-authorization-server", source)
        // Without the document, the client would be registered with other scopes.
        if response.status == 429 { throw error(response, server) }
        guard response.status == 200, let record = response.record else { return nil }
        // The document of another issuer is invalid (RFC 8414 §3.3).
        let issuer = record.text("issuer").flatMap { WebAddress($0) }
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
        let refusal = refusal(response, server)
        return refusal.error ?? refusal.unexpectedStatus
    }

    private func refusal(_ response: HTTPResponse, _ server: String) -> Refusal {
        Refusal(
            response, .other(Message("read the server description")),
            ServiceDescription(server.excerpt), now: now)
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
    ///
    /// Source: RFC 8414 §2; docs.joinmastodon.org/methods/oauth for `app_registration_endpoint`.
    static func description(
        _ base: WebAddress, _ settings: MastodonSettings, _ dialect: Dialect? = nil,
        _ document: ServiceRecord? = nil
    ) -> OAuthDescription {
        /// Returns an address from the document if it is at the server, else the default path. Codes and secrets are
        /// sent only to the server.
        func ownAddress(_ name: String, else path: String) -> String {
            guard let address = document?.text(name).flatMap({ WebAddress($0) }),
                address.origin == base.origin
            else {
                return "\(base.text)\(path)"
            }
            return address.text
        }
        var oauth = OAuthDescription(
            authorizationURL: ownAddress("authorization_endpoint", else: "/oauth/authorize"),
            tokenURL: ownAddress("token_endpoint", else: "/oauth/token"),
            scopes: scopes(dialect, document?.value("scopes_supported")),
            tokenOrigins: [base.origin])
        // Servers without support for PKCE ignore it.
        let methods = document?.value("code_challenge_methods_supported", as: [String].self)
        oauth.usesPKCE = methods?.contains("S256") ?? true
        oauth.issuer = document?.text("issuer")
        oauth.namesIssuer =
            document?.value("authorization_response_iss_parameter_supported") ?? false
        oauth.countsPerApplication = false
        oauth.tokenRefusals = tokenRefusals(base)
        switch dialect {
        case .pixelfed, .snac, .takahe, .friendica, .other:
            // Several registered redirect addresses become one that never matches (Pixelfed, Friendica); an address
            // with a port that was not registered does not match (GoToSocial).
            oauth.showsCode = false
            oauth.redirectPort = settings.redirectPort
        case .mastodon, nil:
            // Doorkeeper accepts any port in a loopback address.
            break
        }
        oauth.revocationURL =
            dialect == .pixelfed && document?.text("revocation_endpoint") == nil
            ? nil : ownAddress("revocation_endpoint", else: "/oauth/revoke")
        oauth.registration = ClientRegistration(
            url: ownAddress("app_registration_endpoint", else: "/api/v1/apps"),
            fields: ["client_name": "Image Feed", "scopes": oauth.scopes.joined(separator: " ")],
            redirectField: "redirect_uris")
        oauth.registration?.isForOneLogin = dialect == .snac || dialect == .friendica
        return oauth
    }

    /// The responses that reject a token, for all dialects, because accounts do not store their dialect.
    private static func tokenRefusals(_ base: WebAddress) -> [TokenRefusal] {
        [
            TokenRefusal(status: 401, text: "\"error\""),
            // Pixelfed.
            TokenRefusal(status: 401, text: "\"message\""),
            TokenRefusal(status: 500, text: "Unauthenticated"),
            // Pleroma and Akkoma: `Invalid credentials.` or `Insufficient permissions: read:accounts.`
            TokenRefusal(status: 403, path: "\(base.rest)/api/v1/accounts/verify_credentials"),
            // Takahē.
            TokenRefusal(status: 400, text: "Invalid Bearer token"),
            // snac: an empty page.
            TokenRefusal(status: 401, text: "snac/", field: "X-Creator"),
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
