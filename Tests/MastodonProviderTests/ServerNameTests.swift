import ProviderKit
import Testing

@testable import MastodonProvider

struct ServerNameTests {
    @Test(arguments: [
        ("pixelfed.social", "pixelfed.social"), (" Mastodon.Social ", "mastodon.social"),
        ("https://pixelfed.social/", "pixelfed.social"), ("https://a.b/@ada?x#y", "a.b"),
        ("@ada@pixelfed.social", "pixelfed.social"), ("ada@pixelfed.social", "pixelfed.social"),
        ("xn--mnchen-3ya.social.", "xn--mnchen-3ya.social"), ("a-1.b2.c3d", "a-1.b2.c3d"),
    ])
    func `a server is read as people write it`(text: String, name: String) throws {
        #expect(try ServerName(text).text == name)
    }

    @Test(arguments: [
        "", " ", "localhost", "http://pixelfed.social", "ftp://a.b", "127.0.0.1", "[::1]", "::1",
        "0x7f.1", "1.2.3.0x4", "a..b", ".a.b", "-a.b", "a-.b", "a b.c", "a.b:8080",
        "münchen.social",
        "https://", "@", "a/b.c", "a_b.c", "999", "a.1",
        String(repeating: "a", count: 64) + ".b", String(repeating: "a.", count: 127) + "bcd",
        String(repeating: "x", count: 100_000),
    ])
    func `what is no name of a server is refused`(text: String) {
        let error = #expect(throws: ProviderError.self) { try ServerName(text) }
        guard let error, case .invalidArgument(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.hasSuffix(".") && reason.utf8.count < 300)
    }

    @Test func `a server on this computer is one that the configuration names`() throws {
        let settings = try MastodonSettings(
            ProviderSettings([
                "LoopbackServers": "Photos.test=http://127.0.0.1:3000;b.test=http://[::1]:4"
            ]))
        #expect(try settings.base("photos.test").text == "http://127.0.0.1:3000")
        #expect(try settings.base("b.test").text == "http://[::1]:4")
        #expect(try settings.base("c.test").text == "https://c.test")
        #expect(settings.server(at: "http://127.0.0.1:3000/api/v2/instance") == "photos.test")
        #expect(settings.server(at: "http://127.0.0.1:3001/api/v2/instance") == nil)
        #expect(settings.server(at: "https://127.0.0.1/api/v2/instance") == nil)
        #expect(settings.server(at: "https://d.test:8443/api") == nil)
    }

    @Test(arguments: [
        ("LoopbackServers", "a.test=http://10.0.0.1:80"), ("LoopbackServers", "a.test"),
        ("LoopbackServers", "a.test=https://example.org"), ("LoopbackServers", "=http://127.0.0.1"),
        ("LoopbackServers", "a.test=http://127.0.0.1/x"), ("ShowSensitive", "yes"),
        ("RedirectPort", "0"), ("RedirectPort", "+80"),
    ])
    func `a wrong setting is refused by its name`(key: String, value: String) async throws {
        let error = #expect(throws: ProviderError.self) {
            try MastodonProvider().oauth("a.test", ProviderSettings([key: value]))
        }
        guard let error, case .notConfigured(let text) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.hasPrefix("\(key) of [Provider mastodon]"))
        let fixture = Fixture([key: value]) { _ in throw HTTPError.failed("asked") }
        await #expect(throws: error) { try await fixture.session.profile() }
        await #expect(throws: error) {
            try await fixture.session.fetchPage(SourceID("home"), from: nil)
        }
        guard case .status(.failed(text)) = await fixture.events().first else {
            Issue.record("The session does not say that it cannot work.")
            return
        }
        #expect(fixture.asked.isEmpty)
    }
}
