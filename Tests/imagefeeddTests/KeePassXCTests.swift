import BusAPI
import DBus
import MastodonSimulator
import TestSupport
import Testing
import UnsplashSimulator

/// Tests of the daemon with a real KeePassXC in its default settings.
///
/// It prompts for access to each item, once per bus connection (`ConfirmAccessItem`), and shows a dialog for a search
/// while its database is locked (`UnlockBeforeSearch`).
@Suite(.privateBus, .timeLimit(.minutes(2))) @MainActor
struct KeePassXCTests {
    private func waitForState(_ world: some ProviderWorld, _ user: String, _ state: String)
        async throws
    {
        try await world.wait(world.account(of: user), state)
    }

    @Test func `an Unsplash account works from its login to its removal`() async throws {
        let keyring = try await PrivateKeePassXC(on: .current)
        let world = try await UnsplashWorld()
        #expect(try await keyring.count(["provider": "unsplash"]) == 1)

        // The client secret was stored on another connection.
        let (login, url) = try await world.startLogin()
        async let account = login.wait()
        async let redirect = world.unsplash.approve(url, as: "ada")
        try await keyring.allowAccess()
        let ada = world.client.service.account(try await account)
        _ = try await redirect
        try await waitForState(world, "ada", "ready")
        #expect(try await !world.ids(ada).isEmpty)

        // A renewal stores the new token without a prompt.
        let renewals = world.unsplash.requests("POST /oauth/token").count
        world.service.fail(
            world.pattern(.feed), .textStatus(401, "OAuth error: The access token is invalid"),
            times: 1)
        _ = try await ada.refresh("")
        #expect(world.unsplash.requests("POST /oauth/token").count == renewals + 1)
        #expect(try await keyring.dialogs == [])

        // The access ends with the connection. Only a refresh by the user prompts for it again.
        try await world.daemon.stop()
        try await world.start()
        try await waitForState(world, "ada", "locked")
        _ = try await world.ids(ada)
        _ = await errorReply { _ = try await ada.refresh("") }
        #expect(try await keyring.dialogs == [])
        async let refresh: Void = ada.refresh()
        try await keyring.allowAccess()
        try await refresh
        try await waitForState(world, "ada", "ready")

        let tokens = world.tokens
        try await ada.logout()
        #expect(try await keyring.dialogs == [])
        #expect(try await keyring.count(["account": "unsplash_ada"]) == 0)
        try await world.service.waitForReplies(
            world.pattern(.revocation), count: world.requestsPerRevocation)
        for token in tokens { #expect(!world.isValid(token)) }
        try await ada.remove()
        try await world.daemon.stop()
        try await keyring.stop()
    }

    @Test func `a Mastodon login does not prompt for access to its items`() async throws {
        let keyring = try await PrivateKeePassXC(on: .current)
        let world = try await MastodonWorld(.mastodon)
        let ada = try await world.logIn("ada")
        try await waitForState(world, "ada", "ready")
        #expect(try await keyring.dialogs == [])
        try await ada.remove()
        #expect(try await keyring.count(["account": world.accountID("ada")]) == 0)
        try await world.daemon.stop()
        try await keyring.stop()
    }

    @Test func `a locked database is not unlocked in the background`() async throws {
        let keyring = try await PrivateKeePassXC(on: .current)
        let world = try await MastodonWorld(.mastodon)
        try await world.logIn("ada")
        try await world.daemon.stop()
        try await keyring.lock()
        try await world.start()
        try await waitForState(world, "ada", "locked")
        #expect(try await keyring.dialogs == [])
        // Cancelling a login does not wait for the dialog that it shows.
        let path = try await world.client.service.manager.login(
            "mastodon", world.loginOptions)
        let login = world.client.service.login(path)
        try await keyring.waitForDialog(.unlock)
        try await login.cancel()
        #expect(try await login.properties()["State"] == .string("cancelled"))
        try await world.daemon.stop()
        try await keyring.stop()
    }

    @Test func `denied access does not keep an account`() async throws {
        let keyring = try await PrivateKeePassXC(on: .current)
        let world = try await MastodonWorld(.mastodon)
        let ada = try await world.logIn("ada")
        try await world.daemon.stop()
        try await world.start()
        try await waitForState(world, "ada", "locked")
        async let logout: Void = ada.logout()
        try await keyring.denyAccess()
        try await logout
        #expect(try await keyring.count(["account": world.accountID("ada")]) == 0)
        try await world.daemon.stop()
        try await keyring.stop()
    }

    @Test func `an account is removed after KeePassXC has ended, and its token is reported`()
        async throws
    {
        let keyring = try await PrivateKeePassXC(on: .current)
        let world = try await MastodonWorld(.mastodon)
        let ada = try await world.logIn("ada")
        try await waitForState(world, "ada", "ready")
        try await keyring.stop()
        let failure = await errorReply { try await ada.logout() }
        #expect(failure?.name == ServiceError.secretStoreUnavailable.name)
        let (exit, output, error) = try await Terminal.run(
            "remove", world.accountID("ada"), "--yes", "--json")
        #expect(exit == .code(0), "\(error)")
        #expect(output.contains(world.accountID("ada")))
        #expect(error.contains("The token may remain in the keyring"), "\(error)")
        #expect(error.contains("“Image Feed: ada at photos.test”"), "\(error)")
        #expect(try await world.accounts().isEmpty)
        try await world.daemon.stop()
    }
}
