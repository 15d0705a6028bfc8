import Contract
import DBus
import TestSupport
import Testing
import UnsplashSimulator

/// Tests of several accounts of one service, of tokens and of logouts.
@Suite(.privateBus, .privateKeyring, .timeLimit(.minutes(10))) @MainActor
struct UnsplashAccountTests {
    @Test func `an expired token is renewed once and stored`() async throws {
        let fixture = try await UnsplashFixture()
        fixture.unsplash.settings.tokenLifetimeSeconds = 7200
        let ada = try await fixture.logIn("ada")
        _ = try await fixture.ids(ada)
        fixture.unsplash.advanceClock(seconds: 7300)
        let sources = ["", "likes", "search:sea", "search:sky", "search:city"]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for source in sources { group.addTask { _ = try await ada.refresh(source) } }
            try await group.waitForAll()
        }
        func renewals() -> Int {
            fixture.unsplash.requests("POST /oauth/token").count {
                $0.fields["grant_type"] == "refresh_token"
            }
        }
        #expect(renewals() == 1)
        try await fixture.daemon.kill()
        try await fixture.start()
        _ = try await ada.refresh("")
        #expect(renewals() == 1)
        #expect(try await fixture.property(ada, "State") == .string("ready"))
        try await fixture.daemon.stop()
    }

    @Test func `a rename at the service changes the user name of the account, not its path`()
        async throws
    {
        let fixture = try await UnsplashFixture()
        let ada = try await fixture.logIn("ada")
        fixture.unsplash.renameUser("ada", to: "eve")
        // The daemon sees the new name in the next profile.
        try await ada.refresh()
        try await fixture.client.wait(ada.path, .account, "Username", .string("eve"))
        #expect(try await fixture.property(ada, "Label") == .string("eve"))
        #expect(try await fixture.logIn("eve").path == ada.path)
        // A second rename, which is visible only in the login.
        fixture.unsplash.renameUser("eve", to: "zoe")
        try await ada.logout()
        #expect(try await fixture.logIn("zoe", [.account: .objectPath(ada.path)]).path == ada.path)
        #expect(try await fixture.property(ada, "Username") == .string("zoe"))
        #expect(try await fixture.accounts() == ["unsplash_ada"])
        // Another user takes the former name.
        fixture.unsplash.addUser("ada")
        let other = try await fixture.logIn("ada")
        #expect(try await fixture.accounts() == ["unsplash_ada", "unsplash_ada_2"])
        #expect(try await fixture.property(other, "Username") == .string("ada"))
        try await fixture.daemon.stop()
        try await fixture.start()
        #expect(try await fixture.property(ada, "Username") == .string("zoe"))
        #expect(try await fixture.accounts() == ["unsplash_ada", "unsplash_ada_2"])
        try await fixture.daemon.stop()
    }

    @Test func `repeated logins leave one token and the removal none`() async throws {
        let fixture = try await UnsplashFixture()
        let ada = try await fixture.logIn("ada")
        _ = try await fixture.logIn("ada")
        _ = try await fixture.logIn("ada", [.account: .objectPath(ada.path)])
        try await fixture.unsplash.waitForReplies(
            "POST /oauth/revoke", count: 2 * fixture.requestsPerRevocation)
        #expect(fixture.unsplash.liveTokens.count == 1)
        _ = try await ada.refresh("")
        try await ada.remove()
        try await fixture.unsplash.waitForReplies(
            "POST /oauth/revoke", count: 3 * fixture.requestsPerRevocation)
        #expect(fixture.unsplash.liveTokens == [])
        try await fixture.daemon.stop()
    }

    @Test func `a token belongs to its application after another one was configured`() async throws
    {
        let fixture = try await UnsplashFixture()
        fixture.unsplash.settings.tokenLifetimeSeconds = 7200
        let ada = try await fixture.logIn("ada")
        fixture.unsplash.registerApplication("another", secret: "another-secret")
        let secret = try #require(FileDescriptor.pipe(holding: Array("another-secret".utf8), 14))
        try await fixture.client.service.provider(ServiceName.providers.appending("unsplash"))
            .configure([.clientID: .string("another"), .clientSecret: .fileDescriptor(secret)])
        let bob = try await fixture.logIn("bob")
        fixture.unsplash.advanceClock(seconds: 7300)
        for account in [ada, bob] {
            _ = try await account.refresh("")
            #expect(try await fixture.property(account, "State") == .string("ready"))
        }
        let clients = fixture.unsplash.requests("POST /oauth/token").suffix(2).compactMap {
            $0.fields["client_id"]
        }
        #expect(clients == [fixture.unsplash.clientID, "another"])
        try await ada.logout()
        try await fixture.unsplash.waitForReplies(
            "POST /oauth/revoke", count: fixture.requestsPerRevocation)
        #expect(fixture.unsplash.liveTokens.count == 1)
        _ = try await bob.refresh("")
        try await bob.remove()
        try await fixture.unsplash.waitForReplies(
            "POST /oauth/revoke", count: 2 * fixture.requestsPerRevocation)
        #expect(fixture.unsplash.liveTokens == [])
        try await fixture.daemon.stop()
    }

    @Test func `a removed account leaves no data`() async throws {
        let fixture = try await UnsplashFixture()
        let ada = try await fixture.logIn("ada")
        let bob = try await fixture.logIn("bob")
        let both = try await fixture.ids(bob)
        // Photos that only the first account has fetched.
        let missing = Array(try await fixture.ids(ada, count: 100).suffix(20))
        #expect(try await !files(holding: missing).isEmpty)
        try await ada.remove()
        #expect(try await fixture.accounts() == ["unsplash_bob"])
        #expect(try await files(holding: missing) == [])
        #expect(try await files(holding: ["unsplash_ada"]) == [])
        let keyring = try PrivateKeyring.current.connect()
        #expect(try await keyring.search(["account": "unsplash_ada"]) == ([], []))
        try await fixture.daemon.stop()
        try await fixture.start()
        #expect(try await fixture.accounts() == ["unsplash_bob"])
        #expect(try await fixture.ids(bob) == both)
        try await fixture.daemon.stop()
    }

    @Test func `logging out does not require the service`() async throws {
        let fixture = try await UnsplashFixture()
        let ada = try await fixture.logIn("ada")
        let ids = try await fixture.ids(ada)
        fixture.unsplash.stop()
        try await ada.logout()
        #expect(try await fixture.property(ada, "State") == .string("logged-out"))
        #expect(try await files(holding: ids) == [])
        let keyring = try PrivateKeyring.current.connect()
        #expect(try await keyring.search(["account": "unsplash_ada"]) == ([], []))
        try await fixture.daemon.stop()
    }

    @Test func `a token that is renewed during the logout is revoked`() async throws {
        let fixture = try await UnsplashFixture()
        fixture.unsplash.settings.tokenLifetimeSeconds = 7200
        let ada = try await fixture.logIn("ada")
        fixture.unsplash.advanceClock(seconds: 7300)
        // The service has issued the token, and its response arrives after the logout.
        let isIssued = Observed(false)
        let gate = Gate()
        defer { gate.open() }
        fixture.unsplash.fail(
            "POST /oauth/token",
            .changed { _ in
                isIssued.update { $0 = true }
                gate.wait()
            }, times: 1)
        async let failure = errorReply { _ = try await ada.refresh("") }
        try await isIssued.wait { $0 ? true : nil }
        try await ada.logout()
        gate.open()
        #expect(await failure != nil)
        let revoked = try await fixture.unsplash.waitForRequests("POST /oauth/revoke", count: 4)
        #expect(Set(revoked.compactMap { $0.fields["token"] }).count == 4)
        let keyring = try PrivateKeyring.current.connect()
        #expect(try await keyring.search(["account": "unsplash_ada"]) == ([], []))
        try await fixture.daemon.stop()
    }

    @Test func `a response after the logout is not stored`() async throws {
        let fixture = try await UnsplashFixture()
        let ada = try await fixture.logIn("ada")
        let photo = try #require(fixture.unsplash.feed.first?.id)
        let gate = fixture.unsplash.hold("GET /photos")
        async let page = errorReply { _ = try await fixture.ids(ada) }
        try await fixture.unsplash.waitForRequests("GET /photos")
        try await ada.logout()
        gate.release()
        #expect(await page != nil)
        #expect(try await files(holding: [photo]) == [])
        try await fixture.daemon.stop()
        #expect(try await files(holding: [photo]) == [])
    }
}
