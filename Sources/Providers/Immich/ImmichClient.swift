internal import FoundationEssentials
internal import Logging
internal import ProviderKit
internal import WebService

/// A client for the API of one server.
struct ImmichClient: Sendable {
    let server: ServerAddress
    let service: Service
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
        service = .server(self.server.host)
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
        if let error = refusal(response, call.subject, call.permission) { throw error }
        return response
    }

    /// Returns the error of a response; nil for a success.
    func refusal(
        _ response: HTTPResponse, _ subject: Refusal.Subject, _ permission: String?
    ) -> ProviderError? {
        Refusal(response, subject, service, now: now()).error(permission)
    }

    /// Sends a request and decodes the response.
    func fetch<Value: Decodable>(_ call: APICall) async throws -> Value {
        try service.decode(try await send(call), logger)
    }

    // MARK: Users

    /// Fetches the profile of the logged-in user.
    func currentUser() async throws -> Profile {
        let user: ServiceRecord = try await fetch(
            APICall(.get, ["users", "me"], about: .user, permission: "user.read"))
        guard let profile = mapping.profile(user) else {
            throw service.invalidResponse("a user without an email address")
        }
        return profile
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
                .with(["email": username, "password": password])
        }
        do {
            let token: IssuedToken = try await fetch(call)
            return Secret(token.accessToken)
        } catch ProviderError.unauthorized, ProviderError.invalidArgument {
            throw ProviderError.wrongPassword(
                "\(server.host) does not accept the email address or the password.")
        }
    }

    // MARK: Images

    /// The client for images, which require the credentials of the account.
    var images: ImageClient {
        ImageClient(http) { response, url in
            // Versions before 1.131 do not have the size `fullsize`.
            guard response.status == 400, let end = url.firstRange(of: "/thumbnail?size=fullsize")
            else { return nil }
            return url[..<end.lowerBound] + "/original"
        } refusal: { response, url in
            guard [400, 403].contains(response.status), !response.isHTML else { return nil }
            let parts = url.split(separator: "/").map(String.init)
            let id = parts.lazy.compactMap(AssetID.init).first?.text ?? ""
            let permission =
                if parts.contains("users") {
                    "userProfileImage.read"
                } else if url.contains(
                    "/original")
                {
                    "asset.download"
                } else { "asset.view" }
            return refusal(response, .photo(PhotoID(id)), permission)
        }
    }

    // MARK: Version

    /// Fetches the version of the server. Requires no permission.
    func version() async throws -> VersionRecord {
        try await fetch(APICall(.get, ["server", "version"], about: .other("read the version")))
    }
}

/// A request to the API.
struct APICall: Sendable {
    let method: HTTPRequest.Method
    /// The segments of the path below `/api`, not yet escaped.
    let path: [String]
    /// The parameters, not yet escaped.
    var query: [(name: String, value: String)] = []
    /// The body in JSON; empty for none.
    var body: [UInt8] = []
    /// The item that is requested, for error messages.
    let subject: Refusal.Subject
    /// The permission that an API key needs; nil if every key has it.
    let permission: String?
    /// The maximum size of the response in bytes.
    var maximumBytes = 16 << 20

    init(
        _ method: HTTPRequest.Method, _ path: [String],
        _ query: [(name: String, value: String)] = [], about subject: Refusal.Subject,
        permission: String? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.subject = subject
        self.permission = permission
    }

    /// Adds a body in JSON.
    func with(_ body: some Encodable) throws -> APICall {
        var call = self
        call.body = Array(try JSONEncoder().encode(body))
        return call
    }
}
