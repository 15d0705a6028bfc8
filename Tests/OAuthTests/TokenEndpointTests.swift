import ProviderKit
import TestSupport
import Testing

@testable import OAuth

struct TokenEndpointTests {
    private static let time = Timestamp(secondsSince1970: 1_800_000_000)

    private func endpoint(
        _ http: ScriptedHTTP, _ description: OAuthDescription = .sample,
        secret: String? = "top secret"
    ) -> TokenEndpoint {
        let client = RegisteredClient(
            description: description, id: "app", secret: secret.map { Secret($0) })
        return TokenEndpoint(client, http, now: { Self.time })
    }

    private func request(_ description: OAuthDescription = .sample) -> AuthorizationRequest {
        var generator = CountingGenerator()
        return AuthorizationRequest(description, clientID: "app", using: &generator)
    }

    private func exchange(_ http: ScriptedHTTP) async throws -> OAuthToken {
        try await endpoint(http).exchange(Secret("abc"), for: request())
    }

    private func token(_ access: String = "access", refresh: String? = "old") -> OAuthToken {
        OAuthToken(
            accessToken: Secret(access), refreshToken: refresh.map { Secret($0) },
            scopes: ["read"], obtained: Self.time, expires: nil)
    }

    private let revocable = OAuthDescription.sample {
        $0.revocationURL = "https://photos.example/oauth/revoke"
    }

