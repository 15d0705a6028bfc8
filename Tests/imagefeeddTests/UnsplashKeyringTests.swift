import Contract
import DBus
import TestSupport
import Testing
import UnsplashSimulator

/// Tests of accounts whose keyring is locked or stops.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct UnsplashKeyringTests {
    @Test(arguments: ["locked", "killed"])
    func `a token that cannot be stored is revoked`(trouble: String) async throws {
        let fixture = try await UnsplashFixture()
        let gate = fixture.unsplash.hold("GET /me")
        let (login, url) = try await fixture.startLogin()
        async let failure = errorReply { _ = try await login.wait() }
        async let redirect = fixture.unsplash.approve(url, as: "ada")
        let request = try #require(try await fixture.unsplash.waitForRequests("GET /me").first)
        let token = try #require(request["Authorization"]?.split(separator: " ").last)
        if trouble == "locked" {
            try await PrivateKeyring.current.connect().lock()
        } else {
            try await PrivateKeyring.current.stop()
        }
        gate.release()
        let expected: ServiceError =
            trouble == "locked" ? .secretStoreLocked : .secretStoreUnavailable
        #expect(await failure?.name == expected.name)
        #expect(try await redirect.response?.text.contains("Error") == false)
        let revoked = try await fixture.unsplash.waitForReplies("POST /oauth/revoke", count: 2)
        #expect(revoked.contains { $0.fields["token"] == String(token) })
        #expect(!fixture.unsplash.isValid(String(token)))
        #expect(try await fixture.accounts().isEmpty)
        try await fixture.restart()
        #expect(try await fixture.accounts().isEmpty)
    }
}

/// Tests in a session without a keyring.
@Suite(.privateBus, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct UnsplashWithoutKeyringTests {
    @Test func `a login without a keyring recommends one and uses no code`() async throws {
        let fixture = try await UnsplashFixture(setup: .clientID)
        let (login, url) = try await fixture.startLogin()
        async let failure = errorReply { _ = try await login.wait() }
        try await fixture.unsplash.approve(url, as: "ada")
        let reply = try #require(await failure)
        #expect(reply.name == ServiceError.secretStoreUnavailable.name)
        #expect(reply.message.contains("install gnome-keyring"), "\(reply.message)")
        #expect(fixture.unsplash.requests("POST /oauth/token").isEmpty)
        #expect(try await fixture.accounts().isEmpty)
        let configured = try await Terminal.run(
            "configure", "unsplash", "--client-secret-file", "-", input: "secret")
        #expect(configured.exit == .code(1))
        #expect(configured.error.contains("install"), "\(configured.error)")
    }
}
