import Contract
import DBus
import TestSupport
import Testing
import UnsplashSimulator

/// The properties that tell clients which action of the user helps.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct RemedyTests {
    /// Waits until an account has a state, and expects its remedy.
    private func expectRemedy(
        _ remedy: String, of state: String, _ account: AccountClient, _ fixture: UnsplashFixture,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        try await fixture.wait(account, state)
        let property = try await fixture.property(account, "Remedy")
        #expect(property == .string(remedy), sourceLocation: location)
    }

    @Test func `the remedy follows the state of the keyring and of the login`() async throws {
        let (fixture, ada) = try await logIn(to: UnsplashFixture())
        try await expectRemedy("", of: "ready", ada, fixture)
        let keyring = try PrivateKeyring.current.connect()

        try await fixture.daemon.stop()
        try await keyring.lock()
        try await fixture.start()
        try await expectRemedy("unlock", of: "locked", ada, fixture)
        try await keyring.unlock()
        try await expectRemedy("", of: "ready", ada, fixture)

        fixture.revokeTokens(of: "ada")
        await expectError(.needsLogin) { _ = try await ada.refresh("") }
        try await expectRemedy("login", of: "needs-login", ada, fixture)
        try await ada.logout()
        try await expectRemedy("login", of: "logged-out", ada, fixture)
    }

    @Test func `a missing keyring is to be installed`() async throws {
        let (fixture, ada) = try await logIn(to: UnsplashFixture())
        try await fixture.daemon.stop()
        try await PrivateKeyring.current.stop()
        try await fixture.start()
        try await expectRemedy("install-keyring", of: "locked", ada, fixture)
    }

    @Test func `a failing service can be tried again, an unreachable one not`() async throws {
        let (fixture, ada) = try await logIn(to: UnsplashFixture())
        try await fixture.wait(ada, "ready")
        // The automatic retries fail, too.
        fixture.unsplash.fail("*", .htmlStatus(503))
        for _ in 0..<3 {
            await expectError(.serviceFailed) { _ = try await ada.refresh("") }
        }
        try await expectRemedy("retry", of: "failed", ada, fixture)
        fixture.unsplash.recover("*")
        _ = try await ada.refresh("")
        try await fixture.wait(ada, "ready")
        fixture.unsplash.stop()
        await expectError(.offline) { _ = try await ada.refresh("") }
        try await expectRemedy("", of: "offline", ada, fixture)
    }

    @Test func `an invalid configuration is to be corrected`() async throws {
        let (fixture, ada) = try await logIn(to: UnsplashFixture())
        try await fixture.daemon.stop()
        try RunningDaemon.configure("[Provider unsplash]\nClientId=a\nApiUrl=nonsense\n")
        try await fixture.start()
        try await expectRemedy("configure", of: "failed", ada, fixture)
    }

    @Test func `the help of a provider says what to register`() async throws {
        let fixture = try await UnsplashFixture(setup: .addresses)
        func help(_ provider: String) async throws -> String? {
            let object = fixture.client.proxy(ServiceName.providers.appending(provider))
            return try await object.property(.provider, "Help").string
        }
        let unsplash = try #require(try await help("unsplash"))
        #expect(unsplash.contains("https://unsplash.com/oauth/applications"))
        #expect(try await help("local") == "")
    }
}
