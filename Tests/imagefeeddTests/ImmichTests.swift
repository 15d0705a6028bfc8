import Contract
import DBus
import ImmichSimulator
import ProviderKit
import TestSupport
import Testing

/// Tests of the daemon with simulated Immich servers.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct ImmichTests {
    private let fixture: ImmichFixture
    private var server: SimulatedImmich { fixture.server }

    init() async throws { fixture = try await ImmichFixture() }

    @Test func `accounts at two servers are separate`() async throws {
        let other = try SimulatedImmich.start(.v2, seed: 2)
        other.addUser("ada")
        let ada = try await fixture.logIn("ada")
        let remote = try await fixture.logIn(other.makeKey(of: "ada"), at: other)
        let ids = [fixture.accountID("ada"), fixture.accountID("ada", at: other)]
        #expect(try await fixture.accounts() == Set(ids))
        // The photos of a user are only in the feed of that user.
        let own = server.publish { $0.owner = "ada" }.id
        let bob = try await fixture.logIn("bob")
        #expect(try await fixture.walk(ada) == [own] + server.photos)
        #expect(try await fixture.walk(bob) == server.photos)
        #expect(try await fixture.walk(remote) == other.photos)
        #expect(try await remote.like(other.photos[0]) == .done)
        #expect(try await ada.like(own) == .done)
        #expect(other.likes(of: "ada") == [other.photos[0]])
        #expect(server.likes(of: "ada") == [own])
        // No server receives the key of another one.
        #expect(fixture.tokens.count == 2)
        #expect(fixture.tokens.isDisjoint(with: other.requests().compactMap { $0["x-api-key"] }))
        try await ada.logout()
        #expect(try await fixture.property(remote, "State") == .string("ready"))
    }

    @Test func `a login with a password stores only the token, a logout revokes it`() async throws {
        let recording = try await BusRecording()
        let password = "password of ada"
        let wrong = try await fixture.startLogin(
            "wrong password", as: "ada@photos.test", at: server.url)
        await expectError(.wrongPassword) { _ = try await wrong.wait() }
        #expect(try await fixture.accounts().isEmpty)

        let ada = try await fixture.logIn(password, as: "ada@photos.test", at: server)
        #expect(ada.path == ServiceName.accounts.appending(fixture.accountID("ada")))
        #expect(try await ada.ids().count == 30)
        let token = try #require(server.sessions.first)
        let search = try #require(server.requests("POST /api/search/metadata").first)
        #expect(search["Authorization"] == "Bearer \(token)")
        #expect(search["x-api-key"] == nil)
        let stored = try PrivateKeyring.current.connect()
        let items = try await stored.search(["account": fixture.accountID("ada")]).0
        #expect(items.count == 1)

        // The token remains valid after a restart.
        try await fixture.restart()
        try await fixture.wait(ada, "ready")
        #expect(try await ada.refresh("") == 0)
        #expect(server.sessions == [token])

        // A key replaces the token, which is then revoked.
        let key = server.makeKey(of: "ada")
        #expect(try await fixture.logIn(key, at: server).path == ada.path)
        try await server.waitForReplies("POST /api/auth/logout")
        #expect(server.sessions.isEmpty)
        _ = try await ada.refresh("")
        #expect(server.requests("POST /api/search/metadata").last?["x-api-key"] == key)

        try await fixture.logIn(password, as: "ada@photos.test", at: server)
        let second = try #require(server.sessions.first)
        try await ada.logout()
        try await server.waitForReplies("POST /api/auth/logout", count: 2)
        #expect(server.sessions.isEmpty)
        try await fixture.expectNoTrace(of: "ada", [password, token, second])
        let (bus, log) = try await fixture.output(recording)
        for secret in [password, token, second, key] {
            #expect(!bus.contains(secret) && !log.contains(secret))
        }
    }

    @Test func `a login of another user by password fails and revokes its token`() async throws {
        let ada = try await fixture.logIn("ada")
        let login = try await fixture.client.startLogin(
            fixture.provider,
            [
                .account: .objectPath(ada.path), .username: .string("bob@photos.test"),
                .password: .secret("password of bob"),
            ])
        await expectError(.loginFailed) { _ = try await login.wait() }
        try await server.waitForReplies("POST /api/auth/logout")
        #expect(server.sessions.isEmpty)
        #expect(try await fixture.property(ada, "State") == .string("ready"))
    }

    @Test func `a login over http continues over https with another certificate`() async throws {
        let port = try #require(WebAddress(server.url)?.port)
        let frontend = try await HTTP2Frontend(to: port)
        let origin = "https://127.0.0.1:\(frontend.port)"
        let plain = try LoopbackServer { .redirect(301, to: origin + $0.path) }
        let key = server.makeKey(of: "ada")
        func logIn(_ secret: String, as username: String? = nil) async throws -> AccountClient {
            fixture.client.service.account(
                try await fixture.startLogin(secret, as: username, at: plain.origin).wait())
        }

        let untrusted = await errorReply { _ = try await logIn(key) }
        #expect(
            untrusted?.message.hasSuffix(
                "the certificate of 127.0.0.1 is not trusted; see “Certificates” in imagefeedd(1).")
                == true)
        let certificate = frontend.certificate
        try await fixture.daemon.configure("[Server 127.0.0.1]\nCertificateFile=\(certificate)\n")
        #expect(!fixture.daemon.process.standardError.value.text.contains("is ignored"))

        let ada = try await logIn(key)
        #expect(
            try await fixture.property(ada, "Server") == .string("127.0.0.1:\(frontend.port)"))
        #expect(try await fixture.walk(ada) == server.photos)
        #expect(try await !ada.imagePath(server.photos[0], size: "thumb").isEmpty)
        let bob = try await logIn("password of bob", as: "bob@photos.test")
        #expect(try await fixture.walk(bob) == server.photos)
        // Nothing secret is sent over http.
        #expect(
            plain.requests.value.allSatisfy {
                $0.method == "GET" && $0["x-api-key"] == nil && $0["Authorization"] == nil
            })
    }

    @Test func `an account at a server that now requires https says that`() async throws {
        let ada = try await fixture.logIn("ada")
        server.fail(
            "POST /api/search/metadata",
            .redirect(301, to: "https://127.0.0.1:1/api/search/metadata"), times: nil)
        let reply = await errorReply { _ = try await ada.refresh("") }
        #expect(
            reply?.message.contains("redirects to https://127.0.0.1:1, so log in with that address")
                == true)
    }

    @Test func `a server without logins by password says so`() async throws {
        server.acceptsPasswords = false
        let login = try await fixture.startLogin(
            "password of ada", as: "ada@photos.test", at: server.url)
        let reply = await errorReply { _ = try await login.wait() }
        #expect(reply?.name == ServiceError.notSupported.name)
        #expect(
            reply?.message.contains("does not accept passwords; log in with an API key") == true)
    }

    @Test func `the combined account shows why memories of an account fail`() async throws {
        let key = server.makeKey(of: "ada", permissions: ["asset.read", "user.read"])
        let ada = try await fixture.logIn(key, at: server)
        let combined = fixture.client.service.combined
        #expect(try await combined.page("memories", cursor: "", count: 5).photos.isEmpty)
        #expect(
            try await combined.properties(.combined)["Incomplete"]
                == .array([.objectPath(ada.path)], of: "o"))
        let notices = try #require(try await fixture.property(ada, "Notices")?.strings)
        #expect(notices.count == 1)
        #expect(notices.first?.hasPrefix("The source \"memories\" could not be read: ") == true)
        #expect(notices.first?.contains("permission memory.read") == true)
        #expect(try await fixture.property(ada, "State") == .string("ready"))

        server.setPermissions(nil, of: key)
        _ = try await combined.page("memories", cursor: "", count: 5)
        #expect(try await fixture.property(ada, "Notices")?.strings == [])
        #expect(try await combined.properties(.combined)["Incomplete"] == .array([], of: "o"))
    }

    @Test func `a redirect to another origin is refused`() async throws {
        let ada = try await fixture.logIn("ada")
        let ids = try await ada.ids()
        let patterns: [RequestPattern] = [
            "POST /api/search/metadata", "GET /api/assets/*/thumbnail", "GET /api/users/me",
        ]
        for status in [302, 307] {
            for pattern in patterns {
                server.fail(
                    pattern, .redirect(status, to: "\(server.unrelatedURL)/api/other"), times: nil)
            }
            await expectError(.serviceFailed) { _ = try await ada.refresh("") }
            await expectError(.serviceFailed) {
                _ = try await ada.imagePath(ids[1], size: "regular")
            }
            for pattern in patterns { server.recover(pattern) }
        }
        #expect(server.requests(on: .unrelated).isEmpty)
        _ = try await ada.refresh("")
    }
}
