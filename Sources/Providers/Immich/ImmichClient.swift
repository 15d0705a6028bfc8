internal import FoundationEssentials
internal import Logging
internal import ProviderKit

/// A client for the API of one server.
struct ImmichClient: Sendable {
    let server: ServerAddress
    let http: any HTTPClient
    let logger: Logger
    let mapping: ModelMapping
    /// True if photos have the place where they were taken.
    let showsLocation: Bool
    private let now: @Sendable () -> Timestamp

    /// The address of the API.
    var base: String { server.origin + "/api" }

    /// - Throws: ``ProviderError/invalidArgument(_:)`` for an invalid server, ``ProviderError/notConfigured(_:)``.
    init(
        _ server: String, _ ports: SessionPorts, now: @escaping @Sendable () -> Timestamp
    ) throws(ProviderError) {
        self.server = try ServerAddress(server)
        showsLocation = try ports.settings.flag("ShowLocation", of: "immich")
        mapping = ModelMapping(self.server, showsLocation: showsLocation)
        http = ports.http
        logger = ports.logger
        self.now = now
    }

    /// Sends a request to the API.
    ///
    /// - Parameter call: The request.
    /// - Returns: A response with status 2xx that is not an HTML page.
    /// - Throws: ``ProviderError``, ``HTTPError``, `CancellationError`.
    func send(_ call: APICall) async throws -> HTTPResponse {
        let url = ([base] + call.path.map(URLEncoding.escape)).joined(separator: "/")
        var request = HTTPRequest(call.method, URLEncoding.adding(call.query, to: url))
        request.headers.append("Accept", "application/json")
        if !call.body.isEmpty { request.headers.append("Content-Type", "application/json") }
        request.body = call.body
        request.maximumBytes = call.maximumBytes
        let response = try await http.send(request)
        if let error = refusal(response, call.subject, permission: call.permission).error {
            throw error
        }
        return response
    }

    /// Returns the translation of a response to an error.
    func refusal(
        _ response: HTTPResponse, _ subject: APICall.Subject, permission: String?
    ) -> Refusal {
        Refusal(
            response: response, subject: subject, permission: permission, server: server.host,
            now: now())
    }

    /// Sends a request and decodes the response.
    func fetch<Value: Decodable>(_ call: APICall) async throws -> Value {
        let response = try await send(call)
        do {
            return try JSONDecoder().decode(Value.self, from: Data(response.body))
        } catch {
            logger.debug(
                "Cannot decode a response",
                metadata: ["status": "\(response.status)", "bytes": "\(response.body.count)"])
            throw Refusal.invalidResponse("an unexpected document", server.host)
        }
    }

    // MARK: Users

    /// Fetches the profile of the logged-in user.
    func currentUser() async throws -> Profile {
        let user: UserRecord = try await fetch(
            APICall(.get, ["users", "me"], about: .user, permission: "user.read"))
        guard let profile = mapping.profile(user) else {
            throw Refusal.invalidResponse("a user without an email address", server.host)
        }
        return profile
    }

    private struct Credentials: Encodable {
        let email: String
        let password: String
    }

    private struct IssuedToken: Decodable {
        let accessToken: String
    }

    /// Requests a token for a user.
    ///
    /// - Throws: ``ProviderError/wrongPassword(_:)``; ``ProviderError``, ``HTTPError``.
    func requestToken(_ username: String, _ password: Secret) async throws -> Secret {
        let call = try password.withText { password in
            try APICall(.post, ["auth", "login"], about: .user)
                .with(Credentials(email: username, password: password))
        }
        do {
            let token: IssuedToken = try await fetch(call)
            return Secret(token.accessToken)
        } catch ProviderError.unauthorized, ProviderError.invalidArgument {
            throw ProviderError.wrongPassword(
                "\(server.host) does not accept the email address or the password.")
        }
    }

    // MARK: Version

    /// Fetches the version of the server. Requires no permission.
    func version() async throws -> VersionRecord {
        try await fetch(APICall(.get, ["server", "version"], about: .server))
    }
}
