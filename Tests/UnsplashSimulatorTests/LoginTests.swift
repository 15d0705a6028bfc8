import TestSupport
import Testing
import UnsplashSimulator

@Suite(.timeLimit(.minutes(10)))
struct LoginTests {
    private let unsplash: SimulatedUnsplash

    init() throws {
        unsplash = try .start()
        unsplash.addUser("ada")
    }

    private func token(_ response: LoopbackClient.Response) throws -> String {
        try #require(try response.document["access_token"]?.string)
    }

    @Test func `a code is exchanged for a token of the user`() async throws {
        let redirect = try await unsplash.approve(
            unsplash.authorizationURL(scope: "public+read_user"), as: "ada")
        #expect(redirect.address.hasPrefix("\(unsplash.webURL)/oauth/authorize/native?code="))
        let code = try #require(redirect["code"])
        #expect(redirect.response?.text.contains(code) == true)
        let response = try await unsplash.exchange(code)
        #expect(response.status == 200)
        let document = try response.document
        #expect(document["token_type"]?.string == "Bearer")
        #expect(document["username"]?.string == "ada")
        #expect(document["refresh_token"]?.string != nil)
        #expect(document["expires_in"] == nil)
        #expect(document["scope"]?.string == "public read_user")
        let profile = try await unsplash.send("/me", token: token(response)).document
        #expect(profile["username"]?.string == "ada")
    }

    @Test func `the redirect to loopback has the code and the state`() async throws {
        let listener = try LoopbackServer(LoopbackResponse(text: "You may close this window"))
        let address = "\(listener.origin)/callback"
        unsplash.settings.redirectURIs = [address]
        let redirect = try await unsplash.approve(
            unsplash.authorizationURL(redirectURI: address), as: "ada")
        #expect(redirect["state"] == "s/t")
        #expect(redirect.response?.text == "You may close this window")
        #expect(listener.requests.value.map(\.target).first?.hasPrefix("/callback?code=") == true)
    }

    @Test func `a denied authorization redirects with an error`() async throws {
        unsplash.settings.redirectURIs = ["com.example.program:/callback"]
        let redirect = try await unsplash.deny(
            unsplash.authorizationURL(redirectURI: "com.example.program:/callback"), as: "ada")
        #expect(redirect["error"] == "access_denied")
        #expect(redirect["state"] == "s/t")
        #expect(redirect.response == nil)
    }

    @Test(arguments: ["http://127.0.0.1:1/", "urn:ietf:wg:oauth:2.0:oob/"])
    func `an unregistered redirect address is an error page`(_ address: String) async throws {
        let error = await #expect(throws: NotRedirected.self) {
            try await unsplash.approve(
                unsplash.authorizationURL(redirectURI: address), as: "ada")
        }
        #expect(error?.page.contains("The redirect uri included is not valid.") == true)
    }

    @Test func `an unknown scope is an error`() async throws {
        unsplash.settings.redirectURIs = ["com.example.program:/callback"]
        let redirect = try await unsplash.approve(
            unsplash.authorizationURL(
                redirectURI: "com.example.program:/callback", scope: "public+write_all"),
            as: "ada")
        #expect(redirect["error"] == "invalid_scope")
    }

    @Test func `the authorization page lists the scopes and escapes the state`() async throws {
        let page = try await LoopbackClient.send(
            "GET", unsplash.authorizationURL(state: "%22%3E%3Cscript%3E"))
        #expect(page.text.contains("<li>write_likes</li>"))
        #expect(page.text.contains("value=\"&quot;&gt;&lt;script&gt;\""))
    }

    @Test func `a code is valid once, for ten minutes, for its redirect address`() async throws {
        func code() async throws -> String? {
            try await unsplash.approve(unsplash.authorizationURL(), as: "ada")["code"]
        }
        let first = try await code()
        #expect(try await unsplash.exchange(first).status == 200)
        let again = try await unsplash.exchange(first)
        #expect(again.status == 400)
        #expect(try again.document["error"]?.string == "invalid_grant")
        #expect(try await unsplash.exchange(code(), redirectURI: "urn:other").status == 400)
        let late = try await code()
        unsplash.advanceClock(seconds: 601)
        #expect(try await unsplash.exchange(late).status == 400)
    }

    @Test func `a wrong secret does not use up the code`() async throws {
        let code = try await unsplash.approve(unsplash.authorizationURL(), as: "ada")["code"]
        let response = try await unsplash.exchange(code, secret: "wrong")
        #expect(response.status == 401)
        #expect(try response.document["error"]?.string == "invalid_client")
        #expect(try await unsplash.exchange(code).status == 200)
    }

    @Test func `the token response may have the documented form`() async throws {
        unsplash.settings.tokenShape = .documented
        let code = try await unsplash.approve(unsplash.authorizationURL(), as: "ada")["code"]
        let document = try await unsplash.exchange(code).document
        #expect(document["token_type"]?.string == "bearer")
        #expect(document["refresh_token"] == nil && document["username"] == nil)
    }

    @Test func `tokens may expire and are rotated`() async throws {
        unsplash.settings.tokenLifetimeSeconds = 7200
        let old = unsplash.logIn("ada")
        unsplash.advanceClock(seconds: 7201)
        #expect(try await unsplash.send("/me", token: old.access).status == 401)
        let form =
            "client_id=\(unsplash.clientID)&client_secret=\(unsplash.clientSecret)"
            + "&grant_type=refresh_token&refresh_token=\(old.refresh)"
        let response = try await unsplash.sendForm("/oauth/token", form)
        #expect(try response.document["expires_in"] == .number(7200))
        #expect(try await unsplash.send("/me", token: token(response)).status == 200)
        #expect(try await unsplash.sendForm("/oauth/token", form).status == 400)
    }

    @Test func `tokens can be revoked by the program and by the user`() async throws {
        let token = unsplash.logIn("ada").access
        let response = try await unsplash.sendForm(
            "/oauth/revoke",
            "client_id=\(unsplash.clientID)&client_secret=\(unsplash.clientSecret)&token=\(token)")
        #expect(response.status == 200)
        #expect(!unsplash.isValid(token))
        #expect(unsplash.requests("POST /oauth/revoke").first?.fields["token"] == token)
        let other = unsplash.logIn("ada").access
        unsplash.revokeTokens(of: "ada")
        #expect(try await unsplash.send("/me", token: other).status == 401)
    }
}
