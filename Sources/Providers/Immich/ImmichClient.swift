internal import JSONFormat
internal import ProviderKit
internal import Translation
internal import WebService

/// A client for the API of one server.
struct ImmichClient: ServiceClient {
    let server: ServerAddress
    let service: ServiceDescription
    let ports: SessionPorts
    let mapping: ModelMapping
    /// False if photos of partners are left out.
    let showsPartners: Bool

    /// The address of the API.
    var base: String { server.origin + "/api" }

    /// - Throws: ``ProviderError/invalidArgument(_:)`` for an invalid server, ``ProviderError/notConfigured(_:)``.
    init(_ server: String, _ ports: SessionPorts) throws(ProviderError) {
        self.server = try ServerAddress(server)
        service = .server(self.server.host)
        mapping = ModelMapping(
            server: self.server,
            showsLocation: try ports.settings.flag("ShowLocation", of: "immich"))
        showsPartners = try ports.settings.flag("Partners", of: "immich", default: true)
        self.ports = ports
    }

    /// Sends a request to the API.
    ///
    /// - Parameters:
    ///   - method: The HTTP method.
    ///   - path: The segments of the path below `/api`, not yet escaped.
    ///   - query: The parameters, not yet escaped.
    ///   - body: The body, which is sent as JSON; nil for none.
    ///   - subject: The item that is requested, for error messages.
    ///   - permission: The permission that an API key needs; nil if every key has it.
    ///   - maximumBytes: The maximum size of the response in bytes.
    ///   - secrets: The secrets in the body.
    ///   - isOptional: True if some servers do not have the path or its parameters, and send status 404 or 400.
    /// - Returns: A response with status 2xx that is not an HTML page, or that of such a server.
    /// - Throws: ``ProviderError``, ``HTTPError``, `CancellationError`.
    func send(
        _ method: HTTPRequest.Method, _ path: [String],
        _ query: [(name: String, value: String)] = [], _ body: JSON? = nil,
        about subject: Refusal.Subject, permission: String? = nil, maximumBytes: Int = 16 << 20,
        secrets: [Secret] = [], isOptional: Bool = false
    ) async throws -> HTTPResponse {
        let url = ([base] + path.map(URLEncoding.escape)).joined(separator: "/")
        var request = HTTPRequest(method, URLEncoding.adding(query, to: url))
        request.headers.append("Accept", "application/json")
        if let body {
            request.headers.append("Content-Type", "application/json")
            request.body = body.line
            request.bodySecrets = secrets
        }
        request.maximumBytes = maximumBytes
        let response = try await ports.http.send(request)
        // A proxy that does not reach the server sends no object.
        if isOptional, [400, 404].contains(response.status), response.record != nil {
            return response
        }
        if let error = refusal(response, subject).error(permission) { throw error }
        return response
    }

    /// Sends a GET request, or a POST request with a body, and decodes the body of the response.
    func fetch<Value: Decodable>(
        _ path: [String], _ query: [(name: String, value: String)] = [], body: JSON? = nil,
        about subject: Refusal.Subject, permission: String? = nil, maximumBytes: Int = 16 << 20
    ) async throws -> Value {
        try decode(
            try await send(
                body == nil ? .get : .post, path, query, body, about: subject,
                permission: permission, maximumBytes: maximumBytes))
    }

    /// Fetches the assets of a month of the timeline, which begins with a day, with or without a time.
    ///
    /// Source: xXRoxXeRXx/integration_immich #53: some servers find nothing for a day without a time.
    func month(
        _ month: String, _ source: SourceID, _ query: [(name: String, value: String)],
        maximumBytes: Int = 16 << 20, isOptional: Bool = false
    ) async throws -> HTTPResponse {
        try await send(
            .get, ["timeline", "bucket"],
            query + [("timeBucket", month.prefix(10) + "T00:00:00.000Z")],
            about: .source(source), permission: "asset.read", maximumBytes: maximumBytes,
            isOptional: isOptional)
    }

    // MARK: Users

    func profile() async throws -> Profile {
        let user: ServiceRecord = try await fetch(
            ["users", "me"], about: .user, permission: "user.read")
        guard let profile = mapping.profile(user) else {
            throw service.invalidResponse(Message("a user without an email address"))
        }
        return profile
    }

    /// Requests a token for a user.
    ///
    /// - Throws: ``ProviderError/wrongPassword(_:)``; ``ProviderError``, ``HTTPError``.
    func requestToken(_ username: String, _ password: Secret) async throws -> Secret {
        let body = password.withText { ["email": JSON(username), "password": JSON($0)] as JSON }
        do {
            let response = try await send(
                .post, ["auth", "login"], [], body, about: .user, secrets: [password])
            guard let token = response.record?.text("accessToken") else {
                throw unreadable(response)
            }
            return Secret(token)
        } catch ProviderError.unauthorized, ProviderError.invalidArgument {
            throw ProviderError.wrongPassword(
                Message(
                    "{server} does not accept the email address or the password.",
                    ["server": server.host]))
        }
    }

    // MARK: Images

    /// The client for images, which require the credentials of the account.
    var images: any HTTPClient {
        ImageClient(ports.http) { response, url in
            // Versions before 1.131 do not have the size `fullsize`.
            guard response.status == 400, let end = url.firstRange(of: "/thumbnail?size=fullsize")
            else { return nil }
            return url[..<end.lowerBound] + "/original"
        } refusal: { response, url in
            guard [400, 403].contains(response.status), !response.isHTML else { return nil }
            let parts = url.split(separator: "/").map(String.init)
            let id = parts.lazy.compactMap(AssetID.init(rawValue:)).first?.rawValue ?? ""
            let permission =
                url.contains("/original")
                ? "asset.download"
                : parts.contains("users") ? "userProfileImage.read" : "asset.view"
            return refusal(response, .photo(PhotoID(id))).error(permission)
        }
    }
}
