import ProviderKit
import TestSupport
import Testing
import WebService

@testable import MastodonProvider

struct SettingsTests {
    @Test func `only configured servers may be on this computer`() throws {
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
    func `the error for an invalid setting names it`(key: String, value: String) async throws {
        let error = try #require(throws: ProviderError.self) {
            try MastodonProvider().oauth("a.test", ProviderSettings([key: value]))
        }
        let text = error.message
        #expect(error == .notConfigured(text))
        #expect(text.hasPrefix("\(key) of [Provider mastodon]"))
        let fixture = Fixture([key: value]) { _ in throw HTTPError.failed("unexpected request") }
        await #expect(throws: error) { try await fixture.session.profile() }
        await #expect(throws: error) { try await fixture.session.page("home") }
        #expect(await fixture.session.firstStatus() == .failed(reason: text, remedy: .configure))
        #expect(fixture.requestLines.isEmpty)
    }
}
