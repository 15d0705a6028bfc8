import Contract
import DBus
import LoopbackHTTP
import TestSupport
import Testing
import UnsplashSimulator

/// Tests of the browser login.
@Suite(.privateBus, .privateKeyring, .timeLimit(.minutes(10))) @MainActor
struct UnsplashLoginTests {
    private func state(_ login: LoginClient) async throws -> String? {
        try await login.properties()["State"]?.string
    }

    @Test func `a login uses a pasted code if the redirect port is in use`() async throws {
        let fixture = try await UnsplashFixture()
        let server = try LoopbackServer(port: fixture.port) { _ in LoopbackResponse(text: "") }
        let (login, url) = try await fixture.startLogin()
        #expect(url.contains("redirect_uri=urn%3Aietf%3Awg%3Aoauth%3A2.0%3Aoob"), "\(url)")
        let redirect = try await fixture.unsplash.approve(url, as: "ada")
        try await login.submitCode(#require(redirect["code"]))
        #expect(try await login.wait() == ServiceName.accounts.appending("unsplash_ada"))
        withExtendedLifetime(server) {}
        try await fixture.daemon.stop()
    }

}
