import Contract
import DBus
import Foundation
import TestSupport
import Testing
import UnsplashSimulator

/// Tests that tokens, codes and client secrets are sent only to the service and the keyring.
@Suite(.privateBus, .privateKeyring, .timeLimit(.minutes(10))) @MainActor
struct UnsplashSecrecyTests {
    @Test func `no secret is disclosed`() async throws {
        let recording = try await BusRecording()
        let fixture = try await UnsplashFixture()
        let unsplash = fixture.unsplash
        unsplash.settings.tokenLifetimeSeconds = 7200
        let ada = try await fixture.logIn("ada")
        let ids = try await fixture.ids(ada)
        _ = try await ada.like(ids[0])
        // Renew a token, let a login fail, let an account require a login, and let requests fail in several ways.
        unsplash.advanceClock(seconds: 7300)
        _ = try await ada.refresh("")
        unsplash.fail("GET /photos", .htmlPage, times: 1)
        _ = await errorReply { _ = try await ada.refresh("") }
        unsplash.fail(
            "POST /oauth/token", .oauth(401, "invalid_client", description: "no"), times: 1)
        let (login, url) = try await fixture.startLogin()
        async let failure = errorReply { _ = try await login.wait() }
        let redirect = try await unsplash.approve(url, as: "bob")
        #expect(await failure?.name == ServiceError.loginFailed.name)
        let second = try await fixture.logIn("bob")
        unsplash.revokeTokens(of: "bob")
        _ = await errorReply { _ = try await second.refresh("") }
        let process = fixture.daemon.process.id
        // Only root can read the environment of a process that is not dumpable.
        let environment =
            getuid() == 0
            ? try String(
                decoding: Data(contentsOf: URL(filePath: "/proc/\(process)/environ")),
                as: UTF8.self) : ""
        #expect(getuid() == 0 || access("/proc/\(process)/environ", R_OK) != 0)
        let commandLine = try String(
            decoding: Data(contentsOf: URL(filePath: "/proc/\(process)/cmdline")), as: UTF8.self)
        #expect(commandLine.contains("imagefeedd"))

        var secrets = fixture.tokens
        for request in unsplash.requests("POST /oauth/token") {
            for field in ["code", "refresh_token"] {
                if let secret = request.fields[field] { secrets.insert(secret) }
            }
        }
        secrets.insert(unsplash.clientSecret)
        #expect(secrets.count >= 7)
        #expect(try secrets.contains(#require(redirect["code"])))
        let bus = try await recording.text()
        let log = fixture.daemon.process.standardError.value.text
        for secret in secrets {
            #expect(!bus.contains(secret))
            #expect(!log.contains(secret))
            #expect(!environment.contains(secret))
            #expect(!commandLine.contains(secret))
        }
        #expect(bus.contains(ids[0]))
        #expect(try await files(holding: Array(secrets)) == [])
        try await fixture.daemon.stop()
    }

}
