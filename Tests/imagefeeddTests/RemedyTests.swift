import Contract
import DBus
import TestSupport
import Testing
import UnsplashSimulator

/// The properties that tell clients which action of the user helps.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct RemedyTests {
    private func expectRemedy(
        _ remedy: String, _ account: AccountClient, in fixture: UnsplashFixture,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let property = try await fixture.property(account, "Remedy")
        #expect(property == .string(remedy), sourceLocation: location)
    }

    @Test func `the remedy follows the state of the keyring and of the login`() async throws {
        let (fixture, ada) = try await logIn(to: UnsplashFixture())
        try await fixture.wait(ada, "ready")
        try await expectRemedy("", ada, in: fixture)
        let keyring = try PrivateKeyring.current.connect()

        try await fixture.daemon.stop()
        try await keyring.lock()
        try await fixture.start()
        try await fixture.wait(ada, "locked")
        try await expectRemedy("unlock", ada, in: fixture)
        try await keyring.unlock()
        try await fixture.wait(ada, "ready")
        try await expectRemedy("", ada, in: fixture)

        fixture.revokeTokens(of: "ada")
        await expectError(ServiceError.needsLogin.name) { _ = try await ada.refresh("") }
        try await fixture.wait(ada, "needs-login")
        try await expectRemedy("login", ada, in: fixture)
        try await ada.logout()
        try await expectRemedy("login", ada, in: fixture)
    }

    @Test func `a missing keyring is to be installed`() async throws {
        let (fixture, ada) = try await logIn(to: UnsplashFixture())
        try await fixture.daemon.stop()
        try await PrivateKeyring.current.stop()
        try await fixture.start()
        try await fixture.wait(ada, "locked")
        try await expectRemedy("install-keyring", ada, in: fixture)
    }

    @Test
    func `a service that is unreachable needs no action, and one that fails can be tried again`()
        async throws
    {
        let (fixture, ada) = try await logIn(to: UnsplashFixture())
        try await fixture.wait(ada, "ready")
        // The automatic retries fail, too.
        fixture.unsplash.fail("*", .htmlStatus(503))
        for _ in 0..<3 {
            await expectError(ServiceError.serviceFailed.name) { _ = try await ada.refresh("") }
        }
        try await fixture.wait(ada, "failed")
        try await expectRemedy("retry", ada, in: fixture)
        fixture.unsplash.recover("*")
        _ = try await ada.refresh("")
        try await fixture.wait(ada, "ready")
        fixture.unsplash.stop()
        await expectError(ServiceError.offline.name) { _ = try await ada.refresh("") }
        try await fixture.wait(ada, "offline")
        try await expectRemedy("", ada, in: fixture)
    }

    @Test func `an invalid configuration is to be corrected`() async throws {
        let (fixture, ada) = try await logIn(to: UnsplashFixture())
        try await fixture.daemon.stop()
        try RunningDaemon.configure("[Provider unsplash]\nClientId=a\nApiUrl=nonsense\n")
        try await fixture.start()
        try await fixture.wait(ada, "failed")
        try await expectRemedy("configure", ada, in: fixture)
    }

    @Test func `the help of a provider says what to register before it is configured`() async throws
    {
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
