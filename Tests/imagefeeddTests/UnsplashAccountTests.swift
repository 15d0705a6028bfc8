import BusAPI
import DBus
import TestSupport
import Testing
import UnsplashSimulator

/// Accounts of one service beside each other, and their end.
@Suite(.privateBus, .privateKeyring, .timeLimit(.minutes(1))) @MainActor
struct UnsplashAccountTests {
    @Test func `two accounts have each their own token, feed and likes`() async throws {
        let world = try await UnsplashWorld()
        let ada = try await world.logIn("ada")
        let bob = try await world.logIn("bob")
        #expect(try await world.accounts() == ["unsplash_ada", "unsplash_bob"])
        let ids = try await world.ids(ada)
        #expect(try await world.ids(bob) == ids)
        #expect(try await ada.like(ids[0]) == "done")
        #expect(try await bob.like(ids[1]) == "done")
        #expect(try await world.ids(ada, "likes") == [ids[0]])
        #expect(try await world.ids(bob, "likes") == [ids[1]])
        #expect(try await bob.photo(ids[0])["liked"] == .bool(false))
        #expect(world.unsplash.likes(of: "ada") == [ids[0]])
        #expect(world.unsplash.likes(of: "bob") == [ids[1]])
        #expect(world.tokens.count == 2)
        // The end of one is not the other's.
        try await ada.logout()
        #expect(try await world.ids(bob) == ids)
        #expect(try await bob.like(ids[2]) == "done")
        #expect(try await world.property(bob, "State") == .string("ready"))
        #expect(
            try await world.client.service.manager.properties()["DefaultAccount"]
                == .objectPath(bob.path))
        try await world.daemon.stop()
    }

    @Test func `another login of a known account renews it`() async throws {
        let world = try await UnsplashWorld()
        let ada = try await world.logIn("ada")
        let before = world.tokens
        #expect(try await world.logIn("ada").path == ada.path)
        #expect(try await world.accounts() == ["unsplash_ada"])
        #expect(try await world.property(ada, "State") == .string("ready"))
        _ = try await ada.refresh("")
        let request = try #require(world.unsplash.requests("GET /photos").last)
        let token = try #require(request["Authorization"]?.split(separator: " ").last)
        #expect(!before.contains(String(token)))
        #expect(request.status == 200)
        let keyring = try PrivateKeyring.current.connect()
        #expect(try await keyring.search(["account": "unsplash_ada"]).0.count == 1)
        // What the keyring has is the new one.
        world.unsplash.revokeTokens(of: "nobody")
        try await world.daemon.stop()
        try await world.start()
        _ = try await ada.refresh("")
        #expect(
            world.unsplash.requests("GET /photos").last?["Authorization"]
                == request["Authorization"])
        try await world.daemon.stop()
    }

    @Test func `a refused token needs a login, of the same user`() async throws {
        let world = try await UnsplashWorld()
        let ada = try await world.logIn("ada")
        let ids = try await world.ids(ada)
        world.unsplash.revokeTokens(of: "ada")
        await expectError(ServiceError.needsLogin.name) { _ = try await ada.refresh("") }
        #expect(try await world.property(ada, "State") == .string("needs-login"))
        #expect(try await world.property(ada, "StateReason")?.string?.isEmpty == false)
        #expect(try await world.ids(ada) == ids)
        // It does not ask on and on with a token that is refused.
        let count = world.requestCount
        await expectError(ServiceError.needsLogin.name) { _ = try await ada.refresh("") }
        #expect(try await ada.like(ids[0]) == "queued")
        #expect(world.requestCount == count)

        let (login, url) = try await world.startLogin([.account: .objectPath(ada.path)])
        async let failure = errorReply { _ = try await login.wait() }
        try await world.unsplash.approve(url, as: "bob")
        #expect(await failure?.name == ServiceError.loginFailed.name)
        let revoked = try await world.unsplash.waitForRequests("POST /oauth/revoke", count: 2)
        for token in revoked.compactMap({ $0.fields["token"] }) {
            #expect(!world.unsplash.isValid(token))
        }
        #expect(try await world.accounts() == ["unsplash_ada"])
        #expect(try await world.property(ada, "State") == .string("needs-login"))

        let command = try Terminal.start([
            "login", "unsplash", "--no-browser", "--account", "unsplash_ada",
        ])
        try await world.unsplash.approve(command.firstLine(), as: "ada")
        #expect(try await command.exitStatus() == .code(0))
        try await world.wait(ada, "ready")
        _ = try await ada.refresh("")
        #expect(try await world.accounts() == ["unsplash_ada"])
        // What was wished meanwhile is sent.
        try await world.unsplash.waitForRequests("POST /photos/*/like")
        try await world.daemon.stop()
    }

    @Test func `a token that has ended is renewed once, and kept`() async throws {
        let world = try await UnsplashWorld()
        world.unsplash.settings.tokenLifetimeSeconds = 7200
        let ada = try await world.logIn("ada")
        _ = try await world.ids(ada)
        world.unsplash.advanceClock(seconds: 7300)
        let sources = ["", "likes", "search:sea", "search:sky", "search:city"]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for source in sources { group.addTask { _ = try await ada.refresh(source) } }
            try await group.waitForAll()
        }
        func renewals() -> Int {
            world.unsplash.requests("POST /oauth/token").count {
                $0.fields["grant_type"] == "refresh_token"
            }
        }
        #expect(renewals() == 1)
        try await world.daemon.kill()
        try await world.start()
        _ = try await ada.refresh("")
        #expect(renewals() == 1)
        #expect(try await world.property(ada, "State") == .string("ready"))
        try await world.daemon.stop()
    }

    @Test func `an account that is removed is forgotten`() async throws {
        let world = try await UnsplashWorld()
        let ada = try await world.logIn("ada")
        let bob = try await world.logIn("bob")
        let both = try await world.ids(bob)
        // Far enough down that the other one has never seen them.
        let missing = Array(try await world.ids(ada, count: 100).suffix(20))
        #expect(try await !files(holding: missing).isEmpty)
        try await ada.remove()
        #expect(try await world.accounts() == ["unsplash_bob"])
        #expect(try await files(holding: missing) == [])
        #expect(try await files(holding: ["unsplash_ada"]) == [])
        let keyring = try PrivateKeyring.current.connect()
        #expect(try await keyring.search(["account": "unsplash_ada"]) == ([], []))
        try await world.daemon.stop()
        try await world.start()
        #expect(try await world.accounts() == ["unsplash_bob"])
        #expect(try await world.ids(bob) == both)
        try await world.daemon.stop()
    }

    @Test func `logging out needs no service`() async throws {
        let world = try await UnsplashWorld()
        let ada = try await world.logIn("ada")
        let ids = try await world.ids(ada)
        world.unsplash.stop()
        try await ada.logout()
        #expect(try await world.property(ada, "State") == .string("logged-out"))
        #expect(try await files(holding: ids) == [])
        let keyring = try PrivateKeyring.current.connect()
        #expect(try await keyring.search(["account": "unsplash_ada"]) == ([], []))
        try await world.daemon.stop()
    }

    @Test func `a token that is renewed during the logout is given back`() async throws {
        let world = try await UnsplashWorld()
        world.unsplash.settings.tokenLifetimeSeconds = 7200
        let ada = try await world.logIn("ada")
        world.unsplash.advanceClock(seconds: 7300)
        // The service has made the token, and takes its time to say so.
        let pause = Duration.milliseconds(10)
        world.unsplash.fail("POST /oauth/token", .drip(bytes: 1, pause: pause), times: 1)
        async let failure = errorReply { _ = try await ada.refresh("") }
        try await world.unsplash.waitForRequests("POST /oauth/token", count: 2)
        try await ada.logout()
        #expect(await failure != nil)
        let revoked = try await world.unsplash.waitForRequests("POST /oauth/revoke", count: 4)
        #expect(Set(revoked.compactMap { $0.fields["token"] }).count == 4)
        let keyring = try PrivateKeyring.current.connect()
        #expect(try await keyring.search(["account": "unsplash_ada"]) == ([], []))
        try await world.daemon.stop()
    }

    @Test func `what comes in after the logout is not kept`() async throws {
        let world = try await UnsplashWorld()
        let ada = try await world.logIn("ada")
        let photo = try #require(world.unsplash.feed.first?.id)
        let door = world.unsplash.hold("GET /photos")
        async let page = errorReply { _ = try await world.ids(ada) }
        try await world.unsplash.waitForRequests("GET /photos")
        try await ada.logout()
        door.release()
        #expect(await page != nil)
        #expect(try await files(holding: [photo]) == [])
        try await world.daemon.stop()
        #expect(try await files(holding: [photo]) == [])
    }
}
