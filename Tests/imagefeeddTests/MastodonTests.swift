import Contract
import DBus
import Glibc
import MastodonSimulator
import TestSupport
import Testing

/// Tests of accounts at servers that the user names.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct MastodonTests {
    @Test func `an unresponsive server does not affect accounts of other servers`() async throws {
        try Pictures.add(["1", "2"])
        let fixture = try await MastodonFixture(
            .mastodon, others: [("pixels.test", .pixelfed), ("old.test", .oldMastodon)])
        let local = try await fixture.client.logIn("eve")
        let ada = try await fixture.logIn("ada")
        let bob = try await fixture.logIn("bob")
        var others: [AccountClient] = []
        for server in fixture.others {
            others.append(
                try await fixture.logIn("ada", [.server: .string(server.name)], service: server))
        }
        #expect(
            try await fixture.accounts() == [
                "local_eve", "mastodon_ada_40photos_2etest", "mastodon_bob_40photos_2etest",
                "mastodon_ada_40pixels_2etest", "mastodon_ada_40old_2etest",
            ])
        #expect(try await fixture.property(others[0], "Server") == .string("pixels.test"))
        #expect(try await fixture.property(others[0], "Username") == .string("ada"))
        // Two accounts at one server share one client registration.
        #expect(fixture.server.registrations == 1)
        let feeds =
            [fixture.server.photos(), fixture.server.photos()] + fixture.others.map { $0.photos() }
        for (account, feed) in zip([ada, bob] + others, feeds) {
            #expect(try await fixture.walk(account) == feed)
        }

        // One server does not respond any more, another one is stopped.
        fixture.others[0].fail("*", .silence)
        fixture.others[1].stop()
        let pixels = others[0]
        let before = fixture.others[0].requests("GET /api/v1/timelines/home").count
        let isStuck = Observed(true)
        let stuck = Task {
            _ = try? await pixels.refresh("")
            isStuck.update { $0 = false }
        }
        try await fixture.others[0].waitForRequests("GET /api/v1/timelines/home", count: before + 1)
        await expectError(.offline) { _ = try await others[1].refresh("") }
        for account in [local, ada, bob] {
            _ = try await account.refresh("")
            _ = try await account.ids()
        }
        for account in others { #expect(try await account.ids().count > 10) }
        // The call for the silent server, which ends after 18 s, was the first one.
        #expect(isStuck.value)
        for account in [ada, bob] {
            #expect(try await fixture.property(account, "State") == .string("ready"))
        }
        #expect(try await fixture.property(others[1], "State") == .string("offline"))
        fixture.others[0].recover("*")
        fixture.others[0].disconnect()
        await stuck.value
    }

    @Test(arguments: Software.all)
    func `the client registration is as each server requires`(software: Software) async throws {
        let fixture = try await MastodonFixture(software)
        try await fixture.logIn("ada")
        let request = try #require(fixture.server.requests("POST /api/v1/apps").first)
        let uris = request.fields["redirect_uris"]?.split(separator: "\n").count
        let authorization = try #require(fixture.server.requests("GET /oauth/authorize").first)
            .query
        let redirect = try #require(authorization["redirect_uri"])
        #expect(authorization["code_challenge_method"] == "S256")
        #expect(redirect.hasPrefix("http://127.0.0.1:"))
        #expect(fixture.server.requests("POST /oauth/token").first?.fields["code_verifier"] != nil)
        if software.redirects != .anyPort {
            #expect(uris == 1)
            #expect(request.fields["scopes"] == "read write")
            #expect(redirect == request.fields["redirect_uris"])
        } else {
            #expect(uris == 2)
            #expect(
                authorization["scope"]
                    == "read:accounts read:statuses read:favourites write:favourites")
            #expect(request.fields["redirect_uris"]?.hasPrefix("http://127.0.0.1/callback") == true)
        }
        // No API request accepts an HTML page.
        for request in fixture.server.requests(on: .server) where request.path.hasPrefix("/api/") {
            #expect(request["Accept"] == "application/json")
        }
        // One registration is sufficient until the server forgets it.
        let isForOneLogin =
            software.revocation == .application || software.revocation == .allTokens
        try await fixture.logIn("bob")
        #expect(fixture.server.registrations == (isForOneLogin ? 2 : 1))
        if software.revealsUnknownClients {
            let before = fixture.server.registrations
            fixture.server.forgetApplications()
            try await fixture.logIn("bob")
            #expect(fixture.server.registrations == before + 1)
        }
        let keyring = try PrivateKeyring.current.connect()
        #expect(try await keyring.search(["server": "mastodon@photos.test"]).0.count == 1)
    }

    @Test(arguments: [UnsplashFixture.Place.daemon, .plugin])
    func `an account is recognised by its user ID`(place: UnsplashFixture.Place) async throws {
        let fixture = try await MastodonFixture(.mastodon, place: place)
        let ada = try await fixture.logIn("ada")
        fixture.server.renameUser("ada", to: "eve")
        #expect(try await fixture.logIn("eve").path == ada.path)
        #expect(try await fixture.property(ada, "Username") == .string("eve"))
        #expect(try await fixture.property(ada, "Server") == .string("photos.test"))
        fixture.server.addUser("ada")
        #expect(try await fixture.logIn("ada").path != ada.path)
        #expect(
            try await fixture.accounts() == [
                fixture.accountID("ada"), fixture.accountID("ada") + "_2",
            ])
    }

    @Test func `a handle leads to the server that its domain names`() async throws {
        let fixture = try await MastodonFixture(.mastodon)
        for domain in HandleDomain.allCases {
            fixture.server.settings.handles = domain
            let isNamed = ![.none, .loop, .localNetwork].contains(domain)
            let count = fixture.server.requests(on: .handles).count
            for server in ["@ada@handles.test", "handles.test"] {
                // WebFinger documents exist only for users.
                guard isNamed, domain != .webFinger || server.contains("@") else {
                    let login = try await fixture.client.startLogin(
                        "mastodon", [.server: .string(server)])
                    await expectError(.notSupported) { _ = try await login.wait() }
                    continue
                }
                let account = try await fixture.logIn("ada", [.server: .string(server)])
                #expect(try await fixture.property(account, "Server") == .string("photos.test"))
            }
            #expect(try await fixture.accounts() == (isNamed ? [fixture.accountID("ada")] : []))
            if isNamed { try await fixture.account(of: "ada").remove() }
            #expect(fixture.server.requests(on: .handles).count - count < 30)
        }
        #expect(fixture.server.requests(on: .handles).allSatisfy { $0["Authorization"] == nil })
    }

    @Test func `the end of a rate limit is read in any language`() async throws {
        let fixture = try await MastodonFixture(.mastodon)
        fixture.server.settings.isJapanese = true
        let ada = try await fixture.logIn("ada")
        let ahead = fixture.extendWindow()
        fixture.server.leaveRequests(0)
        await expectError(.rateLimited) { _ = try await ada.refresh("") }
        let properties = try await ada.properties(.account)
        let retry = try #require(properties["RetryAt"]?.int64)
        // The server counts in windows of five minutes.
        #expect((retry + Int64(ahead) - 1) % 300 == 0)
        #expect(properties["RateLimit"] == .structure([.uint32(0), .uint32(300), .int64(retry)]))
        // The other account has its own limit.
        let bob = try await fixture.logIn("bob")
        _ = try await bob.refresh("")
    }
}
