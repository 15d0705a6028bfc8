import Contract
import DBus
import MastodonSimulator
import TestSupport
import Testing
import UnsplashSimulator

/// Tests of the daemon with a real KeePassXC in its default settings.
///
/// It prompts for access to each item, once per bus connection (`ConfirmAccessItem`), and shows a dialog for a search
/// while its database is locked (`UnlockBeforeSearch`).
@Suite(.privateBus, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct KeePassXCTests {
    private let keyring: PrivateKeePassXC

    init() async throws { keyring = try await PrivateKeePassXC(on: .current) }

    @Test func `an Unsplash account works from its login to its removal`() async throws {
        let fixture = try await UnsplashFixture()
        #expect(try await keyring.count(["provider": "unsplash"]) == 1)

        // The client secret was stored on another connection.
        let (login, url) = try await fixture.startLogin()
        async let redirect = fixture.unsplash.approve(url, as: "ada")
        let ada = fixture.client.service.account(
            try await keyring.allowingAccess { try await login.wait() })
        _ = try await redirect
        try await fixture.wait(ada, "ready")
        #expect(try await !ada.ids().isEmpty)

        // A renewal stores the new token without a prompt.
        let renewals = fixture.unsplash.requests("POST /oauth/token").count
        fixture.service.fail(
            fixture.pattern(.feed),
            .status(401, error: "OAuth error: The access token is invalid"), times: 1)
        _ = try await ada.refresh("")
        #expect(fixture.unsplash.requests("POST /oauth/token").count == renewals + 1)
        #expect(try await keyring.dialogs == [])

        // The access ends with the connection. Only a refresh by the user prompts for it again.
        try await fixture.restart()
        try await fixture.wait(ada, "locked")
        _ = try await ada.ids()
        _ = await errorReply { _ = try await ada.refresh("") }
        #expect(try await keyring.dialogs == [])
        _ = try await keyring.allowingAccess { try await ada.refresh() }
        try await fixture.wait(ada, "ready")

        let tokens = fixture.tokens
        try await ada.logout()
        #expect(try await keyring.dialogs == [])
        #expect(try await keyring.count(["account": "unsplash_ada"]) == 0)
        try await fixture.service.waitForReplies(
            fixture.pattern(.revocation), count: fixture.requestsPerRevocation)
        for token in tokens { #expect(!fixture.isValid(token)) }
        try await ada.remove()
        try await fixture.daemon.stop()
        try await keyring.stop()
    }

    @Test func `denied access does not keep an account`() async throws {
        let (fixture, ada) = try await logIn(to: MastodonFixture(.mastodon))
        try await fixture.restart()
        try await fixture.wait(ada, "locked")
        try await keyring.denyingAccess { try await ada.logout() }
        #expect(try await keyring.count(["account": fixture.accountID("ada")]) == 0)
        try await fixture.daemon.stop()
        try await keyring.stop()
    }

    @Test func `a locked database is not unlocked in the background`() async throws {
        let (fixture, ada) = try await logIn(to: MastodonFixture(.mastodon))
        try await fixture.daemon.stop()
        try await keyring.lock()
        try await fixture.start()
        try await fixture.wait(ada, "locked")
        #expect(try await keyring.dialogs == [])
        // Cancelling a login does not wait for the dialog that it shows.
        let login = try await fixture.client.startLogin("mastodon", fixture.loginOptions)
        try await keyring.waitForDialog(.unlock)
        try await login.cancel()
        #expect(try await login.properties()["State"] == .string("cancelled"))
        try await fixture.daemon.stop()
        try await keyring.stop()
    }

    @Test func `a login does not prompt, and a removal without KeePassXC warns`() async throws {
        let (fixture, ada) = try await logIn(to: MastodonFixture(.mastodon))
        try await fixture.wait(ada, "ready")
        #expect(try await keyring.dialogs == [])
        try await ada.remove()
        #expect(try await keyring.count(["account": fixture.accountID("ada")]) == 0)
        try await fixture.logIn("ada")
        try await fixture.wait(ada, "ready")
        try await keyring.stop()
        await expectError(.secretStoreUnavailable) { try await ada.logout() }
        let (exit, output, error) = try await Terminal.run(
            "remove", fixture.accountID("ada"), "--yes", "--json")
        #expect(exit == .code(0), "\(error)")
        #expect(output.contains(fixture.accountID("ada")))
        #expect(error.contains("The token may remain in the keyring"), "\(error)")
        #expect(error.contains("“Image Feed: ada at photos.test”"), "\(error)")
        #expect(try await fixture.accounts().isEmpty)
    }
}
