import BusAPI
import DBus
import LoopbackHTTP
import TestSupport
import Testing
import UnsplashSimulator

/// The ways through a login in the browser, and out of it.
@Suite(.privateBus, .privateKeyring, .timeLimit(.minutes(1))) @MainActor
struct UnsplashLoginTests {
    private func state(_ login: LoginClient) async throws -> String? {
        try await login.properties()["State"]?.string
    }

    @Test(arguments: ["code", "address"])
    func `a code can be pasted`(what: String) async throws {
        let world = try await UnsplashWorld()
        let (login, url) = try await world.startLogin([.manual: .bool(true)])
        let redirect = try await world.unsplash.approve(url, as: "ada")
        let code = try #require(redirect["code"])
        // What is no code leaves the login as it is.
        for text in ["", " ", "https://example.org/", "?code=a&state=another", "two words"] {
            await expectError(.invalidArgs) { try await login.submitCode(text) }
        }
        #expect(try await state(login) == "waiting")
        try await login.submitCode(what == "code" ? "  \(code)\n" : redirect.address)
        #expect(try await login.wait() == ServiceName.accounts.appending("unsplash_ada"))
        #expect(try await state(login) == "succeeded")
        await expectError(ServiceError.cancelled.name) { try await login.submitCode(code) }
        #expect(try await login.wait() == ServiceName.accounts.appending("unsplash_ada"))
        try await world.daemon.stop()
    }

    @Test func `a code that the service does not know fails the login`() async throws {
        let world = try await UnsplashWorld()
        let (login, _) = try await world.startLogin([.manual: .bool(true)])
        try await login.submitCode("abcdefgh")
        await expectError(ServiceError.loginFailed.name) { _ = try await login.wait() }
        #expect(try await state(login) == "failed")
        #expect(try await world.accounts().isEmpty)
        try await world.daemon.stop()
    }

    @Test func `a login can be cancelled`() async throws {
        let world = try await UnsplashWorld()
        let (login, url) = try await world.startLogin()
        async let failure = errorReply { _ = try await login.wait() }
        try await login.cancel()
        #expect(await failure?.name == ServiceError.cancelled.name)
        #expect(try await state(login) == "cancelled")
        let redirect = try? await world.unsplash.approve(url, as: "ada")
        #expect(redirect?.answer?.text.contains("CancellationError") != true)
        #expect(world.unsplash.requests("POST /oauth/token").isEmpty)
        #expect(try await world.accounts().isEmpty)
        try await world.daemon.stop()
    }

