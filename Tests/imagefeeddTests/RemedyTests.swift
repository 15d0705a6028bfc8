import Contract
import DBus
import TestSupport
import Testing
import UnsplashSimulator

/// The properties that tell clients which action of the user helps.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct RemedyTests {
    private let fixture: UnsplashFixture
    private let ada: AccountClient

    init() async throws { (fixture, ada) = try await logIn(to: UnsplashFixture()) }

    /// Waits until the account has a state, and expects its remedy.
    private func expectRemedy(
        _ remedy: String, of state: String, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        try await fixture.wait(ada, state)
        let property = try await fixture.property(ada, "Remedy")
        #expect(property == .string(remedy), sourceLocation: location)
    }

    @Test func `the remedy follows the state of the keyring and of the login`() async throws {
        try await expectRemedy("", of: "ready")
        let keyring = try PrivateKeyring.current.connect()

        try await fixture.daemon.stop()
        try await keyring.lock()
        try await fixture.start()
        try await expectRemedy("unlock", of: "locked")
        try await keyring.unlock()
        try await expectRemedy("", of: "ready")

        fixture.revokeTokens(of: "ada")
        await expectError(.needsLogin) { _ = try await ada.refresh("") }
        try await expectRemedy("login", of: "needs-login")
        try await ada.logout()
        try await expectRemedy("login", of: "logged-out")
    }

    @Test func `a missing keyring is to be installed`() async throws {
        try await fixture.daemon.stop()
        try await PrivateKeyring.current.stop()
        try await fixture.start()
        try await expectRemedy("install-keyring", of: "locked")
    }

    @Test func `a failing service can be tried again, an unreachable one not`() async throws {
        try await fixture.wait(ada, "ready")
        // The automatic retries fail, too.
        fixture.unsplash.fail("*", .htmlStatus(503))
        for _ in 0..<3 {
            await expectError(.serviceFailed) { _ = try await ada.refresh("") }
        }
        try await expectRemedy("retry", of: "failed")
        fixture.unsplash.recover("*")
        _ = try await ada.refresh("")
        try await fixture.wait(ada, "ready")
        fixture.unsplash.stop()
        await expectError(.offline) { _ = try await ada.refresh("") }
        try await expectRemedy("", of: "offline")
    }

    @Test func `an invalid configuration is to be corrected`() async throws {
        try await fixture.daemon.stop()
        try RunningDaemon.configure("[Provider unsplash]\nClientId=a\nApiUrl=nonsense\n")
        try await fixture.start()
        try await expectRemedy("configure", of: "failed")
    }
}
