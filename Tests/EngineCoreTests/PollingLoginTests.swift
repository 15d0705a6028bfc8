import EngineModel
import OAuth
import ProviderKit
import TestSupport
import Testing

@testable import EngineCore

/// Logins that the user confirms in the browser, and that the engine polls for.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct PollingLoginTests {
    private let polling = FakePolling()
    private let fixture: EngineFixture

    init() throws { fixture = try polling.fixture() }

    private func waitForPolls(_ count: Int) async throws {
        try await polling.state.wait { $0.pollCount >= count ? true : nil }
    }

    /// Logs in the user that confirms the login in the browser at once.
    private func logIn(_ fixture: EngineFixture) async throws -> Account {
        polling.state.update { $0.confirmed = "ada" }
        let login = try await polling.start(fixture)
        try await fixture.clock.endSleep(at: .seconds(2))
        return try await login.wait()
    }

    @Test func `a login shows an address, polls for the user, stores the password`() async throws {
        let login = try await polling.start(fixture)
        #expect((login.authorizationURL, login.state) == ("https://one.example/confirm", .waiting))
        #expect(throws: EngineError.notSupported("This login does not use a code.")) {
            try login.submit("code")
        }
        try await fixture.clock.endSleep(at: .seconds(2))
        try await waitForPolls(1)
        #expect(login.state == .waiting)
        polling.state.update { $0.confirmed = "ada" }
        try await fixture.clock.endSleep(at: .seconds(4))
        let account = try await login.wait()
        #expect(login.state == .succeeded)
        #expect(account.identity == AccountIdentity(username: "ada", server: "one.example/cloud"))
        #expect(polling.state.value.pollCount == 2)
        let kept = try #require(
            fixture.ports.secrets.state.value.secrets[.account(account.id.text)])
        let text = String(decoding: kept, as: UTF8.self)
        #expect(text.contains(Base64.encode(Array("ada:password 1".utf8))))
        // No request but the one for the user had a credential.
        #expect(polling.state.value.fields.count == 1)
        #expect(fixture.ports.http.requests.value.filter { $0.token?.isEmpty == false }.count == 1)
    }

    @Test func `failures of the network and the server only delay polls`() async throws {
        polling.state.update { $0.polls = [nil, 503, 429, 302, 200, nil, 404] }
        let login = try await polling.start(fixture)
        // 2, then twice as long after each failure, at most 30 seconds.
        for (index, time) in [2, 6, 14, 30, 60, 90].enumerated() {
            try await fixture.clock.endSleep(at: .seconds(time))
            try await waitForPolls(index + 1)
        }
        polling.state.update { $0.confirmed = "ada" }
        try await fixture.clock.endSleep(at: .seconds(120))
        try await waitForPolls(7)
        // The interval after a poll that succeeded.
        try await fixture.clock.endSleep(at: .seconds(122))
        #expect(try await login.wait().identity.username == "ada")
    }

    @Test(arguments: [400, 401, 403])
    func `a refused poll ends the login`(status: Int) async throws {
        polling.state.update { $0.polls = [status] }
        let login = try await polling.start(fixture)
        try await fixture.clock.endSleep(at: .seconds(2))
        await #expect(throws: EngineError.self) { _ = try await login.wait() }
        #expect(login.state == .failed)
        #expect(fixture.engine.accounts.all.isEmpty)
    }

    @Test(arguments: [false, true])
    func `a login that is cancelled or times out ends its polls`(isCancelled: Bool) async throws {
        let login = try await polling.start(fixture)
        try await fixture.clock.endSleep(at: .seconds(2))
        try await waitForPolls(1)
        if isCancelled {
            await login.cancelAndWait()
            #expect(polling.state.value.pollCount == 1)
        } else {
            try await fixture.clock.endSleep(at: .seconds(600))
            await login.expectFailure(EngineError.loginTimedOut)
            await login.waitForWork()
        }
        #expect(login.state == (isCancelled ? .cancelled : .failed))
        let polls = polling.state.value.pollCount
        fixture.clock.advance(by: .seconds(600))
        #expect(polling.state.value.pollCount == polls)
    }

    @Test func `a password that arrives after the login was cancelled is revoked`() async throws {
        let login = try await polling.start(fixture)
        fixture.ports.http.heldAddresses.update { $0 = ["/poll"] }
        polling.state.update { $0.confirmed = "ada" }
        try await fixture.clock.endSleep(at: .seconds(2))
        try await waitForPolls(1)
        #expect(polling.state.value.passwords.count == 1)
        await login.cancelAndWait()
        fixture.ports.http.heldAddresses.update { $0 = [] }
        try await polling.state.wait { $0.passwords.isEmpty ? true : nil }
        #expect(fixture.engine.accounts.all.isEmpty)
        #expect(fixture.ports.secrets.state.value.secrets.isEmpty)
    }

    @Test func `a server that names addresses with http is requested with https`() async throws {
        polling.state.update { $0.origin = "http://one.example" }
        let login = try await polling.start(fixture)
        #expect(login.authorizationURL == "https://one.example/confirm")
        polling.state.update { $0.confirmed = "ada" }
        try await fixture.clock.endSleep(at: .seconds(2))
        _ = try await login.wait()
        #expect(
            fixture.ports.http.requests.value.allSatisfy {
                $0.url.hasPrefix("https://one.example/")
            })
        let start = fixture.ports.http.requests.value.first { $0.url.hasSuffix("/start") }
        #expect(start?.userAgent?.hasPrefix("Image Feed on ") == true)
    }

    @Test(arguments: ["http://one.example", "https://one.example"])
    func `addresses without the server's port are requested with it`(origin: String) async throws {
        polling.state.update { $0.origin = origin }
        let login = try await polling.start(fixture, at: "one.example:8443")
        #expect(login.authorizationURL == "https://one.example:8443/confirm")
        await login.cancelAndWait()
    }

    @Test(arguments: ["http://two.example", "https://two.example", "https://one.example:8443"])
    func `a login with an address of another origin is refused`(origin: String) async throws {
        polling.state.update { $0.origin = origin }
        let login = try await polling.start(fixture)
        let error = await #expect(throws: ProviderError.self) { _ = try await login.wait() }
        #expect(error.map { "\($0)".contains("another address for the login, \(origin)") } == true)
        #expect(login.authorizationURL.isEmpty)
        #expect(polling.state.value.pollCount == 0)
    }

    @Test func `a logout revokes the password, again after a failure`() async throws {
        let account = try await logIn(fixture)
        #expect(polling.state.value.passwords.count == 1)
        polling.state.update { $0.refusesRevocations = true }
        try await fixture.engine.accounts.logOut(account)
        try await fixture.ports.http.requests.wait {
            $0.contains { $0.method == .delete } ? true : nil
        }
        #expect(polling.state.value.passwords.count == 1)
        polling.state.update { $0.refusesRevocations = false }
        // The time at which the finished login is forgotten is the same.
        try await fixture.clock.waitForSleeps(until: .seconds(62), begun: 2)
        try await fixture.clock.endSleep(at: .seconds(62))
        try await polling.state.wait { $0.passwords.isEmpty ? true : nil }
        try await fixture.ports.secrets.state.wait { $0.secrets.isEmpty ? true : nil }
    }

    @Test func `a password that cannot be revoked is revoked after a restart`() async throws {
        var fixture = try polling.fixture()
        let account = try await logIn(fixture)
        polling.state.update { $0.refusesRevocations = true }
        try await fixture.engine.accounts.logOut(account)
        let secrets = try await fixture.ports.secrets.state.wait {
            $0.secrets.isEmpty ? nil : $0.secrets
        }
        #expect(Array(secrets.keys) == [.revocation(account.id.text)])
        #expect(account.notices.count == 1)
        fixture.engine.stop()

        polling.state.update { $0.refusesRevocations = false }
        fixture = try polling.fixture(fixture.directory)
        fixture.ports.secrets.state.update { $0.secrets = secrets }
        fixture.engine.start()
        try await fixture.ports.secrets.state.wait { $0.secrets.isEmpty ? true : nil }
        #expect(polling.state.value.passwords.isEmpty)
        #expect(fixture.engine.accounts.all.map(\.notices) == [[]])
    }

    @Test func `a removal reports a password that is still valid, and keeps none`() async throws {
        let account = try await logIn(fixture)
        polling.state.update { $0.refusesRevocations = true }
        try await fixture.engine.accounts.remove(account)
        #expect(fixture.events.value.contains("token remains \(account.id)"))
        #expect(polling.state.value.passwords.count == 1)
        #expect(fixture.ports.secrets.state.value.secrets.isEmpty)
    }

    @Test func `a login for an account replaces its password, refuses another user`() async throws {
        let account = try await logIn(fixture)
        polling.state.update { $0.confirmed = "ada" }
        let second = try await polling.start(fixture, at: nil, for: account)
        try await fixture.clock.endSleep(at: .seconds(4))
        #expect(try await second.wait() === account)
        // The first password is revoked.
        try await polling.state.wait { $0.passwords.count == 1 && $0.issued == 2 ? true : nil }
        polling.state.update { $0.confirmed = "bob" }
        let third = try await polling.start(fixture, at: nil, for: account)
        try await fixture.clock.endSleep(at: .seconds(6))
        await #expect(throws: EngineError.self) { _ = try await third.wait() }
        try await polling.state.wait { $0.passwords.count == 1 && $0.issued == 3 ? true : nil }
        #expect(account.isLoggedIn)
    }

    @Test func `options of other logins are refused`() async throws {
        var options = LoginOptions()
        #expect(throws: EngineError.self) { try fixture.engine.logins.start("polling", options) }
        options.server = "one.example"
        options.isManual = true
        #expect(throws: EngineError.self) { try fixture.engine.logins.start("polling", options) }
        options.isManual = false
        options.password = { Secret("key") }
        #expect(throws: EngineError.self) { try fixture.engine.logins.start("polling", options) }
        #expect(fixture.engine.logins.all.isEmpty)
    }
}