    @Test func `a login that is cancelled late gives its token back`() async throws {
        let world = try await UnsplashWorld()
        let door = world.unsplash.hold("GET /me")
        let (login, url) = try await world.startLogin()
        async let redirect = world.unsplash.approve(url, as: "ada")
        try await world.unsplash.waitForRequests("GET /me")
        try await login.cancel()
        door.release()
        try await world.unsplash.waitForRequests("POST /oauth/revoke", count: 2)
        for token in world.tokens { #expect(!world.unsplash.isValid(token)) }
        #expect(try await world.accounts().isEmpty)
        let keyring = try PrivateKeyring.current.connect()
        #expect(try await keyring.search(["account": "unsplash_ada"]) == ([], []))
        _ = try await redirect
        try await world.daemon.stop()
    }

    @Test func `a user can say no`() async throws {
        let world = try await UnsplashWorld()
        let (login, url) = try await world.startLogin()
        async let failure = errorReply { _ = try await login.wait() }
        let redirect = try await world.unsplash.deny(url, as: "ada")
        #expect(await failure?.name == ServiceError.loginDenied.name)
        #expect(redirect.answer?.status == 200)
        #expect(try await state(login) == "failed")
        try await world.daemon.stop()
    }

    @Test func `where the port is taken the code is pasted`() async throws {
        let world = try await UnsplashWorld()
        let server = try LoopbackServer(port: world.port) { _ in LoopbackResponse(text: "") }
        let (login, url) = try await world.startLogin()
        #expect(url.contains("redirect_uri=urn%3Aietf%3Awg%3Aoauth%3A2.0%3Aoob"), "\(url)")
        let redirect = try await world.unsplash.approve(url, as: "ada")
        try await login.submitCode(#require(redirect["code"]))
        #expect(try await login.wait() == ServiceName.accounts.appending("unsplash_ada"))
        withExtendedLifetime(server) {}
        try await world.daemon.stop()
    }

    @Test func `two logins share the port`() async throws {
        let world = try await UnsplashWorld()
        let (first, firstURL) = try await world.startLogin()
        let (second, secondURL) = try await world.startLogin()
        async let bob = second.wait()
        async let ada = first.wait()
        try await world.unsplash.approve(secondURL, as: "bob")
        #expect(try await bob == ServiceName.accounts.appending("unsplash_bob"))
        #expect(try await state(first) == "waiting")
        try await world.unsplash.approve(firstURL, as: "ada")
        #expect(try await ada == ServiceName.accounts.appending("unsplash_ada"))
        try await world.daemon.stop()
    }

    @Test func `a redirect that comes again changes nothing`() async throws {
        let world = try await UnsplashWorld()
        let (login, url) = try await world.startLogin()
        let redirect = try await world.unsplash.approve(url, as: "ada")
        let account = try await login.wait()
        let again = try await LoopbackClient.send("GET", redirect.address)
        #expect(again.status == 200)
        #expect(again.text == redirect.answer?.text)
        // Nor does a forged one to a login that waits.
        let (other, otherURL) = try await world.startLogin()
        let base = redirect.address.prefix { $0 != "?" }
        for query in ["?code=x", "?code=x&state=y", "?error=access_denied&state=y"] {
            #expect(try await LoopbackClient.send("GET", base + query).status >= 400)
        }
        #expect(try await LoopbackClient.send("GET", redirect.address).status == 200)
        #expect(try await state(other) == "waiting")
        #expect(world.unsplash.requests("POST /oauth/token").count == 1)
        #expect(try await login.wait() == account)
        #expect(try await world.accounts() == ["unsplash_ada"])
        async let bob = other.wait()
        try await world.unsplash.approve(otherURL, as: "bob")
        #expect(try await bob == ServiceName.accounts.appending("unsplash_bob"))
        try await world.daemon.stop()
    }

    @Test(arguments: [
        Fault.silence, .reset, .htmlPage, .json("{}"), .status(500, error: "no"), .endless,
    ])
    func `a service that does not know its user fails the login`(fault: Fault) async throws {
        let world = try await UnsplashWorld()
        world.unsplash.fail("GET /me", fault, times: 1)
        let (login, url) = try await world.startLogin()
        async let failure = errorReply { _ = try await login.wait() }
        async let redirect = world.unsplash.approve(url, as: "ada")
        let reply = try #require(await failure)
        #expect(reply.name == ServiceError.serviceFailed.name, "\(reply.message)")
        #expect(try await redirect.answer?.status == 200)
        let revoked = try await world.unsplash.waitForRequests("POST /oauth/revoke", count: 2)
        for token in revoked.compactMap({ $0.fields["token"] }) {
            #expect(!world.unsplash.isValid(token))
        }
        #expect(try await world.accounts().isEmpty)
        try await world.daemon.stop()
    }

    @Test(arguments: [
        Fault.silence, .reset, .htmlPage, .json("{}"), .status(500, error: "no"), .endless,
    ])
    func `a service that fails fails the login`(fault: Fault) async throws {
        let world = try await UnsplashWorld()
        world.unsplash.fail("POST /oauth/token", fault, times: 1)
        let (login, url) = try await world.startLogin()
        async let failure = errorReply { _ = try await login.wait() }
        let redirect = try await world.unsplash.approve(url, as: "ada")
        let reply = try #require(await failure)
        #expect(reply.name == ServiceError.serviceFailed.name, "\(reply.message)")
        #expect(reply.message.hasSuffix("."), "\(reply.message)")
        #expect(redirect.answer?.status == 200)
        #expect(try await world.accounts().isEmpty)
        try await world.logIn("ada")
        try await world.daemon.stop()
    }
}
