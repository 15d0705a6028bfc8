import Contract
import DBus
import Foundation
import Glibc
import MastodonSimulator
import ProviderKit
import TestSupport
import Testing
import UnsplashSimulator

/// Tests of accounts at servers that the user names.
@Suite(.privateBus, .privateKeyring, .timeLimit(.minutes(10))) @MainActor
struct MastodonTests {
    @Test func `cancelling a login does not wait for a server that hangs`() async throws {
        let fixture = try await MastodonFixture(.mastodon)
        let gate = fixture.server.hold("GET /.well-known/oauth-authorization-server")
        let path = try await fixture.client.service.manager.login("mastodon", fixture.loginOptions)
        let login = fixture.client.service.login(path)
        try await fixture.server.waitForRequests("GET /.well-known/oauth-authorization-server")
        try await login.cancel()
        #expect(try await login.properties()["State"] == .string("cancelled"))
        gate.release()
        try await fixture.daemon.stop()
    }

    @Test func `accounts of several servers work independently of an unresponsive server`()
        async throws
    {
        let unsplash = try SimulatedUnsplash.start(photoCount: 40)
        let port = LoopbackPort.reserve()
        unsplash.settings.redirectURIs.append("http://127.0.0.1:\(port)/callback")
        unsplash.addUser("ada")
        try Pictures.add(["1", "2"])
        let fixture = try await MastodonFixture(
            .mastodon, others: [("pixels.test", .pixelfed), ("old.test", .oldMastodon)],
            more: """
                [Provider unsplash]
                ApiUrl=\(unsplash.apiURL)
                WebUrl=\(unsplash.webURL)
                ClientId=\(unsplash.clientID)
                RedirectPort=\(port)
                """)
        let secret = try #require(
            FileDescriptor.pipe(holding: Array(unsplash.clientSecret.utf8), 43))
        try await fixture.client.service.provider(ServiceName.providers.appending("unsplash"))
            .configure([.clientSecret: .fileDescriptor(secret)])
        let local = try await fixture.client.logIn("eve")
        let ada = try await fixture.logIn("ada")
        let bob = try await fixture.logIn("bob")
        var others: [AccountClient] = []
        for server in fixture.others {
            others.append(
                try await fixture.logIn(
                    "ada", [.server: .string(server.name)], service: server))
        }
        let path = try await fixture.client.service.manager.login("unsplash", [:])
        let login = fixture.client.service.login(path)
        async let last = login.wait()
        let url = try #require(try await login.properties()["AuthorizationUrl"]?.string)
        try await unsplash.approve(url, as: "ada")
        let editorial = fixture.client.service.account(try await last)
        #expect(
            try await fixture.accounts() == [
                "local_eve", "mastodon_ada_40photos_2etest", "mastodon_bob_40photos_2etest",
                "mastodon_ada_40pixels_2etest", "mastodon_ada_40old_2etest", "unsplash_ada",
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
        await expectError(ServiceError.offline.name) { _ = try await others[1].refresh("") }
        for account in [local, ada, bob, editorial] {
            _ = try await account.refresh("")
            _ = try await fixture.ids(account)
        }
        for account in others { #expect(try await fixture.ids(account).count > 10) }
        // The call for the silent server, which ends after 18 s, was the first one.
        #expect(isStuck.value)
        for account in [ada, bob, editorial] {
            #expect(try await fixture.property(account, "State") == .string("ready"))
        }
        #expect(try await fixture.property(others[1], "State") == .string("offline"))
        fixture.others[0].recover("*")
        fixture.others[0].disconnect()
        await stuck.value
        try await fixture.daemon.stop()
    }

    @Test(arguments: Software.all)
    func `the client registration matches the requirements of each server`(
        software: Software
    ) async throws {
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
        let isForOneLogin = software.revocation == .application
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
        try await fixture.daemon.stop()
    }

    @Test(arguments: [UnsplashFixture.Place.daemon, .plugin])
    func `an account of a server is recognised by the user ID`(
        place: UnsplashFixture.Place
    ) async throws {
        let fixture = try await MastodonFixture(
            .mastodon, place: place)
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
        try await fixture.daemon.stop()
    }

    @Test(arguments: [UnsplashFixture.Place.daemon, .plugin])
    func `removing the last account of a server removes its tokens and the client registration`(
        place: UnsplashFixture.Place
    ) async throws {
        let fixture = try await MastodonFixture(.mastodon, place: place)
        fixture.server.settings.reusesTokens = false
        fixture.server.settings.tokenLifetimeSeconds = 7200
        let ada = try await fixture.logIn("ada")
        // The second user gets another client registration, and the server still knows the first.
        let keyring = try PrivateKeyring.current.connect()
        let item = ["server": "\(fixture.provider)@photos.test"]
        try await keyring.delete(try #require(try await keyring.search(item).0.first))
        let bob = try await fixture.logIn("bob")
        _ = try await fixture.logIn("bob")
        #expect(fixture.server.applicationCount == 2)
        try await fixture.server.waitForReplies("POST /oauth/revoke", count: 2)
        #expect(fixture.server.liveTokens.count == 2)
        // Each token is renewed by its own application.
        fixture.server.advanceClock(seconds: 7300)
        for account in [ada, bob] {
            _ = try await account.refresh("")
            #expect(try await fixture.property(account, "State") == .string("ready"))
        }
        #expect(fixture.server.liveTokens.count == 2)
        try await ada.remove()
        #expect(try await keyring.search(item).0.count == 1)
        try await bob.remove()
        #expect(try await keyring.search(item).0 == [])
        try await fixture.server.waitForReplies("POST /oauth/revoke", count: 6)
        #expect(fixture.server.liveTokens == [])
        try await fixture.daemon.stop()
    }

    @Test func `an expired token is renewed once`() async throws {
        let fixture = try await MastodonFixture(.pixelfed)
        fixture.server.settings.tokenLifetimeSeconds = 7200
        let ada = try await fixture.logIn("ada")
        _ = try await fixture.ids(ada)
        fixture.server.advanceClock(seconds: 7300)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for source in ["", "likes", "local", "tag:photography"] {
                group.addTask { _ = try await ada.refresh(source) }
            }
            try await group.waitForAll()
        }
        let renewals = fixture.server.requests("POST /oauth/token").count {
            $0.fields["grant_type"] == "refresh_token"
        }
        #expect(renewals == 1)
        #expect(try await fixture.property(ada, "State") == .string("ready"))
        try await fixture.daemon.stop()
    }

    @Test(arguments: [Software.pixelfed, .akkoma])
    func `a rejected refresh token requires a login`(software: Software) async throws {
        let fixture = try await MastodonFixture(software)
        let ada = try await fixture.logIn("ada")
        _ = try await fixture.ids(ada)
        fixture.server.advanceClock(seconds: 40_000_000)
        fixture.server.revokeTokens(of: "ada")
        await expectError(ServiceError.needsLogin.name) { _ = try await ada.refresh("") }
        #expect(try await fixture.property(ada, "State") == .string("needs-login"))
        try await fixture.logIn("ada")
        _ = try await ada.refresh("")
        try await fixture.daemon.stop()
    }

    @Test(arguments: HandleDomain.allCases)
    func `a handle leads to the server that its domain names`(
        domain: HandleDomain
    ) async throws {
        let fixture = try await MastodonFixture(.mastodon)
        fixture.server.settings.handles = domain
        let isNamed = ![.none, .loop, .localNetwork].contains(domain)
        for server in ["@ada@handles.test", "handles.test"] {
            // WebFinger documents exist only for users.
            guard isNamed, domain != .webFinger || server.contains("@") else {
                let path = try await fixture.client.service.manager.login(
                    "mastodon", [.server: .string(server)])
                let login = fixture.client.service.login(path)
                await expectError(ServiceError.notSupported.name) { _ = try await login.wait() }
                continue
            }
            let account = try await fixture.logIn("ada", [.server: .string(server)])
            #expect(try await fixture.property(account, "Server") == .string("photos.test"))
        }
        #expect(try await fixture.accounts() == (isNamed ? [fixture.accountID("ada")] : []))
        #expect(fixture.server.requests(on: .handles).allSatisfy { $0["Authorization"] == nil })
        #expect(fixture.server.requests(on: .handles).count < 30)
        try await fixture.daemon.stop()
    }

    @Test func `a rate limit of the instance document applies to the account`() async throws {
        let fixture = try await MastodonFixture(.mastodon)
        let limit = Fault.reply(
            Reply(429, json: ["error": "Too many requests"], headers: [("Retry-After", "600")]))
        fixture.server.fail("GET /api/*/instance", limit)
        let path = try await fixture.client.service.manager.login("mastodon", fixture.loginOptions)
        let login = fixture.client.service.login(path)
        await expectError(ServiceError.rateLimited.name) { _ = try await login.wait() }
        #expect(fixture.server.requests("GET /api/*/instance").count == 1)
        fixture.server.recover("GET /api/*/instance")

        let ada = try await fixture.logIn("ada")
        fixture.server.fail("GET /api/*/instance", limit)
        await expectError(ServiceError.rateLimited.name) {
            _ = try await fixture.ids(ada, "public")
        }
        #expect(try await fixture.property(ada, "State") == .string("rate-limited"))
        let count = fixture.requestCount
        await expectError(ServiceError.rateLimited.name) {
            _ = try await fixture.ids(ada, "public")
        }
        #expect(fixture.requestCount == count)
        try await fixture.daemon.stop()
    }

    @Test func `the public source works without the instance document`()
        async throws
    {
        let fixture = try await MastodonFixture(.mastodon)
        let ada = try await fixture.logIn("ada")
        fixture.server.fail(
            "GET /api/*/instance", .reply(Reply(403, json: ["error": "Not for you"])))
        #expect(try await !fixture.ids(ada, "public").isEmpty)
        let count = fixture.server.requests("GET /api/*/instance").count
        _ = try await ada.refresh("public")
        #expect(fixture.server.requests("GET /api/*/instance").count == count)
        try await fixture.daemon.stop()
    }

    @Test func `an invalid server name is rejected immediately`() async throws {
        let fixture = try await MastodonFixture(.mastodon)
        for name in ["", "localhost", "127.0.0.1", "http://photos.test", "a b", "photos.test:80"] {
            await expectError(.invalidArgs) {
                _ = try await fixture.client.service.manager.login(
                    "mastodon", [.server: .string(name)])
            }
        }
        let missing = try await Terminal.run("login", "mastodon", "--no-browser")
        #expect(missing.exit != .code(0))
        #expect(missing.error.contains("--server"), "\(missing.error)")
        await expectError(ServiceError.notSupported.name) {
            try await fixture.client.service.provider(ServiceName.providers.appending("mastodon"))
                .configure([:])
        }
        try await fixture.daemon.stop()
    }

    @Test func `a discovery that takes too long fails the login without registering a client`()
        async throws
    {
        let fixture = try await MastodonFixture(.mastodon)
        // Each response arrives within its own limit of 10 s, the three together do not within 18 s.
        let pause = Duration.milliseconds(6500)
        let slow: [RequestPattern] = [
            "/api/v2/instance", "/api/v1/instance", "/.well-known/oauth-authorization-server",
        ]
        var missing = Reply(404, text: "no")
        missing.delivery = .drip(bytes: 1 << 20, pause: pause)
        fixture.server.fail(slow[0], .reply(missing))
        for pattern in slow[1...] {
            fixture.server.fail(pattern, .drip(bytes: 1 << 20, pause: pause))
        }
        let path = try await fixture.client.service.manager.login("mastodon", fixture.loginOptions)
        let login = fixture.client.service.login(path)
        let reply = await errorReply { _ = try await login.wait() }
        #expect(reply?.name == ServiceError.serviceFailed.name)
        #expect(reply?.message.contains("did not respond in time") == true)
        try await fixture.server.waitForRequests(slow[1])
        for pattern in slow { fixture.server.recover(pattern) }
        // Another login is not disturbed.
        _ = try await fixture.logIn("ada")
        #expect(fixture.server.registrations == 1)
        #expect(fixture.server.requests("POST /api/v1/apps").count == 1)
        try await fixture.daemon.stop()
    }

    @Test func `a server with other software is rejected`() async throws {
        let fixture = try await MastodonFixture(.mastodon)
        for fault in [Fault.json("{}"), .htmlPage, .json(#"{"version":"1"}"#)] {
            fixture.server.fail("GET /api/*/instance", fault)
            let command = try await Terminal.run(
                "login", "mastodon", "--server", "photos.test", "--no-browser")
            #expect(command.exit == .code(1))
            #expect(command.error.contains("photos.test does not support"), "\(command.error)")
            fixture.server.recover("GET /api/*/instance")
        }
        #expect(fixture.server.registrations == 0)
        fixture.server.stop()
        let away = try await Terminal.run(
            "login", "mastodon", "--server", "photos.test", "--no-browser")
        #expect(away.exit == .code(75), "\(away.error)")
        try await fixture.daemon.stop()
    }

    @Test func `an unlike that the server applies later stays effective`() async throws {
        let fixture = try await MastodonFixture(.mastodon)
        let ada = try await fixture.logIn("ada")
        let ids = try await fixture.ids(ada)
        #expect(try await ada.like(ids[0]) == .done)
        #expect(try await Set(fixture.ids(ada, "likes")) == fixture.likeGroup(ids[0]))
        fixture.server.settings.delaysUnfavourites = true
        #expect(try await ada.unlike(ids[0]) == .done)
        for source in ["", "likes"] { _ = try await ada.refresh(source) }
        #expect(try await ada.photo(ids[0])["liked"] == .bool(false))
        #expect(try await fixture.ids(ada, "likes") == [])
        fixture.server.completeUnfavourites()
        for source in ["", "likes"] { _ = try await ada.refresh(source) }
        #expect(try await ada.photo(ids[0])["liked"] == .bool(false))
        try await fixture.daemon.stop()
    }

    @Test func `every source has its photos`() async throws {
        let fixture = try await MastodonFixture(.pixelfed)
        let ada = try await fixture.logIn("ada")
        let statuses = fixture.server.statuses
        let own = fixture.server.photos()
        #expect(try await fixture.walk(ada, "local") == own)
        let photo = try await ada.photo(own[0])
        #expect(photo["focus"] == .structure([.double(0.625), .double(0.75)]))
        #expect(photo["title"]?.string?.hasSuffix("& more example.org/a…") == true)
        #expect(photo["text"]?.string?.hasSuffix("& more\n\nexample.org/a…") == true)
        #expect(photo["sensitive"] == .bool(false))
        let lins = Set(statuses.filter { $0.author == "lin" }.flatMap { $0.photos() })
        #expect(try await fixture.walk(ada, "public") == own.filter(lins.contains))
        #expect(try await fixture.walk(ada, "user:lin") == own.filter(lins.contains))
        #expect(try await fixture.walk(ada, "tag:photography") == own)
        #expect(try await fixture.walk(ada, "tag:nothing") == [])
        await expectError(ServiceError.notFound.name) { _ = try await fixture.ids(ada, "user:no") }
        // More likes than a page contains, with cursors that the server reports incorrectly.
        for status in statuses.prefix(60) where status.boosts == nil {
            fixture.server.setLike(status.id, of: "ada")
        }
        let likes = try await fixture.walk(ada, "likes")
        #expect(Set(likes).count == likes.count)
        #expect(Set(likes) == fixture.likes(of: "ada").intersection(own))
        try await fixture.daemon.stop()
    }

    @Test func `sensitive photos are hidden and the setting applies immediately`() async throws {
        let fixture = try await MastodonFixture(.mastodon)
        let ada = try await fixture.logIn("ada")
        let hidden = fixture.server.photos()
        let all = fixture.server.photos(showingSensitive: true)
        #expect(all.count > hidden.count)
        #expect(try await fixture.walk(ada) == hidden)
        let file = "home/.config/imagefeed/imagefeed.conf"
        let directory = try PrivateBus.current.directory
        let text = try String(contentsOfFile: directory.appending(file), encoding: .utf8)
        try directory.write(text + "ShowSensitive=true\n", to: file)
        fixture.daemon.process.kill(SIGHUP)
        try await fixture.wait(ada, "ready")
        var shown: [String] = []
        while shown != all { shown = (try? await fixture.walk(ada)) ?? [] }
        let marked = try await ada.photo(try #require(all.first { !hidden.contains($0) }))
        #expect(marked["sensitive"] == .bool(true))
        try directory.write(text, to: file)
        fixture.daemon.process.kill(SIGHUP)
        while shown != hidden { shown = (try? await fixture.walk(ada)) ?? [] }
        try await fixture.daemon.stop()
    }

    @Test func `a feed that the server is still building is not treated as empty`() async throws {
        let fixture = try await MastodonFixture(.mastodon)
        fixture.server.settings.isPreparingHome = true
        let ada = try await fixture.logIn("ada")
        let reply = await errorReply { _ = try await fixture.ids(ada) }
        #expect(reply?.message.contains("still preparing this feed") == true)
        fixture.server.settings.isPreparingHome = false
        #expect(try await fixture.walk(ada) == fixture.feed)
        fixture.server.settings.isPreparingHome = true
        _ = await errorReply { _ = try await ada.refresh("") }
        #expect(try await fixture.walk(ada) == fixture.feed)
        try await fixture.daemon.stop()
    }

    @Test func `the end of a rate limit is read in any language`() async throws {
        let fixture = try await MastodonFixture(.mastodon)
        fixture.server.settings.isJapanese = true
        let ada = try await fixture.logIn("ada")
        try await fixture.waitForWindow()
        fixture.server.leaveRequests(0)
        await expectError(ServiceError.rateLimited.name) { _ = try await ada.refresh("") }
        let properties = try await ada.properties(.account)
        let retry = try #require(properties["RetryAt"]?.int64)
        // The server counts in windows of five minutes.
        #expect((retry - 1) % 300 == 0)
        #expect(properties["RateLimit"] == .structure([.uint32(0), .uint32(300), .int64(retry)]))
        // The other account has its own limit.
        let bob = try await fixture.logIn("bob")
        _ = try await bob.refresh("")
        try await fixture.daemon.stop()
    }

    @Test(arguments: [
        (403, "This action is not allowed", "ServiceFailed"),
        (422, "Validation failed: Favourite is invalid", "ServiceFailed"),
        (403, "This action is outside the authorized scopes", "local"),
    ])
    func `a refused like is not sent again`(
        status: Int, text: String, result: String
    ) async throws {
        let fixture = try await MastodonFixture(.mastodon)
        let ada = try await fixture.logIn("ada")
        let ids = try await fixture.ids(ada)
        fixture.server.fail(
            fixture.pattern(.like), .reply(Reply(status, json: ["error": .string(text)])))
        if result == "local" {
            #expect(try await ada.like(ids[0]) == .local)
        } else {
            await expectError(ServiceError.serviceFailed.name) { _ = try await ada.like(ids[0]) }
        }
        #expect(
            try await fixture.client.proxy(ada.path).property(.like, "Pending")
                == .array([], of: String.signature))
        #expect(try await ada.photo(ids[0])["pending"] == .bool(false))
        #expect(try await ada.photo(ids[0])["liked"] == .bool(result == "local"))
        #expect(try await fixture.property(ada, "State") == .string("ready"))
        // A refresh of the account sends local likes again, because the user may have granted the permission.
        try await ada.refresh()
        // The refresh does not wait for the likes.
        let count = result == "local" ? 2 : 1
        try await fixture.server.waitForRequests(fixture.pattern(.like), count: count)
        #expect(fixture.server.requests(fixture.pattern(.like)).count == count)
        try await fixture.daemon.stop()
    }

    // MARK: Changing feeds

    @Test func `a boost of an old photo among many new ones loses nothing`() async throws {
        let fixture = try await MastodonFixture(.mastodon)
        for _ in 0..<100 { fixture.server.publish() }
        let ada = try await fixture.logIn("ada")
        let before = try await fixture.walk(ada)
        #expect(before == fixture.feed)
        let old = try #require(fixture.server.statuses.dropFirst(54).first)
        for _ in 0..<30 { fixture.server.publish() }
        fixture.server.boost(old.id)
        for _ in 0..<30 { fixture.server.publish() }
        // The photos of one page: the rest is in a gap.
        let new = try await ada.refresh("")
        #expect(new == 39)
        let feed = fixture.feed
        #expect(feed.count == before.count + 60)
        #expect(try await fixture.walk(ada) == feed)
        // A new daemon has the complete feed.
        try await fixture.daemon.stop()
        fixture.daemon = try await RunningDaemon(MastodonFixture.arguments)
        try await fixture.wait(ada, "ready")
        #expect(try await fixture.walk(ada) == feed)
        try await fixture.daemon.stop()
    }

    @Test func `a photo that is boosted during a walk is shown once`() async throws {
        let fixture = try await MastodonFixture(.mastodon)
        let ada = try await fixture.logIn("ada")
        let feed = fixture.feed
        let (photos, next) = try await ada.page("", cursor: "", count: 20)
        var found = photos.compactMap { $0["id"]?.string }
        // A shown photo, a cached photo below, and a photo that was never fetched.
        for photo in [feed[3], feed[24], feed[feed.count - 2]] {
            fixture.server.boost(String(photo.prefix { $0 != "." }))
        }
        _ = try await ada.refresh("")
        var cursor = next
        while !cursor.isEmpty {
            let (photos, next) = try await ada.page("", cursor: cursor, count: 7)
            found += photos.compactMap { $0["id"]?.string }
            cursor = next
        }
        #expect(found == feed)
        #expect(try await fixture.walk(ada) == fixture.feed)
        try await fixture.daemon.stop()
    }

    @Test func `a refresh removes deleted photos and inserts late ones`()
        async throws
    {
        let fixture = try await MastodonFixture(.mastodon)
        for _ in 0..<30 { fixture.server.publish() }
        let ada = try await fixture.logIn("ada")
        let before = try await fixture.walk(ada)
        let statuses = fixture.server.statuses
        fixture.server.delete(statuses[2].id)
        fixture.server.change(statuses[4].id) { $0.filterAction = "hide" }
        fixture.server.change(statuses[6].id) { $0.isSensitive = true }
        let late = fixture.server.arriveLate(below: 10)
        #expect(try await ada.refresh("") == 1)
        let after = try await fixture.walk(ada)
        #expect(after == fixture.feed)
        #expect(after.contains(late.photos()[0]))
        for index in [2, 4, 6] {
            #expect(before.contains(statuses[index].photos()[0]))
            #expect(!after.contains(statuses[index].photos()[0]))
        }
        try await fixture.daemon.stop()
    }
}
