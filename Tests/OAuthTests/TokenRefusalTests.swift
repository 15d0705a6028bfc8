import OAuth
import ProviderKit
import TestSupport
import Testing

/// The responses by which a service refuses a token.
struct TokenRefusalTests {
    @Test(arguments: [
        ("/me?x=1", 403, #"{"error":"no"}"#, true), ("/me", 403, "{}", true),
        ("/me/photos", 403, "{}", false), ("/photos?path=/me", 403, "{}", false),
        ("/me", 404, "{}", false), ("/me", 403, "<html>", false), ("/photos", 401, "", true),
        ("/photos", 400, "Invalid Bearer token", true), ("/photos", 400, "{}", false),
    ])
    func `a token is refused by status, text and path`(
        path: String, status: Int, body: String, isRefused: Bool
    ) async throws {
        let http = ScriptedHTTP {
            HTTPResponse(status: status, body: Array(body.utf8), url: $0.url)
        }
        var description = OAuthDescription(
            authorizationURL: "https://api.test/a", tokenURL: "https://api.test/t", scopes: [],
            tokenOrigins: ["https://api.test"])
        description.tokenRefusals += [
            TokenRefusal(status: 403, path: "/me"),
            TokenRefusal(status: 400, text: "Invalid Bearer token"),
        ]
        let tokens = FakeTokens()
        let client = AuthorizedClient(http, tokens, KeyDescription(description))
        let request = HTTPRequest(.get, "https://api.test\(path)")
        if isRefused {
            await #expect(throws: ProviderError.unauthorized) { try await client.send(request) }
        } else {
            #expect(try await client.send(request).status == status)
        }
        #expect(tokens.events.value == (isRefused ? ["renew"] : []))
    }
}
