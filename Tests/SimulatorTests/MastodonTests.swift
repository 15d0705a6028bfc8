import JSONFormat
import MastodonSimulator
import TestSupport
import Testing

/// Compares responses of the simulator with recorded ones.
@Suite(.timeLimit(.minutes(10)))
struct MastodonTests {
    private func start() throws -> SimulatedMastodon {
        let server = try SimulatedMastodon.start("photos.test", .mastodon)
        server.addUser("ada")
        return server
    }

    private func get(
        _ server: SimulatedMastodon, _ path: String, _ token: String
    ) async throws -> LoopbackClient.Response {
        try await LoopbackClient.send(
            "GET", server.url + path,
            headers: [("Authorization", "Bearer \(token)"), ("Accept", "application/json")])
    }

    private func form(
        _ server: SimulatedMastodon, _ path: String, _ fields: String
    ) async throws -> LoopbackClient.Response {
        try await LoopbackClient.send(
            "POST", server.url + path,
            headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(fields.utf8))
    }

    private func text(_ name: String, in response: LoopbackClient.Response) throws -> String {
        try response.json[name]?.string ?? ""
    }

    private let redirect = "http%3A%2F%2F127.0.0.1%2Fcallback"

    private func register(
        _ server: SimulatedMastodon, scopes: String
    ) async throws -> (id: String, secret: String) {
        let response = try await form(
            server, "/api/v1/apps",
            "client_name=Test&redirect_uris=\(redirect)&scopes=\(scopes)")
        return (try text("client_id", in: response), try text("client_secret", in: response))
    }

    /// Logs in with the verifier of RFC 7636, appendix B.
    private func logIn(
        _ server: SimulatedMastodon, scopes: String = "read+write"
    ) async throws -> LoopbackClient.Response {
        let client = try await register(server, scopes: scopes)
        let redirected = try await server.approve(
            "\(server.url)/oauth/authorize?response_type=code&client_id=\(client.id)&redirect_uri=\(redirect)"
                + "&scope=\(scopes)&state=s&code_challenge_method=S256"
                + "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
            as: "ada")
        #expect(redirected["state"] == "s")
        return try await form(
            server, "/oauth/token",
            "grant_type=authorization_code&client_id=\(client.id)&client_secret=\(client.secret)"
                + "&code=\(redirected["code"] ?? "")&redirect_uri=\(redirect)&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
        )
    }

    private func token(_ server: SimulatedMastodon) async throws -> String {
        try text("access_token", in: await logIn(server))
    }

    /// Returns the names of the members of an object, or of the first element of an array.
    private func names(_ json: [UInt8]) throws -> Set<String> {
        let value = try JSONFormat.JSON(parsing: json)
        return Set((value.elements.first ?? value).members.map(\.name))
    }

    private let recordings = Recordings(
        beside: #filePath.replacing("SimulatorTests", with: "MastodonProviderTests"))

    @Test func `statuses and accounts have the recorded members`() async throws {
        let server = try start()
        let home = try await get(server, "/api/v1/timelines/home", token(server))
        #expect(home.status == 200)
        #expect(try names(home.body) == names(recordings.body("timelines_home_200")))
        let me = try await get(
            server, "/api/v1/accounts/verify_credentials", token(server))
        #expect(
            try names(me.body) == names(recordings.body("accounts_verify_credentials_200")))
        let limits = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "link"]
        for name in limits { #expect(home[name] != nil) }
        #expect(home["X-RateLimit-Reset"]?.hasSuffix(".336319Z") == true)
    }

    @Test func `a registration response has the recorded members`() async throws {
        let server = try start()
        let response = try await form(
            server, "/api/v1/apps", "client_name=T&redirect_uris=\(redirect)&scopes=read")
        #expect(try names(response.body) == names(recordings.body("apps_create_200")))
        #expect(try await form(server, "/api/v1/apps", "client_name=T").status == 422)
        #expect(server.registrations == 1)
    }
}
