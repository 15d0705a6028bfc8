import ProviderKit
import TestSupport
import Testing
import WebService

@testable import UnsplashProvider

struct ProviderTests {
    private let provider = UnsplashProvider()

    @Test func `the login description follows the settings`() throws {
        let oauth = try provider.oauth(
            ProviderSettings([
                "ApiUrl": "http://127.0.0.1:8080/base/", "WebUrl": "https://Web.example//",
                "RedirectPort": "43118",
            ]))
        #expect(oauth.authorizationURL == "https://web.example/oauth/authorize")
        #expect(oauth.tokenURL == "https://web.example/oauth/token")
        #expect(oauth.revocationURL == "https://web.example/oauth/revoke")
        #expect((oauth.tokenOrigins, oauth.redirectPort) == (["http://127.0.0.1:8080"], 43118))
    }

    @Test func `the default login description is that of Unsplash`() throws {
        let oauth = try provider.oauth(ProviderSettings())
        #expect(oauth.authorizationURL == "https://unsplash.com/oauth/authorize")
        #expect(oauth.tokenOrigins == ["https://api.unsplash.com"])
        #expect(oauth.scopes == ["public", "read_user", "write_likes"])
        #expect((oauth.redirectPort, oauth.usesPKCE) == (43117, false))
        #expect(provider.registrationHelp.split(separator: "\n").count == 3)
        #expect(provider.info.defaultSource == SourceID("editorial"))
    }

    @Test(arguments: [
        ("ApiUrl", "api.unsplash.com"), ("ApiUrl", "http://api.unsplash.com"), ("ApiUrl", "///"),
        ("WebUrl", "http://10.0.0.1"), ("WebUrl", "https://a?b"), ("ApiUrl", "https://a/#b"),
        ("RedirectPort", "0"), ("RedirectPort", "65536"), ("RedirectPort", "x"),
        ("RedirectPort", "+80"),
    ])
    func `the error for an invalid setting names it`(key: String, value: String) async throws {
        let settings = ProviderSettings([key: value])
        let error = try #require(throws: ProviderError.self) { try provider.oauth(settings) }
        let text = error.message
        #expect(error == .notConfigured(text))
        #expect(text.hasPrefix("\(key) of [Provider unsplash]"))

        let fixture = Fixture([key: value]) { _ in throw HTTPError.failed("unexpected request") }
        await #expect(throws: error) { try await fixture.session.sources() }
        await #expect(throws: error) { try await fixture.session.profile() }
        #expect(await fixture.session.firstStatus() == .failed(reason: text, remedy: .configure))
        #expect(fixture.requestLines.isEmpty)
    }

    @Test func `the identity is that of the token's user`() async throws {
        let me = try recordings.response("me_200")
        let http = ScriptedHTTP { _ in me }
        let identity = try await provider.identify(SessionPorts(http))
        let expected = AccountIdentity(username: "aaron_is_just_so_handsome", userID: "oHGest28Ffc")
        #expect(identity == expected)
        #expect(http.requests.value.map(\.url) == ["https://api.unsplash.com/me"])
    }
}
