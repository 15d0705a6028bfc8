import FoundationEssentials
import MastodonSimulator
import TestSupport
import Testing

/// Compares responses of the simulator with recorded ones and with the known behaviour of servers.
@Suite(.timeLimit(.minutes(10)))
struct ServerTests {
    private func start(_ software: Software = .mastodon) throws -> SimulatedMastodon {
        let server = try SimulatedMastodon.start("photos.test", software)
        server.addUser("ada")
        return server
    }

    private func get(
        _ server: SimulatedMastodon, _ path: String, _ token: String? = nil,
        accept: String? = "application/json", method: String = "GET"
    ) async throws -> LoopbackClient.Response {
        var headers = token.map { [(name: "Authorization", value: "Bearer \($0)")] } ?? []
        if let accept { headers.append(("Accept", accept)) }
        return try await LoopbackClient.send(method, server.url + path, headers: headers)
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
        let object = try JSONDecoder().decode([String: Text].self, from: Data(response.body))
        return object[name]?.text ?? ""
    }

    /// A string or number as text; nil for other values.
    private struct Text: Decodable {
        let text: String?

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            text = (try? value.decode(String.self)) ?? (try? value.decode(Int.self)).map { "\($0)" }
        }
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
        _ server: SimulatedMastodon, scopes: String = "read+write",
        verifier: String = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
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
                + "&code=\(redirected["code"] ?? "")&redirect_uri=\(redirect)&code_verifier=\(verifier)"
        )
    }

    private func token(_ server: SimulatedMastodon) async throws -> String {
        try text("access_token", in: await logIn(server))
    }

    /// Returns the names of the members of an object, or of the first element of an array.
    private func names(_ json: [UInt8]) throws -> Set<String> {
        let value = try JSONDecoder().decode(Names.self, from: Data(json))
        return value.names
    }

    private struct Names: Decodable {
        var names: Set<String> = []

        private struct Key: CodingKey {
            let stringValue: String
            init?(stringValue: String) { self.stringValue = stringValue }
            let intValue: Int? = nil
            init?(intValue: Int) { nil }
        }

        init(from decoder: any Decoder) throws {
            if let object = try? decoder.container(keyedBy: Key.self) {
                names = Set(object.allKeys.map(\.stringValue))
            } else if let list = try? [Names](from: decoder) {
                names = list.first?.names ?? []
            }
        }
    }

    private let recordings = Recordings(
        beside: #filePath.replacing("MastodonSimulatorTests", with: "MastodonProviderTests"))

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

    @Test func `a wrong code verifier is rejected`() async throws {
        let server = try start()
        #expect(try await logIn(server).status == 200)
        let wrong = try await logIn(server, verifier: "wrong")
        #expect(wrong.status == 400)
        #expect(try text("error", in: wrong) == "invalid_grant")
        let old = try start(.oldMastodon)
        #expect(try await logIn(old, verifier: "wrong").status == 200)
        #expect(try await get(old, "/.well-known/oauth-authorization-server").status == 404)
    }

    @Test func `the last page links to an empty one`() async throws {
        let server = try start()
        let token = try await self.token(server)
        var path = "/api/v1/timelines/home?limit=40"
        var count = 0
        for _ in 0..<3 {
            let page = try await get(server, path, token)
            guard let link = page["Link"] else { break }
            #expect(link.contains(">; rel=\"next\", <"))
            count += 1
            let start = link.firstIndex(of: "<").map { link.index(after: $0) } ?? link.startIndex
            path = String(link[start...].prefix { $0 != ">" }.dropFirst(server.url.utf8.count))
        }
        #expect(count == 2)
    }

    @Test func `Pixelfed requires a token and the Accept field`() async throws {
        let server = try start(.pixelfed)
        let path = "/api/v1/timelines/public"
        #expect(try await get(server, path).status == 500)
        let page = try await get(server, path, accept: nil)
        #expect(page.status == 302)
        #expect(page["Location"]?.hasSuffix("/login") == true)
        let response = try await logIn(server)
        #expect(try text("refresh_token", in: response).isEmpty == false)
        #expect(try text("scope", in: response) == "")
        let list = try await get(server, path, text("access_token", in: response))
        #expect(list.status == 200)
        #expect(list["Link"]?.contains("\",<") == true)
        #expect(list["X-RateLimit-Limit"] == nil)
        // It does not support the scopes of Mastodon, and omits the state in the error.
        let client = try await register(server, scopes: "read")
        let redirected = try await server.approve(
            "\(server.url)/oauth/authorize?response_type=code&client_id=\(client.id)&redirect_uri=\(redirect)&scope=read%3Aaccounts&state=s",
            as: "ada")
        #expect(redirected["error"] == "invalid_scope")
        #expect(redirected["state"] == nil)
    }

    @Test func `an unfavourite may be delayed`() async throws {
        let server = try start()
        let token = try await self.token(server)
        let id = try #require(server.statuses.first?.id)
        let path = "/api/v1/statuses/\(id)"
        let liked = try await get(server, path + "/favourite", token, method: "POST")
        #expect(liked.text.contains("\"favourited\":true"))
        #expect(server.likes(of: "ada") == [id])
        server.settings.delaysUnfavourites = true
        let unliked = try await get(server, path + "/unfavourite", token, method: "POST")
        #expect(unliked.text.contains("\"favourited\":false"))
        #expect(try await get(server, path, token).text.contains("\"favourited\":true"))
        server.completeUnfavourites()
        #expect(try await get(server, path, token).text.contains("\"favourited\":false"))
    }

    @Test func `the remaining requests can be set before the first request of a window`()
        async throws
    {
        let server = try start()
        let token = try await self.token(server)
        let path = "/api/v1/timelines/home"
        #expect(try await get(server, path, token).status == 200)
        server.advanceClock(seconds: 300)
        server.leaveRequests(1)
        #expect(try await get(server, path, token).status == 200)
        #expect(try await get(server, path, token).status == 429)
        server.advanceClock(seconds: 300)
        #expect(try await get(server, path, token).status == 200)
    }

    @Test func `servers are independent and deterministic`() async throws {
        let first = try start()
        let second = try start()
        #expect(first.url != second.url)
        #expect(first.statuses.map(\.id) == second.statuses.map(\.id))
        #expect(first.photos().count < first.photos(showingSensitive: true).count)
        first.settings.isJapanese = true
        let refused = try await get(first, "/api/v1/timelines/home")
        #expect(refused.status == 401)
        #expect(refused.text.contains("アクセス"))
    }
}
