import Contract
import DBus
import Foundation
import Glibc
import ServiceSimulator
import TestSupport
import Testing

/// Tests of the browser login at every provider that has one.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct AcceptanceLoginTests {
    private func state(_ login: LoginClient) async throws -> String? {
        try await login.properties()["State"]?.string
    }

    @Test(arguments: TestedProvider.withBrowser)
    func `a code or the final address can be pasted`(provider: TestedProvider) async throws {
        let fixture = try await provider.browserFixture()
        for paste in fixture.showsCodes ? ["code", "address"] : ["address"] {
            let (login, url) = try await fixture.startLogin([.manual: .bool(true)])
            // Without a redirect listener, the browser ends at an address or at a page with the code.
            let redirect = try await fixture.service.approve(
                url, as: "ada", followingRedirect: false)
            let code = try #require(redirect["code"])
            // Invalid codes do not change the login.
            for text in ["", " ", "https://example.org/", "?code=a&state=another", "two words"] {
                await expectError(.invalidArgs) { try await login.submitCode(text) }
            }
            #expect(try await state(login) == "waiting")
            try await login.submitCode(paste == "code" ? "  \(code)\n" : redirect.address)
            #expect(try await login.wait() == fixture.account(of: "ada").path)
            #expect(try await state(login) == "succeeded")
            await expectError(.cancelled) { try await login.submitCode(code) }
        }
        let (wrong, _) = try await fixture.startLogin([.manual: .bool(true)])
        try await wrong.submitCode("abcdefgh")
        let failure = fixture.rejectsCodes ? ServiceError.loginFailed : ServiceError.serviceFailed
        await expectError(failure.name) { _ = try await wrong.wait() }
        #expect(try await state(wrong) == "failed")
    }

    @Test(arguments: TestedProvider.withBrowser)
    func `concurrent logins can be denied or cancelled`(provider: TestedProvider) async throws {
        let fixture = try await provider.browserFixture()
        let (denied, deniedURL) = try await fixture.startLogin()
        async let refusal = errorReply { _ = try await denied.wait() }
        let page = try await fixture.service.deny(deniedURL, as: "ada")
        #expect(await refusal?.name == ServiceError.loginDenied.name)
        #expect(page.response?.status == 200)
        #expect(try await state(denied) == "failed")

        let (cancelled, _) = try await fixture.startLogin()
        async let cancellation = errorReply { _ = try await cancelled.wait() }
        try await cancelled.cancel()
        #expect(await cancellation?.name == ServiceError.cancelled.name)
        #expect(try await state(cancelled) == "cancelled")
        #expect(try await fixture.accounts().isEmpty)

        let (first, firstURL) = try await fixture.startLogin()
        let (second, secondURL) = try await fixture.startLogin()
        async let bob = second.wait()
        async let ada = first.wait()
        let redirect = try await fixture.service.approve(secondURL, as: "bob")
        #expect(try await bob == fixture.account(of: "bob").path)
        #expect(try await state(first) == "waiting")
        // A repeated or forged redirect has no effect.
        let base = redirect.address.prefix { $0 != "?" }
        #expect(try await LoopbackClient.send("GET", redirect.address).status == 200)
        for query in ["?code=x", "?code=x&state=y", "?error=access_denied&state=y"] {
            #expect(try await LoopbackClient.send("GET", base + query).status >= 400)
        }
        #expect(try await state(first) == "waiting")
        try await fixture.service.approve(firstURL, as: "ada")
        #expect(try await ada == fixture.account(of: "ada").path)
    }

    nonisolated private static let faults: [Fault] = [
        .reset, .htmlPage, .json("{}"), .htmlStatus(500), .endless,
    ]

    @Test(arguments: TestedProvider.withBrowserAndFaults)
    func `a failed login leaves no data`(provider: TestedProvider) async throws {
        let fixture = try await provider.browserFixture()
        // After the first login, the client registration exists.
        try await fixture.logIn("bob")
        for endpoint in [Endpoint.token, .user] {
            for fault in Self.faults {
                let (login, url) = try await fixture.startLogin()
                let before = fixture.service.requests(fixture.pattern(.revocation)).count
                fixture.service.fail(fixture.pattern(endpoint), fault)
                async let failure = errorReply { _ = try await login.wait() }
                async let redirect = fixture.service.approve(url, as: "ada")
                let reply = try #require(await failure)
                #expect(reply.name == ServiceError.serviceFailed.name, "\(reply.message)")
                #expect(reply.message.hasSuffix("."), "\(reply.message)")
                #expect(try await redirect.response?.status == 200)
                fixture.service.recover(fixture.pattern(endpoint))
                if endpoint == .user { try await fixture.expectRevocation(after: before) }
            }
        }
        #expect(try await fixture.accounts() == [fixture.accountID("bob")])
        try await fixture.logIn("ada")
    }

    @Test(arguments: TestedProvider.withBrowserAndFaults)
    func `no secret is disclosed or sent to another server`(provider: TestedProvider) async throws {
        let recording = try await BusRecording()
        let (fixture, ada, ids) = try await readFeed(of: provider.browserFixture())
        _ = try await ada.like(ids[0])
        // Let requests fail, redirect and refuse them, and let a login fail.
        let elsewhere = Fault.redirect(307, to: fixture.unrelatedURL + "/photos")
        for fault in [Fault.htmlPage, elsewhere] {
            fixture.service.fail(fixture.pattern(.feed), fault, times: 1)
            _ = await errorReply { _ = try await ada.refresh("") }
        }
        fixture.service.fail(fixture.pattern(.like), elsewhere, times: 1)
        _ = try? await ada.like(ids[1])
        let (login, url) = try await fixture.startLogin()
        fixture.service.fail(fixture.pattern(.token), elsewhere, times: 1)
        async let failure = errorReply { _ = try await login.wait() }
        let redirect = try await fixture.service.approve(url, as: "bob")
        #expect(await failure != nil)
        let bob = try await fixture.logIn("bob")
        fixture.revokeTokens(of: "bob")
        _ = await errorReply { _ = try await bob.refresh("") }

        var secrets = fixture.tokens.union(fixture.clientSecrets)
        for request in fixture.service.requests(fixture.pattern(.token)) {
            for field in ["code", "refresh_token", "code_verifier"] {
                if let secret = request.fields[field], secret != "none" { secrets.insert(secret) }
            }
        }
        #expect(try secrets.contains(#require(redirect["code"])))
        #expect(secrets.count >= 5)
        let (bus, log) = try await fixture.output(recording)
        let process = "/proc/\(fixture.daemon.process.id)"
        // Only root can read the environment of a process that is not dumpable.
        #expect(getuid() == 0 || access("\(process)/environ", R_OK) != 0)
        let shown = try (getuid() == 0 ? ["cmdline", "environ"] : ["cmdline"]).map {
            try String(contentsOfFile: "\(process)/\($0)", encoding: .utf8)
        }
        #expect(shown[0].contains("imagefeedd"))
        for secret in secrets {
            for text in shown + [bus, log] { #expect(!text.contains(secret)) }
        }
        #expect(bus.contains(ids[0]))
        #expect(try await files(holding: Array(secrets)) == [])
        for request in fixture.service.requests(on: .unrelated) {
            #expect(request["Authorization"] == nil)
            let text =
                String(decoding: request.body, as: UTF8.self) + request.target
                + request.headers.map(\.value).joined()
            for secret in secrets { #expect(!text.contains(secret)) }
        }
    }
}
