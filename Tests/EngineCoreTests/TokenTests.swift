import EngineModel
import OAuth
import ProviderKit
import TestSupport
import Testing

@testable import EngineCore
@testable import Services

/// Tokens with their clients: renewed and revoked by the client that they were issued to, and revoked when they are
/// not used any more.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct TokenTests {
    private let federation = FakeFederation()
    private let fixture: EngineFixture

    init() throws { fixture = try federation.fixture() }

    private func waitForLiveTokens(_ tokens: Set<String>) async throws {
        try await federation.state.wait { Set($0.live.keys) == tokens ? true : nil }
    }

    private func storedToken(_ fixture: EngineFixture, _ account: Account) -> OAuthToken? {
        fixture.ports.secrets.state.value.secrets[.account(account.id.text)].flatMap {
            OAuthToken(encoded: Secret($0))
        }
    }

    // MARK: The client of a token

    @Test func `a token is renewed and revoked by the client that got it`() async throws {
        federation.state.update { $0.lifetime = 7200 }
        let ada = try await federation.logIn(fixture)
        federation.state.update { $0.scopes = ["read", "write"] }
        try await federation.logIn(fixture, "bob")
        #expect(federation.state.value.registrations == 2)
        #expect(federation.state.value.live == ["token-1": "client-1", "token-2": "client-2"])
        let credentials = try #require(ada.remote?.credentials)
        let renewed = try await credentials.renew(insteadOf: Secret("token-1"))
        #expect(renewed.accessToken.matches(Secret("token-3")))
        #expect(federation.state.value.live == ["token-3": "client-1", "token-2": "client-2"])
        #expect(storedToken(fixture, ada)?.client?.id == "client-1")
        #expect(ada.remote?.credentials.problem == nil)
        try await fixture.engine.accounts.logOut(ada)
        try await waitForLiveTokens(["token-2"])
        #expect(fixture.ports.http.requests.value.last?.url == "https://one.example/revoke")
    }

    // MARK: Replaced tokens

    @Test func `a login revokes the token that it replaces, a removal the rest`() async throws {
        let ada = try await federation.logIn(fixture)
        try await federation.logIn(fixture)
        try await federation.logIn(fixture, for: ada)
        try await waitForLiveTokens(["token-3"])
        #expect(storedToken(fixture, ada)?.accessToken.matches(Secret("token-3")) == true)
        try await fixture.engine.accounts.remove(ada)
        #expect(fixture.ports.secrets.state.value.secrets.isEmpty)
        try await waitForLiveTokens([])
        #expect(Set(federation.state.value.revoked) == ["token-1", "token-2", "token-3"])
    }

    @Test func `a token that a server issues again is not revoked`() async throws {
        federation.state.update { $0.reusesTokens = true }
        let ada = try await federation.logIn(fixture)
        try await federation.logIn(fixture, for: ada)
        federation.state.update { $0.reusesTokens = false }
        // Its revocation would have come before this one.
        for _ in 1...2 { try await federation.logIn(fixture, "bob", at: "two.example") }
        try await federation.state.wait { $0.revoked.contains("token-1") ? true : nil }
        #expect(federation.state.value.revoked == ["token-1"])
        #expect(Set(federation.state.value.live.keys) == ["token-0", "token-2"])
    }

    @Test func `a token that was left in the keyring is revoked by the next login`() async throws {
        let ada = try await federation.logIn(fixture)
        let left = try #require(fixture.ports.secrets.state.value.secrets[.account(ada.id.text)])
        federation.state.update { $0.refusesRevocations = true }
        try await fixture.engine.accounts.remove(ada)
        fixture.engine.revocations.stop()
        fixture.ports.secrets.state.update {
            $0.secrets[.account("federation_ada_40one_2eexample")] = left
        }
        federation.state.update { $0.refusesRevocations = false }
        try await federation.logIn(fixture)
        try await waitForLiveTokens(["token-2"])
    }

    @Test func `a login that cannot be stored leaves the account its token`() async throws {
        let ada = try await federation.logIn(fixture, "ada", "1")
        try fixture.breakStore()
        // The rename has to be stored.
        let login = try federation.start(fixture, "eve", "1")
        await login.prepared()
        try login.submit("code")
        await #expect(throws: (any Error).self) { _ = try await login.wait() }
        try await waitForLiveTokens(["token-1"])
        #expect(storedToken(fixture, ada)?.accessToken.matches(Secret("token-1")) == true)
        #expect(ada.identity.username == "ada")
    }

    @Test(arguments: [false, true])
    func `a logout that cannot be stored keeps the token`(isRemoval: Bool) async throws {
        let ada = try await federation.logIn(fixture)
        let accounts = fixture.engine.accounts
        try fixture.breakStore(isRemoval ? "DELETE" : "UPDATE")
        await #expect(throws: (any Error).self) {
            try await accounts.end(ada, isRemoval: isRemoval)
        }
        #expect(ada.isLoggedIn)
        #expect(storedToken(fixture, ada)?.accessToken.matches(Secret("token-1")) == true)
        let token = try await ada.remote?.credentials.validToken()
        #expect(token?.accessToken.matches(Secret("token-1")) == true)
        try fixture.repairStore()
        try await accounts.end(ada, isRemoval: isRemoval)
        #expect(storedToken(fixture, ada) == nil)
        try await waitForLiveTokens([])
        #expect(federation.state.value.revoked == ["token-1"])
    }

    @Test func `without its provider, an account is removed with its registration`() async throws {
        let first = try federation.fixture()
        try await federation.logIn(first)
        first.engine.stop()
        let fixture = try EngineFixture(first.directory, providers: [])
        let federation = federation
        fixture.ports.http.answer.update { $0 = { try federation.answer($0) } }
        let secrets = first.ports.secrets.state.value
        fixture.ports.secrets.state.update { $0 = secrets }
        fixture.engine.start()
        try await fixture.engine.accounts.remove(try #require(fixture.engine.accounts.all.first))
        #expect(fixture.ports.secrets.state.value.secrets.isEmpty)
        try await waitForLiveTokens([])
    }

    // MARK: Registrations

    @Test func `the registration at a server goes with its last account`() async throws {
        let ada = try await federation.logIn(fixture)
        let bob = try await federation.logIn(fixture, "bob")
        let other = try await federation.logIn(fixture, at: "two.example")
        func servers() -> Set<String> {
            Set(
                fixture.ports.secrets.state.value.secrets.keys.compactMap { key in
                    if case .server(let name, _) = key { name } else { nil }
                })
        }
        try await fixture.engine.accounts.remove(ada)
        #expect(servers() == ["one.example", "two.example"])
        // A logged-out account needs it for the next login.
        try await fixture.engine.accounts.logOut(bob)
        #expect(servers() == ["one.example", "two.example"])
        try await fixture.engine.accounts.remove(bob)
        #expect(servers() == ["two.example"])
        try await fixture.engine.accounts.remove(other)
        #expect(fixture.ports.secrets.state.value.secrets.isEmpty)
        try await waitForLiveTokens([])
    }

    @Test func `a failed login leaves no secret and needs no other registration`() async throws {
        let cancelled = try federation.start(fixture)
        await cancelled.prepared()
        cancelled.cancel()
        let expired = try federation.start(fixture)
        await expired.prepared()
        federation.state.update { $0.clients["one.example"] = [] }
        try expired.submit("code")
        await #expect(throws: EngineError.self) { _ = try await expired.wait() }
        federation.state.update { $0.clients["one.example"] = ["client-1"] }
        #expect(fixture.ports.secrets.state.value.secrets.isEmpty)
        try await federation.logIn(fixture)
        #expect(federation.state.value.registrations == 1)
        #expect(fixture.ports.secrets.state.value.secrets.count == 2)
    }

    // MARK: Logins that fail

    @Test func `a token that arrives after the login was cancelled is revoked`() async throws {
        let login = try federation.start(fixture)
        await login.prepared()
        let http = fixture.ports.http
        http.heldAddresses.update { $0 = ["/token"] }
        try login.submit("code")
        try await federation.state.wait { $0.live.isEmpty ? nil : true }
        // Does not wait for the server.
        login.cancel()
        #expect(login.state == .cancelled)
        http.heldAddresses.update { $0 = [] }
        try await waitForLiveTokens([])
        #expect(fixture.ports.secrets.state.value.secrets.isEmpty)
        #expect(fixture.engine.accounts.all.isEmpty)
    }

    @Test func `the token of another user than expected is revoked`() async throws {
        let ada = try await federation.logIn(fixture)
        await #expect(throws: EngineError.self) {
            try await federation.logIn(fixture, "bob", for: ada)
        }
        try await waitForLiveTokens(["token-1"])
    }

    // MARK: Servers that cannot be reached

    @Test(arguments: [false, true])
    func `a revocation is repeated until the server can be reached`(byClock: Bool) async throws {
        let ada = try await federation.logIn(fixture)
        federation.state.update { $0.refusesRevocations = true }
        try await fixture.engine.accounts.logOut(ada)
        #expect(!ada.isLoggedIn)
        #expect(storedToken(fixture, ada) == nil)
        // The time at which the finished login is forgotten is the same.
        try await fixture.clock.waitForSleeps(until: .seconds(60), begun: 2)
        #expect(federation.state.value.live.count == 1)
        federation.state.update { $0.refusesRevocations = false }
        if byClock {
            fixture.clock.advance(by: .seconds(60))
        } else {
            fixture.engine.setOnline(false)
            fixture.engine.setOnline(true)
        }
        try await waitForLiveTokens([])
    }

    @Test(arguments: [false, true])
    func `a removal reports a token that cannot be revoked`(refusesRevocations: Bool) async throws {
        let ada = try await federation.logIn(fixture)
        federation.state.update { $0.refusesRevocations = refusesRevocations }
        try await fixture.engine.accounts.remove(ada)
        let expected = ["token remains \(ada.id)", "removed \(ada.id)"]
        #expect(
            fixture.events.value.filter(expected.contains)
                == (refusesRevocations ? expected : [expected[1]]))
    }

    @Test func `a token that is issued again is not revoked later`() async throws {
        federation.state.update { $0.reusesTokens = true }
        let ada = try await federation.logIn(fixture)
        federation.state.update { $0.refusesRevocations = true }
        try await fixture.engine.accounts.logOut(ada)
        try await fixture.clock.waitForSleeps(until: .seconds(60), begun: 2)
        try await federation.logIn(fixture)
        federation.state.update { $0.refusesRevocations = false }
        fixture.engine.retryNow()
        // A revocation that was repeated would come before this one.
        federation.state.update { $0.reusesTokens = false }
        let bob = try await federation.logIn(fixture, "bob", at: "two.example")
        try await fixture.engine.accounts.logOut(bob)
        try await federation.state.wait { $0.revoked.contains("token-1") ? true : nil }
        #expect(Set(federation.state.value.live.keys) == ["token-0"])
        #expect(ada.isLoggedIn)
    }
}