    @Test func `a code is exchanged for a token`() async throws {
        let http = ScriptedHTTP(
            200,
            """
            {"access_token":"at","token_type":"Bearer","refresh_token":"rt","expires_in":7200,
             "scope":"public","created_at":1436544465,"user_id":1,"username":"ada"}
            """)
        let token = try await endpoint(http).exchange(Secret("a+b/c"), for: request())
        #expect(token.accessToken.text == "at")
        #expect(token.refreshToken?.text == "rt")
        #expect(token.scopes == ["public"])
        #expect(token.obtained == Self.time)
        #expect(token.expires == Self.time + .seconds(7200))
        let sent = http.requests.value[0]
        #expect(sent.url == "https://photos.example/oauth/token")
        #expect(
            sent.text == """
                grant_type=authorization_code&code=a%2Bb%2Fc\
                &redirect_uri=urn%3Aietf%3Awg%3Aoauth%3A2.0%3Aoob\
                &client_id=app&client_secret=top%20secret
                """)
    }

    @Test(arguments: [400, 401, 403, 500])
    func `an error that repeats a secret of the request has no text`(status: Int) async throws {
        let description = OAuthDescription.sample { $0.usesPKCE = true }
        let request = request(description)
        let code = "a-long-code/+="
        let verifier = try #require(request.verifier).text
        for secret in ["top secret", "top%20secret", code, verifier, String(verifier.dropLast(9))] {
            for member in ["error", "error_description", "message"] {
                let http = ScriptedHTTP(
                    status, "{\"\(member)\":\"cannot use <\(secret)>\",\"error\":\"nope\"}")
                let error = await #expect(throws: OAuthError.self) {
                    _ = try await endpoint(http, description).exchange(Secret(code), for: request)
                }
                #expect(!"\(error as Any)".contains(secret))
            }
        }
        // An error with a status of success.
        let http = ScriptedHTTP(200, #"{"error":"x","error_description":"top secret"}"#)
        let error = await #expect(throws: OAuthError.self) {
            _ = try await endpoint(http).exchange(Secret(code), for: request)
        }
        #expect(!"\(error as Any)".contains("top secret"))
    }

    @Test func `the verifier is sent, and no empty client secret`() async throws {
        let description = OAuthDescription.sample { $0.usesPKCE = true }
        let http = ScriptedHTTP(200, #"{"access_token":"at"}"#)
        let request = request(description)
        _ = try await endpoint(http, description, secret: nil).exchange(Secret("abc"), for: request)
        let body = http.requests.value[0].text
        #expect(body.contains("&code_verifier=\(request.verifier?.text ?? "?")&"))
        #expect(!body.contains("client_secret"))
    }

    @Test(arguments: [
        (#"{"access_token":"at"}"#, nil), (#"{"access_token":"at","expires_in":"60"}"#, 60),
        (#"{"access_token":"at","expires_in":60.7,"token_type":"BEARER"}"#, 60),
        (#"{"access_token":"at","expires_in":0,"refresh_token":null}"#, nil),
        (#"{"access_token":"at","expires_in":-5,"scope":5}"#, nil),
        (#"{"access_token":"at","expires_in":1e300}"#, nil),
        (#"{"access_token":"at","expires_in":"soon","refresh_token":""}"#, nil),
        (#"{"access_token":"at","expires_in":"nan"}"#, nil),
        (#"{"access_token":"at","expires_in":true,"created_at":"x"}"#, nil),
    ])
    func `only the access token is required`(body: String, lifetime: Int64?) async throws {
        let token = try await exchange(ScriptedHTTP(200, body))
        #expect(token.expires == lifetime.map { Self.time + .seconds($0) })
        #expect(token.refreshToken == nil)
        #expect(token.scopes == ["public", "write_likes"])
    }

    @Test(arguments: [#""a b""#, #""a,b""#, #"["a","b"]"#])
    func `scopes may be text or a list`(scopes: String) async throws {
        let http = ScriptedHTTP(200, #"{"access_token":"at","scope":\#(scopes)}"#)
        #expect(try await exchange(http).scopes == ["a", "b"])
    }

    @Test(arguments: [
        "", "<html>", "[]", "{}", "null", #"{"access_token":5}"#, #"{"access_token":""}"#,
        #"{"access_token":"a\r\nb"}"#, #"{"access_token":"ä"}"#, #"{"access_token":"a"#,
        #"{"access_token":"at","token_type":"mac"}"#,
    ])
    func `an invalid response is no token`(body: String) async {
        let error = await #expect(throws: OAuthError.self) {
            try await exchange(ScriptedHTTP(200, body))
        }
        guard case .serviceFailed(let text) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.hasPrefix("The token "))
    }

    @Test(arguments: [
        (400, #"{"error":"invalid_grant","error_description":"old"}"#, OAuthError.invalidGrant),
        (401, #"{"error":"invalid_grant"}"#, .invalidGrant),
        (401, #"{"error":"invalid_client"}"#, .invalidClient),
        (200, #"{"error":"invalid_grant"}"#, .invalidGrant),
        (403, #"{"error":"access_denied"}"#, .denied),
        (
            400, #"{"error":"invalid_scope","error_description":"a\u0000\nb"}"#,
            .refused("invalid_scope: a b")
        ),
        (429, "", .rateLimited(until: Timestamp(secondsSince1970: 1_800_000_060))),
        // Pixelfed, Laravel, old Takahē.
        (
            401,
            #"{"error":"invalid_request","error_description":"Bad.","hint":"Token has been revoked"}"#,
            .refused("invalid_request: Bad.")
        ),
        (401, #"{"message":"Unauthenticated."}"#, .refused("Unauthenticated.")),
        (401, #"{"error":"invalid_client_id"}"#, .invalidClient),
        (408, #"{"error":"timeout"}"#, .serviceFailed("The token response has status 408.")),
        (400, "<html>", .serviceFailed("The token response has status 400.")),
        (401, #"{"errors":["x"]}"#, .serviceFailed("The token response has status 401.")),
        (500, #"{"error":"invalid_grant"}"#, .serviceFailed("The token response has status 500.")),
        (503, "", .serviceFailed("The token response has status 503.")),
        (302, "", .serviceFailed("The token response has status 302.")),
    ])
    func `errors are distinguished`(status: Int, body: String, error: OAuthError) async {
        let headers: HTTPHeaders = status == 429 ? ["Retry-After": "60"] : [:]
        await #expect(throws: error) { try await exchange(.init(status, body, headers)) }
    }

    @Test func `a network error is passed on`() async {
        await #expect(throws: HTTPError.unreachable("no route")) {
            try await endpoint(ScriptedHTTP([])).refresh(token())
        }
    }

    @Test func `a refresh keeps the old refresh token unless a new one comes`() async throws {
        let http = ScriptedHTTP([
            .sample(200, #"{"access_token":"a1"}"#),
            .sample(200, #"{"access_token":"a2","refresh_token":"new"}"#),
        ])
        let first = try await endpoint(http).refresh(token())
        #expect(first.accessToken.text == "a1")
        #expect(first.refreshToken?.text == "old")
        #expect(first.scopes == ["read"])
        let second = try await endpoint(http).refresh(first)
        #expect(second.refreshToken?.text == "new")
        #expect(
            http.requests.value[0].text == """
                grant_type=refresh_token&refresh_token=old&client_id=app&client_secret=top%20secret
                """)
        await #expect(throws: OAuthError.noRefreshToken) {
            try await endpoint(http).refresh(token(refresh: nil))
        }
    }

    @Test func `both tokens are revoked if the service has a revocation endpoint`() async throws {
        let http = ScriptedHTTP([
            .sample(200, "{}"), .sample(200, ""),
            .sample(403, #"{"error":"unauthorized_client"}"#),
            .sample(200, "{}"),
        ])
        try await endpoint(http).revoke(token())
        #expect(http.requests.value.isEmpty)
        try await endpoint(http, revocable).revoke(token())
        #expect(
            http.requests.value.map(\.text) == [
                "token=old&token_type_hint=refresh_token&client_id=app&client_secret=top%20secret",
                "token=access&token_type_hint=access_token&client_id=app&client_secret=top%20secret",
            ])
        // Both tokens are revoked, even if one is refused.
        await #expect(throws: OAuthError.refused("unauthorized_client")) {
            try await endpoint(http, revocable).revoke(token())
        }
        #expect(http.requests.value.count == 4)
    }

    @Test func `a token is issued, renewed, stored and revoked with its client`() async throws {
        let reply = #"{"access_token":"access","refresh_token":"refresh"}"#
        let http = ScriptedHTTP([reply, reply, "{}", "{}"].map { .sample(200, $0) })
        let issued = try await endpoint(http, revocable).exchange(Secret("abc"), for: request())
        #expect(issued.client?.id == "app")
        let renewed = try await endpoint(http, revocable).refresh(issued)
        let stored = try #require(OAuthToken(encoded: renewed.encoded)?.client)
        #expect(stored.secret?.matches(Secret("top secret")) == true)
        try await TokenEndpoint(stored, http).revoke(renewed)
        #expect(
            http.requests.value.suffix(2).map(\.text) == [
                "token=refresh&token_type_hint=refresh_token&client_id=app&client_secret=top%20secret",
                "token=access&token_type_hint=access_token&client_id=app&client_secret=top%20secret",
            ])
        // A token of an earlier version has no client.
        #expect(OAuthToken(encoded: token().encoded)?.client == nil)
    }

    @Test(
        arguments: [
            ("a", "r", true), ("a", nil, true), ("b", "r", true), ("b", "s", false),
            ("b", nil, false),
        ] as [(String, String?, Bool)])
    func `tokens with an equal access or refresh token share a secret`(
        access: String, refresh: String?, isShared: Bool
    ) {
        let other = token(access, refresh: refresh)
        #expect(token("a", refresh: "r").sharesSecret(with: other) == isShared)
        #expect(!token("a", refresh: nil).sharesSecret(with: token("b", refresh: nil)))
    }

    @Test(arguments: [
        (400, #"{"error":"invalid_grant"}"#, true), (401, #"{"error":"invalid_client"}"#, false),
        (400, #"{"error":"invalid_client"}"#, false), (200, "{}", true), (500, "", true),
        (429, "", true), (401, "<html>", true),
        // Friendica, Akkoma, Takahē, and snac for an unknown client.
        (401, #"{"error":"Unauthorized"}"#, true), (400, #"{"error":"Invalid credentials"}"#, true),
        (500, "<html>", true), (401, "", false), (200, "<html>", true),
    ])
    func `the response to an invalid code shows if the client is known`(
        status: Int, body: String, isKnown: Bool
    ) async throws {
        let http = ScriptedHTTP(status, body)
        #expect(try await endpoint(http).knowsClient() == isKnown)
        let request = try #require(http.requests.value.first)
        #expect(request.url == "https://photos.example/oauth/token")
        #expect(request.text.contains("code=none"))
        #expect(request.text.contains("client_secret=top%20secret"))
    }

    @Test func `a token for an invalid code is revoked`() async throws {
        let http = ScriptedHTTP([.sample(200, #"{"access_token":"at"}"#), .sample(200, "{}")])
        #expect(try await !endpoint(http, revocable).knowsClient())
        #expect(http.requests.value.last?.text.hasPrefix("token=at&") == true)
    }
}
