import Contract
import DBus
import Foundation
import NextcloudSimulator
import ProviderKit
import TestSupport
import Testing

/// Tests of the daemon with simulated Nextcloud servers.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct NextcloudTests {
    @Test(arguments: [UnsplashFixture.Place.daemon, .plugin])
    func `a login stores a password that no message has, and a logout revokes it`(
        place: UnsplashFixture.Place
    ) async throws {
        let recording = try await BusRecording()
        let fixture = try await NextcloudFixture(place: place, path: "/nextcloud")
        let server = fixture.server
        let (login, url) = try await fixture.startLogin(at: server.url + "/index.php/apps/files/")
        #expect(url.hasPrefix("\(server.url)/index.php/login/v2/flow/"))
        #expect(try await login.properties()["State"] == .string("waiting"))
        try await server.waitForReplies("POST /nextcloud/index.php/login/v2/poll")
        #expect(try await login.properties()["State"] == .string("waiting"))
        #expect(server.passwords.isEmpty)
        server.confirm(url, as: "ada")
        let ada = fixture.client.service.account(try await login.wait())
        #expect(ada.path == ServiceName.accounts.appending(fixture.accountID("ada")))
        #expect(try await ada.ids().count == 30)
        let password = try #require(server.passwords.first)
        let field = Data(password.utf8).base64EncodedString()
        #expect(
            server.requests("SEARCH /nextcloud/remote.php/dav/").allSatisfy {
                $0["Authorization"] == "Basic \(field)"
            })
        // The login itself carries no credentials.
        #expect(
            server.requests().filter { $0.path.contains("/login/v2") }.allSatisfy {
                $0["Authorization"] == nil
            })

        // The password remains valid after a restart.
        try await fixture.restart()
        try await fixture.wait(ada, "ready")
        #expect(try await ada.refresh("") == 0)

        // Another login of the user replaces the password, which is then revoked.
        #expect(try await fixture.logIn("ada").path == ada.path)
        try await server.waitForReplies("DELETE /nextcloud/ocs/v2.php/core/apppassword")
        let second = try #require(server.passwords.first)
        #expect(server.passwords == [second] && second != password)
        #expect(try await ada.refresh("") == 0)
        try await ada.logout()
        try await server.waitForReplies("DELETE /nextcloud/ocs/v2.php/core/apppassword", count: 2)
        #expect(server.passwords.isEmpty)
        let secrets = [password, second].flatMap {
            [String($0.dropFirst(4)), Data($0.utf8).base64EncodedString()]
        }
        try await fixture.expectNoTrace(of: "ada", secrets)
        let (bus, log) = try await fixture.output(recording)
        for secret in secrets { #expect(!bus.contains(secret) && !log.contains(secret)) }
        #expect(server.requests(on: .unrelated).isEmpty)
    }

    @Test func `no revoked password is sent, and a failed logout says so`() async throws {
        let fixture = try await NextcloudFixture()
        let server = fixture.server
        let ada = try await fixture.logIn("ada")
        let old = try #require(server.passwords.first)
        server.revokeAll(of: "ada")
        _ = await errorReply { _ = try await ada.refresh("") }
        try await fixture.wait(ada, "needs-login")
        let count = server.requestCount
        _ = try await fixture.logIn("ada")
        let revocation: RequestPattern = "DELETE /ocs/v2.php/core/apppassword"
        server.fail(revocation, .textStatus(502, ""))
        let logout = try await Terminal.run("logout", "--yes")
        #expect(
            logout.error.contains("The password of this login is still valid at \(server.url);"))
        #expect(server.passwords.count == 1)
        let field = "Basic \(Data(old.utf8).base64EncodedString())"
        let later = server.requests().dropFirst(count)
        #expect(!server.requests(revocation).isEmpty && later.count > 3)
        #expect(later.allSatisfy { $0["Authorization"] != field })
    }

    @Test func `a refresh of the account fetches the albums`() async throws {
        let (fixture, ada) = try await logIn(to: NextcloudFixture())
        #expect(try await ada.sources().count == 3)
        fixture.server.addAlbum("Alps", fixture.server.photos)
        try await ada.refresh()
        #expect(try await ada.sources().last?.id.text == "album:Alps")
    }

    @Test func `a login over http continues over https after a redirect`() async throws {
        let fixture = try await NextcloudFixture()
        let port = try #require(WebAddress(fixture.server.url)?.port)
        let frontend = try await HTTP2Frontend(to: port)
        let plain = try LoopbackServer {
            .redirect(301, to: "https://127.0.0.1:\(frontend.port)\($0.path)")
        }
        let login = try await fixture.client.startLogin(
            fixture.provider, [.server: .string(plain.origin + "/cloud")])
        let reply = await errorReply { _ = try await login.wait() }
        #expect(reply?.message.contains("the certificate of 127.0.0.1 is not trusted") == true)
        #expect(plain.requests.value.map(\.path) == ["/cloud/"])
    }
}
