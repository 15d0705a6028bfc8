import EngineModel
import ProviderKit
import TestSupport
import Testing

@testable import EngineCore

/// Logins at named servers.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct FederationTests {
    private let federation = FakeFederation()
    private let fixture: EngineFixture

    init() throws { fixture = try federation.fixture() }

    @Test func `the notification of a failed login names the server and the remedy`() async throws {
        federation.state.update {
            $0.discoveryError = ProviderError.failed("One.example is of no use.")
        }
        let login = try federation.start(fixture)
        #expect(login.server == "one.example")
        let presenter = fixture.ports.presenter
        try await fixture.clock.endSleep(at: Login.waitGracePeriod)
        let number = try await presenter.waitFor("One.example is of no use.")
        #expect(presenter.notifications.value[number]?.title == "Login to one.example failed")
        #expect(
            presenter.notifications.value[number]?.remedies
                == [IssueRemedy(.login, .provider("federation", server: "one.example"))])
        // A login at another server does not resolve the issue.
        federation.state.update { $0.discoveryError = nil }
        try await federation.logIn(fixture, at: "two.example")
        #expect(presenter.notifications.value[number] != nil)
        try await federation.logIn(fixture)
        try await presenter.waitUntilEmpty()
    }

    @Test func `a notification about an account names its server`() async throws {
        let account = try await federation.logIn(fixture)
        account.reportFailedLike(PhotoID("1"), true, ProviderError.refused("Not now."))
        try await fixture.ports.presenter.waitFor(
            "1 like could not be sent for ada at one.example. Not now.")
    }

    @Test func `the error of a refused login does not repeat the client secret`() async throws {
        let login = try federation.start(fixture, at: "one.example")
        await login.prepared()
        try login.submit("?error=weird&error_description=It+is+secret-of-client-1")
        let error = await #expect(throws: EngineError.self) { _ = try await login.wait() }
        #expect("\(error, default: "")".contains("repeats the key"))
    }

    @Test func `a server that reports a temporary failure is not said to be faulty`() async throws {
        let login = try federation.start(fixture)
        await login.prepared()
        try login.submit("?error=temporarily_unavailable&error_description=Back+at+noon")
        let error = await #expect(throws: ProviderError.self) { _ = try await login.wait() }
        #expect(
            "\(error, default: "")"
                == "one.example cannot complete the login; try again later: Back at noon.")
    }

    @Test func `a login discovers the server before it has an authorization URL`() async throws {
        let login = try federation.start(fixture, at: "One.Example")
        #expect(login.authorizationURL.isEmpty)
        #expect(throws: EngineError.self) { try login.submit("code") }
        await login.prepared()
        #expect(login.authorizationURL.hasPrefix("https://one.example/authorize?"))
        #expect(login.authorizationURL.contains("client_id=client-1"))
        #expect(login.authorizationURL.contains("code_challenge_method=S256"))
        #expect(fixture.events.value.prefix(2) == ["login 1", "login 1 waiting"])
        try login.submit("code")
        let account = try await login.wait()
        #expect(account.id.text == "federation_ada_40one_2eexample")
        #expect(account.identity == AccountIdentity(username: "ada", server: "one.example"))
        let secrets = fixture.ports.secrets.state.value
        #expect(secrets.labels[.account(account.id.text)] == "Image Feed: ada at one.example")
        let kept = try #require(secrets.secrets[.server("one.example", of: "federation")])
        #expect(String(decoding: kept, as: UTF8.self).contains("secret-of-client-1"))
    }

    @Test func `a client is registered once per server`() async throws {
        let first = try federation.start(fixture)
        let second = try federation.start(fixture)
        await first.prepared()
        await second.prepared()
        #expect(federation.state.value.registrations == 1)
        let ada = try await federation.logIn(fixture)
        let bob = try await federation.logIn(fixture, "bob")
        let other = try await federation.logIn(fixture, at: "two.example")
        #expect(federation.state.value.registrations == 2)
        #expect(Set([ada, bob, other].map(\.id)).count == 3)
        #expect(try await federation.logIn(fixture, at: nil, for: other) === other)
        #expect(federation.state.value.registrations == 2)
    }

    @Test func `a lost registration or new scopes cause another registration`() async throws {
        try await federation.logIn(fixture)
        federation.state.update { $0.clients = [:] }
        try await federation.logIn(fixture)
        #expect(federation.state.value.registrations == 2)
        federation.state.update { $0.scopes = ["read", "write"] }
        let login = try federation.start(fixture)
        await login.prepared()
        #expect(federation.state.value.registrations == 3)
        #expect(login.authorizationURL.contains("scope=read%20write"))
    }

    @Test func `a server that shows no code gets a loopback redirect URI`() async throws {
        federation.state.update { $0.showsCode = false }
        let login = try federation.start(fixture)
        await login.prepared()
        #expect(login.authorizationURL.contains("redirect_uri=http%3A%2F%2F127.0.0.1%2Fcallback"))
        let request = try #require(fixture.ports.http.requests.value.first)
        #expect(
            String(decoding: request.body, as: UTF8.self).hasSuffix(
                "redirect_uris=http%3A%2F%2F127.0.0.1%2Fcallback"))
        await login.cancelAndWait()
    }

    @Test func `a login requires a valid server, which is that of the account`() async throws {
        #expect(throws: EngineError.self) { try federation.start(fixture, at: nil) }
        #expect(throws: ProviderError.self) { try federation.start(fixture, at: "nonsense") }
        let ada = try await federation.logIn(fixture)
        #expect(throws: EngineError.self) {
            try federation.start(fixture, at: "two.example", for: ada)
        }
        #expect(fixture.engine.isConfigured(federation))
    }

    @Test func `a server that discovery rejects fails the login`() async throws {
        let error = ProviderError.notSupported("one.example is something else.")
        federation.state.update { $0.discoveryError = error }
        let login = try federation.start(fixture)
        await #expect(throws: error) { _ = try await login.wait() }
        await login.prepared()
        #expect(login.authorizationURL.isEmpty && fixture.ports.secrets.state.value.secrets.isEmpty)
    }

    @Test func `a login without a keyring registers no client`() async throws {
        fixture.ports.secrets.state.update { $0.error = .unavailable("No keyring.") }
        let login = try federation.start(fixture)
        await login.expectFailure(SecretStoreError.unavailable("No keyring."))
        #expect(federation.state.value.registrations == 0)
    }

    @Test(arguments: [false, true])
    func `a discovery that took too long registers no client`(isCancelled: Bool) async throws {
        federation.state.update { $0.isHeld = true }
        let login = try federation.start(fixture)
        try await fixture.ports.clock.waitForSleeps(until: LoginList.discoveryTime)
        if isCancelled {
            let end = Task { await login.cancelAndWait() }
            try await fixture.events.wait { $0.contains("login 1 cancelled") ? true : nil }
            federation.state.update { $0.isHeld = false }
            await end.value
        } else {
            fixture.ports.clock.advance(by: LoginList.discoveryTime)
            await #expect(throws: ProviderError.self) { _ = try await login.wait() }
            federation.state.update { $0.isHeld = false }
        }
        try await federation.state.wait { $0.discoveries == 1 ? true : nil }
        // The work of the first login is finished before the second one ends.
        try await federation.logIn(fixture, at: "two.example")
        #expect(federation.state.value.registrations == 1)
        #expect(fixture.ports.http.requests.value.allSatisfy { $0.url.contains("two.example") })
    }

    @Test func `a failed login does not revoke a token that an account uses`() async throws {
        federation.state.update { $0.reusesTokens = true }
        let ada = try await federation.logIn(fixture)
        let bob = try await federation.logIn(fixture, "bob", at: "two.example")
        // Ada logs in instead of Bob, and her server issues the token that she already has.
        await #expect(throws: EngineError.self) {
            try await federation.logIn(fixture, at: nil, for: bob)
        }
        #expect(federation.state.value.revoked.isEmpty)
        try await fixture.engine.accounts.logOut(ada)
    }

    @Test func `a login from a notification opens the address after the discovery`() async throws {
        let ada = try await federation.logIn(fixture)
        await fixture.engine.logInAgain(.account(ada.id), activationToken: "token")
        let opened = fixture.ports.opened.value
        #expect(opened.count == 1)
        #expect(opened.first?.hasPrefix("https://one.example/authorize?") == true)
        for login in fixture.engine.logins.all { await login.cancelAndWait() }
    }

    @Test func `a login from a notification reports an unreachable server`() async throws {
        let ada = try await federation.logIn(fixture)
        federation.state.update { $0.discoveryError = HTTPError.unreachable("no such host") }
        await fixture.engine.logInAgain(.account(ada.id), activationToken: "token")
        #expect(fixture.ports.opened.value.isEmpty)
        try await fixture.clock.endSleep(at: Login.waitGracePeriod)
        try await fixture.ports.presenter.notifications.wait { $0.isEmpty ? nil : true }
    }
}
