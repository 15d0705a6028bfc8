package import ProviderKit

/// The endpoint that exchanges codes, refreshes tokens and revokes them.
///
/// Every call sends its requests once, without retries. It throws ``OAuthError``, the errors of the HTTP client
/// (`HTTPError`, after which the token may still be valid) and `CancellationError`.
nonisolated package struct TokenEndpoint: Sendable {
    /// The client and its service, as they are stored with each token.
    package let registered: RegisteredClient
    private let http: any HTTPClient
    private let now: @Sendable () -> Timestamp
    private var description: OAuthDescription { registered.description }

    /// Creates the endpoint of a service.
    ///
    /// - Parameters:
    ///   - registered: The client, which is sent in the form (RFC 6749 §2.3.1). All known services accept it there.
    ///   - http: The HTTP client. It adds no token.
    ///   - now: The time.
    package init(
        _ registered: RegisteredClient, _ http: any HTTPClient,
        now: @escaping @Sendable () -> Timestamp = { Timestamp.now }
    ) {
        self.registered = registered
        self.http = http
        self.now = now
    }

    /// Exchanges the code of a request for a token.
    ///
    /// - Throws: ``OAuthError/invalidGrant`` for a code that is wrong, old or used.
    ///
    /// Source: RFC 6749 §4.1.3, RFC 7636 §4.5.
    package func exchange(
        _ code: Secret, for request: AuthorizationRequest
    ) async throws -> OAuthToken {
        var form = SecretForm()
        form.append("grant_type", "authorization_code")
        form.append("code", code)
        form.append("redirect_uri", request.redirectAddress)
        if let verifier = request.verifier { form.append("code_verifier", verifier) }
        return try await token(form, scopes: description.scopes)
    }

    /// Refreshes a token.
    ///
    /// - Returns: The new token, with the old refresh token if the response contains none.
    /// - Throws: ``OAuthError/invalidGrant``, which requires a new login; ``OAuthError/noRefreshToken``.
    ///
    /// Source: RFC 6749 §6.
    package func refresh(_ token: OAuthToken) async throws -> OAuthToken {
        guard let refreshToken = token.refreshToken else { throw OAuthError.noRefreshToken }
        var form = SecretForm()
        form.append("grant_type", "refresh_token")
        form.append("refresh_token", refreshToken)
        return try await self.token(form, scopes: token.scopes, refreshToken)
    }

    /// Revokes a token and its refresh token; does nothing if the service has no revocation endpoint. An unknown token
    /// is not an error.
    ///
    /// Source: RFC 7009 §2.
    package func revoke(_ token: OAuthToken) async throws {
        guard let url = description.revocationURL else { return }
        // Not every service revokes both tokens together.
        let secrets = [("refresh_token", token.refreshToken), ("access_token", token.accessToken)]
        var refusal: OAuthError?
        for (kind, secret) in secrets {
            guard let secret else { continue }
            var form = SecretForm()
            form.append("token", secret)
            form.append("token_type_hint", kind)
            let response = try await send(form, to: url)
            // A service may refuse one kind of token and revoke the other.
            if let error = OAuthError(response, now: now()), error != .invalidGrant {
                refusal = refusal ?? error
            }
        }
        if let refusal { throw refusal }
    }

    /// Checks whether the client is still registered with the service. Sends a code that does not exist: services check
    /// the client before the code.
    ///
    /// - Returns: False for a client that is unknown, or that can be used only once: a service that grants a token for
    ///   any code (snac) deletes the client with the first token that is revoked.
    /// - Throws: The errors of the HTTP client.
    package func knowsClient() async throws -> Bool {
        var form = SecretForm()
        form.append("grant_type", "authorization_code")
        form.append("code", "none")
        form.append("redirect_uri", RedirectListeners.address(port: description.redirectPort))
        let response = try await send(form, to: description.tokenURL)
        if response.isSuccess,
            let token = try? OAuthToken(
                response.body, obtained: now(), requestedScopes: description.scopes)
        {
            // Best effort: the token gives access to the account of the last login.
            try? await revoke(token)
            return false
        }
        // snac refuses an unknown client without a body.
        if response.status == 401, response.body.isEmpty { return false }
        return OAuthError(response, now: now()) != .invalidClient
    }

    private func token(
        _ form: SecretForm, scopes: [String], _ refreshToken: Secret? = nil
    ) async throws -> OAuthToken {
        let response = try await send(form, to: description.tokenURL)
        if let error = OAuthError(response, now: now()) { throw error }
        return try OAuthToken(
            response.body, obtained: now(), requestedScopes: scopes, refreshToken: refreshToken,
            client: registered)
    }

    private func send(_ form: consuming SecretForm, to url: String) async throws -> HTTPResponse {
        form.append("client_id", registered.id)
        if let secret = registered.secret { form.append("client_secret", secret) }
        return try await form.send(to: url, http)
    }
}

/// The body of a request to the token endpoint: a form whose secrets never become a `String`.
nonisolated struct SecretForm {
    /// The size limit of a response of a login, in bytes.
    static let maximumResponse = 64 << 10

    private var bytes: [UInt8] = []
    private var secrets: [Secret] = []

    init() {
        // Growing the array would leave copies of secrets in memory. Known tokens fit; a longer form leaves such
        // copies.
        bytes.reserveCapacity(8 << 10)
    }

    mutating func append(_ name: String, _ value: String) {
        appendName(name)
        URLEncoding.escape(value.utf8, into: &bytes)
    }

    mutating func append(_ name: String, _ value: Secret) {
        secrets.append(value)
        appendName(name)
        value.withBytes { URLEncoding.escape($0, into: &bytes) }
    }

    private mutating func appendName(_ name: String) {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
        URLEncoding.escape(name.utf8, into: &bytes)
        bytes.append(UInt8(ascii: "="))
    }

    /// Sends the form, and overwrites it. The texts of the response do not repeat its secrets.
    mutating func send(to url: String, _ http: any HTTPClient) async throws -> HTTPResponse {
        var request = HTTPRequest(.post, url)
        request.headers.append("Content-Type", "application/x-www-form-urlencoded")
        request.headers.append("Accept", "application/json")
        request.body = bytes
        request.maximumBytes = Self.maximumResponse
        defer {
            bytes.wipe()
            request.body.wipe()
        }
        let response = try await http.send(request)
        // A granted token may be one that was sent.
        let isGrant =
            response.isSuccess
            && ServiceRecord(json: response.body)?.text("access_token") != nil
        return isGrant ? response : response.withholding(secrets)
    }
}
