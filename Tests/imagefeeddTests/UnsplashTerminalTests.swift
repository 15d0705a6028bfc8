import Contract
import DBus
import TestSupport
import Testing
import UnsplashSimulator

/// Tests of the command line with Unsplash, from the configuration to the logout.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct UnsplashTerminalTests {
    @Test func `a session at the terminal works and its logout leaves no data`() async throws {
        let fixture = try await UnsplashFixture(photoCount: 150, setup: .addresses)
        let unsplash = fixture.unsplash
        let help = try await fixture.client.provider("unsplash").properties()["Help"]?.string
        #expect(help?.contains("https://unsplash.com/oauth/applications") == true)
        let local = try await fixture.client.provider("local").properties()
        #expect(local["Help"] == .string(""))
        #expect(try await Terminal.run("login", "unsplash", "--no-browser").exit == .code(78))
        _ = try await Terminal.output("configure", "unsplash", "--client-id", unsplash.clientID)
        let withoutSecret = try await Terminal.run("login", "unsplash", "--no-browser")
        #expect(withoutSecret.exit == .code(78) && withoutSecret.output.isEmpty)
        #expect(withoutSecret.error.contains("The client secret of Unsplash is missing."))
        _ = try await Terminal.output(
            "configure", "unsplash", "--client-id", unsplash.clientID, "--client-secret-file", "-",
            input: unsplash.clientSecret + "\n")

        let login = try Terminal.start(["login", "unsplash", "--no-browser"])
        let address = try await login.firstLine()
        try await unsplash.approve(address, as: "ada")
        let loggedIn = try await login.result()
        #expect(loggedIn.exit == .code(0), "\(loggedIn.error)")
        #expect(loggedIn.output == "\(address)\nunsplash_ada\n")

        let feed = try await Terminal.output("feed", "--count", "100")
        let photos = Terminal.photos(feed).filter { $0.hasPrefix("unsplash_ada/") }
        #expect(Set(photos).count == 100)
        let photo = try #require(photos.dropFirst(5).first)
        let id = String(photo.dropFirst("unsplash_ada/".count))

        let like = try await Terminal.output("like", photo)
        #expect(like == "\(photo)\tliked\tdone\n")
        #expect(unsplash.likes(of: "ada") == [id])
        _ = try await Terminal.output("image", photo, "--size", "thumb")

        // The search finds the data now, so finding nothing after the logout is significant.
        let ids = photos.map { String($0.dropFirst("unsplash_ada/".count)) }
        #expect(try await !files(holding: ids).isEmpty)
        _ = try await Terminal.output("logout", "--yes")
        let revoked = try await unsplash.waitForRequests("POST /oauth/revoke", count: 2)
        let tokens = revoked.compactMap { $0.fields["token"] }
        #expect(fixture.tokens.isSubset(of: tokens))
        let keyring = try PrivateKeyring.current.connect()
        #expect(try await keyring.search(["account": "unsplash_ada"]) == ([], []))
        let secrets = tokens + [unsplash.clientSecret]
        #expect(try await files(holding: ids + secrets) == [])
        let status = try await Terminal.run("status")
        #expect(status.output.contains("logged-out"), "\(status.output)")
        #expect(try await Terminal.run("feed").exit == .code(77))
        for secret in secrets {
            #expect(!fixture.daemon.process.standardError.value.text.contains(secret))
        }
        try await fixture.daemon.stop()
        #expect(try await files(holding: ids + secrets) == [])
    }
}
