import BusAPI
import DBus
import LoopbackHTTP
import ServiceSimulator
import TestSupport
import Testing

/// Tests of the browser login at every provider that has one.
@Suite(.privateBus, .privateKeyring, .timeLimit(.minutes(1))) @MainActor
struct AcceptanceLoginTests {
    private func state(_ login: LoginClient) async throws -> String? {
        try await login.properties()["State"]?.string
    }

    @Test(arguments: TestedProvider.withBrowser)
    func `the code or the final address of the browser can be pasted`(provider: TestedProvider)
        async throws
    {
        let world = try await provider.browserWorld()
        for paste in world.showsCodes ? ["code", "address"] : ["address"] {
            let (login, url) = try await world.startLogin([.manual: .bool(true)])
            // Without a redirect listener, the browser ends at an address or at a page with the code.
            let redirect = try await world.service.approve(url, as: "ada", followingRedirect: false)
            let code = try #require(redirect["code"])
            // Invalid codes do not change the login.
            for text in ["", " ", "https://example.org/", "?code=a&state=another", "two words"] {
                await expectError(.invalidArgs) { try await login.submitCode(text) }
            }
            #expect(try await state(login) == "waiting")
            try await login.submitCode(paste == "code" ? "  \(code)\n" : redirect.address)
            #expect(
                try await login.wait() == ServiceName.accounts.appending(world.accountID("ada")))
            #expect(try await state(login) == "succeeded")
            await expectError(ServiceError.cancelled.name) { try await login.submitCode(code) }
        }
        let (wrong, _) = try await world.startLogin([.manual: .bool(true)])
        try await wrong.submitCode("abcdefgh")
        let failure = world.rejectsCodes ? ServiceError.loginFailed : ServiceError.serviceFailed
        await expectError(failure.name) { _ = try await wrong.wait() }
        #expect(try await state(wrong) == "failed")
        try await world.daemon.stop()
    }

    @Test(arguments: TestedProvider.withBrowser)
    func `concurrent logins are independent and can be denied or cancelled`(
        provider: TestedProvider
    ) async throws {
        let world = try await provider.browserWorld()
        let (denied, deniedURL) = try await world.startLogin()
        async let refusal = errorReply { _ = try await denied.wait() }
        let page = try await world.service.deny(deniedURL, as: "ada")
        #expect(await refusal?.name == ServiceError.loginDenied.name)
        #expect(page.response?.status == 200)
        #expect(try await state(denied) == "failed")

        let (cancelled, _) = try await world.startLogin()
        async let cancellation = errorReply { _ = try await cancelled.wait() }
        try await cancelled.cancel()
        #expect(await cancellation?.name == ServiceError.cancelled.name)
        #expect(try await state(cancelled) == "cancelled")
        #expect(try await world.accounts().isEmpty)

        let (first, firstURL) = try await world.startLogin()
        let (second, secondURL) = try await world.startLogin()
        async let bob = second.wait()
        async let ada = first.wait()
        let redirect = try await world.service.approve(secondURL, as: "bob")
        #expect(try await bob == ServiceName.accounts.appending(world.accountID("bob")))
        #expect(try await state(first) == "waiting")
        // A repeated or forged redirect has no effect.
        let base = redirect.address.prefix { $0 != "?" }
        #expect(try await LoopbackClient.send("GET", redirect.address).status == 200)
        for query in ["?code=x", "?code=x&state=y", "?error=access_denied&state=y"] {
            #expect(try await LoopbackClient.send("GET", base + query).status >= 400)
        }
        #expect(try await state(first) == "waiting")
        try await world.service.approve(firstURL, as: "ada")
        #expect(try await ada == ServiceName.accounts.appending(world.accountID("ada")))
        try await world.daemon.stop()
    }

    nonisolated private static let faults: [Fault] = [
        .reset, .htmlPage, .json("{}"), .htmlStatus(500), .endless,
    ]

    @Test(arguments: TestedProvider.withBrowser)
    func `a failure of the service fails the login without leaving data`(
        provider: TestedProvider
    ) async throws {
        let world = try await provider.browserWorld()
        // After the first login, the client registration exists.
        try await world.logIn("bob")
        for endpoint in [Endpoint.token, .user] {
            for fault in Self.faults {
                let (login, url) = try await world.startLogin()
                let before = world.service.requests(world.pattern(.revocation)).count
                world.service.fail(world.pattern(endpoint), fault)
                async let failure = errorReply { _ = try await login.wait() }
                async let redirect = world.service.approve(url, as: "ada")
                let reply = try #require(await failure)
                #expect(reply.name == ServiceError.serviceFailed.name, "\(reply.message)")
                #expect(reply.message.hasSuffix("."), "\(reply.message)")
                #expect(try await redirect.response?.status == 200)
                world.service.recover(world.pattern(endpoint))
                guard endpoint == .user, world.requestsPerRevocation > 0 else { continue }
                let revoked = try await world.service.waitForReplies(
                    world.pattern(.revocation), count: before + world.requestsPerRevocation)
                for token in revoked.compactMap({ $0.fields["token"] }) {
                    #expect(!world.isValid(token))
                }
            }
        }
        #expect(try await world.accounts() == [world.accountID("bob")])
        try await world.logIn("ada")
        try await world.daemon.stop()
    }

    @Test(arguments: TestedProvider.withBrowser)
    func `a login that is cancelled late revokes its token`(
        provider: TestedProvider
    ) async throws {
        let world = try await provider.browserWorld()
        let gate = world.service.hold(world.pattern(.user))
        let (login, url) = try await world.startLogin()
        async let redirect = world.service.approve(url, as: "ada")
        try await world.service.waitForRequests(world.pattern(.user))
        try await login.cancel()
        gate.release()
        if world.requestsPerRevocation > 0 {
            try await world.service.waitForReplies(
                world.pattern(.revocation), count: world.requestsPerRevocation)
            for token in world.tokens { #expect(!world.isValid(token)) }
        }
        _ = try await redirect
        #expect(try await world.accounts().isEmpty)
        try await world.expectNoTrace(of: "ada", Array(world.tokens))
        try await world.daemon.stop()
    }

    @Test(arguments: TestedProvider.withBrowser)
    func `no secret is disclosed or sent to another server`(
        provider: TestedProvider
    ) async throws {
        let recording = try await BusRecording()
        let world = try await provider.browserWorld()
        let ada = try await world.logIn("ada")
        let ids = try await world.ids(ada)
        _ = try await ada.like(ids[0])
        // Let requests fail, redirect and refuse them, and let a login fail.
        let elsewhere = Fault.redirect(307, to: world.unrelatedURL + "/photos")
        for fault in [Fault.htmlPage, elsewhere] {
            world.service.fail(world.pattern(.feed), fault, times: 1)
            _ = await errorReply { _ = try await ada.refresh("") }
        }
        world.service.fail(world.pattern(.like), elsewhere, times: 1)
        _ = try? await ada.like(ids[1])
        let (login, url) = try await world.startLogin()
        world.service.fail(world.pattern(.token), elsewhere, times: 1)
        async let failure = errorReply { _ = try await login.wait() }
        let redirect = try await world.service.approve(url, as: "bob")
        #expect(await failure != nil)
        let bob = try await world.logIn("bob")
        world.revokeTokens(of: "bob")
        _ = await errorReply { _ = try await bob.refresh("") }

        var secrets = world.tokens.union(world.clientSecrets)
        for request in world.service.requests(world.pattern(.token)) {
            for field in ["code", "refresh_token", "code_verifier"] {
                if let secret = request.fields[field], secret != "none" { secrets.insert(secret) }
            }
        }
        #expect(try secrets.contains(#require(redirect["code"])))
        #expect(secrets.count >= 5)
        let bus = try await recording.text()
        let log = world.daemon.process.standardError.value.text
        for secret in secrets {
            #expect(!bus.contains(secret))
            #expect(!log.contains(secret))
        }
        #expect(bus.contains(ids[0]))
        #expect(try await files(holding: Array(secrets)) == [])
        for request in world.service.requests(on: .unrelated) {
            #expect(request["Authorization"] == nil)
            let text =
                String(decoding: request.body, as: UTF8.self) + request.target
                + request.headers.map(\.value).joined()
            for secret in secrets { #expect(!text.contains(secret)) }
        }
        try await world.daemon.stop()
    }
}
