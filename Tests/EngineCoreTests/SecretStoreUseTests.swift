import EngineModel
import OAuth
import ProviderKit
import TestSupport
import Testing

@testable import EngineCore
@testable import Services

/// The use of the secret store by accounts and logins.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct SecretStoreUseTests {
    private let federation = FakeFederation()
    private let fixture: EngineFixture

    init() throws { fixture = try federation.fixture() }

    // MARK: Logins

    @Test func `the time in a prompt does not count as time of the server`() async throws {
        let secrets = fixture.ports.secrets.state
        let ada = try await federation.logIn(fixture)
        try await fixture.engine.accounts.logOut(ada)
        secrets.update {
            $0.lockedKeys = [.server("one.example", of: "federation")]
            $0.holdsPrompts = true
        }
        let login = try federation.start(fixture)
        try await secrets.wait { $0.waitingPrompts == 1 ? true : nil }
        fixture.ports.clock.advance(by: .seconds(100))
        secrets.update { $0.holdsPrompts = false }
        await login.prepared()
        #expect(login.error == nil)
        #expect(login.authorizationURL.hasPrefix("https://one.example/authorize?"))
        await login.cancelAndWait()
    }

    @Test func `logins wait together, not long, for a keyring that does not reply`() async throws {
        let fixture = try EngineFixture(providers: [FakeService()])
        fixture.ports.settings.values["service"] = ProviderSettings(["ClientId": "id"])
        let secrets = fixture.ports.secrets.state
        secrets.update { $0.holdsLookUps = true }
        let logins = fixture.engine.logins
        let checks = (1...3).map { _ in Task { try await logins.checkClientSecret(of: "service") } }
        try await fixture.clock.waitForSleeps(until: LoginList.secretCheckTime, begun: 3)
        fixture.clock.advance(by: LoginList.secretCheckTime)
        for check in checks { try await check.value }
        secrets.update { $0.holdsLookUps = false }
        try await secrets.wait { $0.lookUps.isEmpty ? nil : true }
        #expect(secrets.value.lookUps == [.provider("service")])
    }

    @Test(arguments: [false, true])
    func `a login without a client secret names what is missing`(hasID: Bool) async throws {
        let fixture = try EngineFixture(providers: [FakeService()])
        if hasID { fixture.ports.settings.values["service"] = ProviderSettings(["ClientId": "id"]) }
        let error = await #expect(throws: EngineError.self) {
            try await fixture.engine.logins.checkClientSecret(of: "service")
        }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("The client secret of Service is missing") == hasID)
        #expect(text.contains("set ClientId in section [Provider service]") != hasID)
    }

    @Test func `the rest of the discovery time is left for the registration`() async throws {
        federation.state.update { $0.isHeld = true }
        let login = try federation.start(fixture)
        let clock = fixture.ports.clock
        try await clock.waitForSleeps(until: LoginList.discoveryTime)
        clock.advance(by: .seconds(10))
        let isRequested = Observed(false)
        let federation = federation
        fixture.ports.http.answer.update {
            $0 = { request in
                isRequested.update { $0 = true }
                return try federation.answer(request)
            }
        }
        federation.state.update { $0.isHeld = false }
        try await isRequested.wait { $0 ? true : nil }
        await login.prepared()
        #expect(!login.authorizationURL.isEmpty)
        // The limit of the registration ends with that of the discovery.
        #expect(
            clock.sleepers.value.allSatisfy {
                $0.offset <= LoginList.discoveryTime || $0.offset >= Login.timeLimit
            })
        await login.cancelAndWait()
    }

    @Test func `cancelling a login ends its prompt, and does not wait for it`() async throws {
        let secrets = fixture.ports.secrets.state
        secrets.update { ($0.isLocked, $0.holdsPrompts) = (true, true) }
        let login = try federation.start(fixture)
        try await secrets.wait { $0.waitingPrompts == 1 ? true : nil }
        login.cancel()
        #expect(login.state == .cancelled)
        await login.waitForWork()
        #expect((secrets.value.waitingPrompts, secrets.value.prompts) == (0, 0))
    }

    @Test func `cancelling a login does not wait for a server that hangs`() async throws {
        federation.state.update { $0.isHeld = true }
        let login = try federation.start(fixture)
        login.cancel()
        #expect(login.state == .cancelled)
        await login.expectFailure(EngineError.cancelled("The login was cancelled."))
        #expect(federation.state.value.discoveries == 0)
        federation.state.update { $0.isHeld = false }
        await login.waitForWork()
        #expect(fixture.engine.accounts.all.isEmpty)
        #expect(fixture.ports.secrets.state.value.secrets.isEmpty)
    }

    @Test func `an account uses the token of its login without reading it`() async throws {
        let secrets = fixture.ports.secrets.state
        let ada = try await federation.logIn(fixture)
        try await fixture.engine.accounts.logOut(ada)
        #expect(try await federation.logIn(fixture) === ada)
        // The login itself looks for a token to revoke.
        let lookUps = secrets.value.lookUps.count
        _ = try await ada.remote?.credentials.validToken()
        fixture.engine.restartSessions(of: "federation")
        _ = try await ada.remote?.credentials.validToken()
        #expect(secrets.value.lookUps.dropFirst(lookUps).allSatisfy { $0 != .account(ada.id.text) })
    }

    @Test func `a renewed token that is not stored survives its session`() async throws {
        let secrets = fixture.ports.secrets.state
        let ada = try await federation.logIn(fixture)
        let stored = secrets.value.secrets[.account(ada.id.text)]
        let renewed = fixture.ports.token("renewed")
        ada.remote?.credentials.resume(with: (token: renewed, isSaved: false))
        #expect(secrets.value.secrets[.account(ada.id.text)] == stored)
        fixture.engine.restartSessions(of: "federation")
        let token = try await ada.remote?.credentials.validToken()
        #expect(token?.accessToken.matches(Secret("renewed")) == true)
        #expect(secrets.value.secrets[.account(ada.id.text)] != stored)
    }

    @Test func `a login replaces a token that was locked`() async throws {
        let secrets = fixture.ports.secrets.state
        let ada = try await federation.logIn(fixture)
        secrets.update { $0.lockedKeys = [.account(ada.id.text)] }
        #expect(try await federation.logIn(fixture) === ada)
        #expect(secrets.value.prompts == 1)
    }

    @Test func `the connection is kept while a login or an account needs it`() async throws {
        let secrets = fixture.ports.secrets.state
        #expect(!secrets.value.isConnectionKept)
        let login = try federation.start(fixture)
        #expect(secrets.value.isConnectionKept)
        await login.cancelAndWait()
        #expect(!secrets.value.isConnectionKept)
        let ada = try await federation.logIn(fixture)
        #expect(secrets.value.isConnectionKept)
        fixture.engine.restartSessions(of: "federation")
        #expect(secrets.value.isConnectionKept)
        try await fixture.engine.accounts.logOut(ada)
        #expect(!secrets.value.isConnectionKept)
        #expect(try await federation.logIn(fixture) === ada)
        try await fixture.engine.accounts.remove(ada)
        #expect(!secrets.value.isConnectionKept)
    }

    // MARK: Accounts

    @Test func `only the user's refresh prompts for access to a token`() async throws {
        let fixture = try await ServiceFixture(["a"]) { ports in
            ports.secrets.state.update { $0.lockedKeys = [.account("service_ada")] }
        }
        let secrets = fixture.ports.secrets.state
        try await fixture.state { if case .locked = $0 { true } else { false } }
        _ = try? await fixture.page()
        _ = try? await fixture.account.refreshFeed("")
        fixture.engine.retryNow()
        #expect(secrets.value.prompts == 0)
        try await fixture.account.refresh()
        #expect(secrets.value.prompts == 1)
        try await fixture.state { $0 == .ready }
    }

    @Test func `logging out prompts for a keyring that was locked meanwhile`() async throws {
        let fixture = try await ServiceFixture(["a"])
        let secrets = fixture.ports.secrets.state
        try await fixture.state { $0 == .ready }
        secrets.update { $0.isLocked = true }
        try await fixture.engine.accounts.logOut(fixture.account)
        #expect(secrets.value.prompts == 1)
        #expect(secrets.value.secrets.isEmpty)
    }

    @Test func `an account is removed without a keyring, and its token is reported`() async throws {
        let fixture = try await ServiceFixture(["a"])
        try await fixture.state { $0 == .ready }
        fixture.ports.secrets.state.update { $0.error = .unavailable("There is no keyring.") }
        await #expect {
            try await fixture.engine.accounts.logOut(fixture.account)
        } throws: { error in
            (error as? SecretStoreError)?.message
                == "There is no keyring; without the keyring, the account can only be removed."
        }
        #expect(fixture.account.isLoggedIn)
        try await fixture.engine.accounts.remove(fixture.account)
        #expect(fixture.engine.accounts.all.isEmpty)
        // Other changes of the account may be reported between and after these.
        let expected = ["token remains service_ada", "removed service_ada"]
        #expect(fixture.base.events.value.filter(expected.contains) == expected)
        #expect(try fixture.base.stored.accounts.isEmpty)
        let presenter = fixture.ports.presenter
        let number = try await presenter.waitFor(
            "ada at Service: The token may remain in the keyring, which cannot be used now; delete"
                + " “Image Feed: ada at Service” there later.")
        #expect(presenter.notifications.value[number]?.title == "A token may remain in the keyring")
    }

    @Test func `a keyring that the user does not unlock keeps the account`() async throws {
        let fixture = try await ServiceFixture(["a"])
        try await fixture.state { $0 == .ready }
        fixture.ports.secrets.state.update { ($0.isLocked, $0.unlocksOnPrompt) = (true, false) }
        await #expect(throws: SecretStoreError.dismissed("Dismissed.")) {
            try await fixture.engine.accounts.remove(fixture.account)
        }
        #expect(fixture.engine.accounts.all.count == 1)
        #expect(fixture.account.isLoggedIn)
        #expect(!fixture.base.events.value.contains("token remains service_ada"))
    }
}
