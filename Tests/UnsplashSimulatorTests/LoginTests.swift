import TestSupport
import Testing
import UnsplashSimulator

@Suite(.timeLimit(.minutes(1)))
struct LoginTests {
    private let unsplash: SimulatedUnsplash

    init() throws {
        unsplash = try .start()
        unsplash.addUser("ada")
    }

    private func token(_ answer: LoopbackClient.Answer) throws -> String {
        try #require(try answer.document["access_token"]?.string)
    }

    @Test func `a code becomes a token of the user who approved`() async throws {
        let redirect = try await unsplash.approve(
            unsplash.authorizationURL(scope: "public+read_user"), as: "ada")
        #expect(redirect.address.hasPrefix("\(unsplash.webURL)/oauth/authorize/native?code="))
        let code = try #require(redirect["code"])
        #expect(redirect.answer?.text.contains(code) == true)
        let answer = try await unsplash.exchange(code)
        #expect(answer.status == 200)
        let document = try answer.document
        #expect(document["token_type"]?.string == "Bearer")
        #expect(document["username"]?.string == "ada")
        #expect(document["refresh_token"]?.string != nil)
        #expect(document["expires_in"] == nil)
        #expect(document["scope"]?.string == "public read_user")
        let profile = try await unsplash.ask("/me", token: token(answer)).document
        #expect(profile["username"]?.string == "ada")
    }

    @Test func `the browser brings code and state to a program on this machine`() async throws {
        let listener = try LoopbackServer(LoopbackResponse(text: "You may close this window"))
        let address = "\(listener.origin)/callback"
        unsplash.settings.redirectURIs = [address]
        let redirect = try await unsplash.approve(
            unsplash.authorizationURL(redirectURI: address), as: "ada")
        #expect(redirect["state"] == "s/t")
        #expect(redirect.answer?.text == "You may close this window")
        #expect(listener.requests.value.map(\.target).first?.hasPrefix("/callback?code=") == true)
    }

    @Test func `who denies is led back with an error`() async throws {
        unsplash.settings.redirectURIs = ["com.example.program:/callback"]
        let redirect = try await unsplash.deny(
            unsplash.authorizationURL(redirectURI: "com.example.program:/callback"), as: "ada")
        #expect(redirect["error"] == "access_denied")
        #expect(redirect["state"] == "s/t")
        #expect(redirect.answer == nil)
    }

    @Test(arguments: ["http://127.0.0.1:1/", "urn:ietf:wg:oauth:2.0:oob/"])
    func `a redirect address that is not registered gets a page`(_ address: String) async throws {
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

    @Test func `the page names what is asked, and no more than text`() async throws {
        let page = try await LoopbackClient.send(
            "GET", unsplash.authorizationURL(state: "%22%3E%3Cscript%3E"))
        #expect(page.text.contains("<li>write_likes</li>"))
        #expect(page.text.contains("value=\"&quot;&gt;&lt;script&gt;\""))
    }

    @Test func `a code is good once, for ten minutes, for its address`() async throws {
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
        let answer = try await unsplash.exchange(code, secret: "wrong")
        #expect(answer.status == 401)
        #expect(try answer.document["error"]?.string == "invalid_client")
        #expect(try await unsplash.exchange(code).status == 200)
    }

    @Test func `tokens may come as documented`() async throws {
        unsplash.settings.tokenShape = .documented
        let code = try await unsplash.approve(unsplash.authorizationURL(), as: "ada")["code"]
        let document = try await unsplash.exchange(code).document
        #expect(document["token_type"]?.string == "bearer")
        #expect(document["refresh_token"] == nil && document["username"] == nil)
    }

    @Test func `tokens may expire, and are rotated`() async throws {
        unsplash.settings.tokenLifetimeSeconds = 7200
        let old = unsplash.logIn("ada")
        unsplash.advanceClock(seconds: 7201)
        #expect(try await unsplash.ask("/me", token: old.access).status == 401)
        let form =
            "client_id=\(unsplash.clientID)&client_secret=\(unsplash.clientSecret)"
            + "&grant_type=refresh_token&refresh_token=\(old.refresh)"
        let answer = try await unsplash.sendForm("/oauth/token", form)
        #expect(try answer.document["expires_in"] == .number(7200))
        #expect(try await unsplash.ask("/me", token: token(answer)).status == 200)
        #expect(try await unsplash.sendForm("/oauth/token", form).status == 400)
    }

    @Test func `tokens can be revoked by the program and by the user`() async throws {
        let token = unsplash.logIn("ada").access
        let answer = try await unsplash.sendForm(
            "/oauth/revoke",
            "client_id=\(unsplash.clientID)&client_secret=\(unsplash.clientSecret)&token=\(token)")
        #expect(answer.status == 200)
        #expect(!unsplash.isValid(token))
        #expect(unsplash.requests("POST /oauth/revoke").first?.fields["token"] == token)
        let other = unsplash.logIn("ada").access
        unsplash.revokeTokens(of: "ada")
        #expect(try await unsplash.ask("/me", token: other).status == 401)
    }
}
