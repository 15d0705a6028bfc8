import PluginHosting
import ProviderKit
import TestSupport
import Testing

/// Plugins of services with many servers: discovery and its limits.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct FederatedTests {
    private static let authentication = """
        Type=federated
        Scopes=read;write;
        TokenRefusals=500 Unauthenticated;403;403 /api/me;
        """

    /// A result of `discover`, as a Python expression.
    private static let answer = """
        {"name": "photos.test", "authorization_url": "https://photos.test/authorize",
         "token_url": "https://photos.test/token", "scopes": ["read"], "pkce": True,
         "registration": {"url": "https://photos.test/apps", "fields": {"a": "b", "back": "https://evil.test/"},
                          "redirect_field": "back"}}
        """

    private func plugin(_ answer: String, http: any HTTPClient = ScriptedHTTP()) throws
        -> (PluginFixture, any FederatedLogin)
    {
        let plugin = try PluginFixture(
            opening: PluginFixture.function("discover", returning: answer),
            authentication: Self.authentication, http: http)
        return (plugin, try #require(plugin.provider as? any FederatedLogin))
    }

    @Test func `a plugin discovers a server, which alone gets the token`() async throws {
        let (plugin, provider) = try plugin(Self.answer)
        #expect(provider.info.authentication == .oauth2)
        #expect(try provider.server("https://Photos.test/@ada", noSettings) == "photos.test")
        let found = try await provider.discover("photos.test", user: nil, .test(plugin.http))
        #expect(found.name == "photos.test")
        #expect(found.oauth.authorizationURL == "https://photos.test/authorize")
        #expect(found.oauth.scopes == ["read"])
        #expect(found.oauth.usesPKCE && !found.oauth.showsCode)
        #expect(found.oauth.tokenOrigins == ["https://photos.test"])
        #expect(!found.oauth.countsPerApplication)
        // The daemon sets the redirect URI.
        #expect(found.oauth.registration?.fields == ["a": "b"])
        let known = try provider.oauth("photos.test", noSettings)
        #expect(known.tokenOrigins == ["https://photos.test"])
        #expect(
            known.tokenRefusals == [
                TokenRefusal(status: 401), TokenRefusal(status: 500, text: "Unauthenticated"),
                TokenRefusal(status: 403), TokenRefusal(status: 403, path: "/api/me"),
            ])
        #expect(found.oauth.tokenRefusals == known.tokenRefusals)
    }

    @Test(arguments: [
        ("\"name\": \"photos.test\"", "\"name\": \"evil.test\"", "neither the server of the login"),
        ("\"name\": \"photos.test\"", "\"name\": \"a b\"", "is not the name of a server"),
        ("https://photos.test/token", "https://evil.test/token", otherOrigin),
        ("https://photos.test/token", "https://photos.test:8443/", otherOrigin),
        ("https://photos.test/token", "http://photos.test/token", "is not an https address"),
        ("https://photos.test/apps", "https://evil.test/apps", otherOrigin),
        ("https://photos.test/authorize", "https://evil.test/", otherOrigin),
        ("[\"read\"]", "[\"read\", \"admin\"]", "is not in Scopes of the manifest"),
        ("[\"read\"]", "7", "not an array"),
    ])
    func `discovery results that name other servers are refused`(
        _ part: String, _ other: String, _ reason: String
    ) async throws {
        let text = Self.answer.replacing(part, with: other)
        try #require(text != Self.answer)
        let (plugin, provider) = try plugin(text)
        await #expect(throws: ProviderError.self) {
            try await provider.discover("photos.test", user: nil, .test(plugin.http))
        }
        try await plugin.logged(reason)
    }

    @Test func `a server may have another name that the manifest contains`() async throws {
        let (plugin, provider) = try plugin(
            Self.answer.replacing("photos.test", with: "example.org"))
        let found = try await provider.discover("photos.test", user: nil, .test(plugin.http))
        #expect(found.name == "example.org")
        #expect(found.oauth.tokenOrigins == ["https://example.org"])
    }

    @Test func `discovery requests only the named server, which the identity has`() async throws {
        let http = ScriptedHTTP { HTTPResponse(status: 200, body: Array("ada".utf8), url: $0.url) }
        let (plugin, provider) = try plugin(
            """
            [write({"id": "y", "method": "http", "params": {"account": account["id"], "url": url}})
             or sys.stdin.readline() for url in ("https://photos.test/", "https://other.test/")]
            and \(Self.answer)
            """, http: http)
        _ = try await provider.discover("photos.test", user: nil, .test(http))
        #expect(http.requests.value.map(\.url) == ["https://photos.test/"])
        let identity = try await provider.identify("photos.test", .test(http))
        #expect(identity == AccountIdentity(username: "ada", server: "photos.test"))
        #expect(plugin.log.value.contains { $0.contains("https://other.test is not in Hosts") })
    }
}

private let otherOrigin = "the only origin that may receive secrets"
