import OAuth
import ProviderKit
import TestSupport
import Testing
import WebService

@testable import MastodonProvider

/// The responses of servers to a request with a revoked token.
struct TokenRefusalTests {
    struct Refused: CustomTestStringConvertible {
        /// The software with its version, and its source.
        let testDescription: String
        let status: Int
        let body: String
        let headers: HTTPHeaders

        init(
            _ testDescription: String, _ status: Int, _ body: String,
            _ headers: HTTPHeaders = ["Content-Type": "application/json"]
        ) {
            self.testDescription = testDescription
            (self.status, self.body, self.headers) = (status, body, headers)
        }

        func response(_ url: String) -> HTTPResponse {
            HTTPResponse(status: status, headers: headers, body: Array(body.utf8), url: url)
        }
    }

    private static let html: HTTPHeaders = ["Content-Type": "text/html; charset=utf-8"]

    private static let servers = [
        Refused(
            "Mastodon 4.6.4: recording timelines_home_401", 401,
            #"{"error":"The access token is invalid"}"#),
        Refused(
            "Pixelfed 0.11.13: app/Exceptions/Handler.php", 500,
            #"{"error":"Unauthenticated."}"#),
        Refused(
            "GoToSocial 0.20: internal/middleware/tokencheck.go, internal/api/util/auth.go",
            401, #"{"error":"Unauthorized: token not supplied"}"#),
        Refused(
            "Friendica 2024.12: src/Module/BaseApi.php, src/Factory/Api/Mastodon/Error.php", 403,
            #"{"error":"Token is not authorized with a valid user or is missing a required scope"}"#
        ),
        Refused(
            "Akkoma 3.13: lib/pleroma/web/plugs/ensure_authenticated_plug.ex",
            403, #"{"error":"Invalid credentials."}"#),
        Refused(
            "snac 2.75: httpd_connection of httpd.c, mastoapi_get_handler", 401, "",
            ["content-type": "text/html; charset=utf-8", "x-creator": "snac/2.75"]),
        Refused("Takahē 0.11: api/middleware.py", 400, "Invalid Bearer token", html),
        Refused("Takahē 0.11: api/decorators.py", 401, #"{"error":"identity_token_required"}"#),
        Refused(
            "Iceshrimp.NET 2024.1: Core/Middleware/AuthorizationMiddleware.cs",
            401, #"{"error":"This method requires an authenticated user"}"#),
        Refused(
            "Sharkey 2025.4: api/mastodon/MastodonApiServerService.ts", 401,
            #"{"error":{"message":"Authentication failed.","code":"AUTHENTICATION_FAILED"}}"#),
        // Two documents: that of the login, and that of WordPress.
        Refused(
            "WordPress with Enable Mastodon Apps at 61575ea: includes/class-mastodon-oauth.php",
            401,
            #"{"error":"invalid_token","error_description":"The access token provided is invalid"}"#
                + #"{"code":"rest_forbidden","message":"Sorry.","data":{"status":401}}"#),
    ]

    private func page(_ answer: Refused) async throws {
        let http = ScriptedHTTP { answer.response($0.url) }
        let oauth = try MastodonProvider().oauth("photos.example", ProviderSettings())
        let client = AuthorizedClient(
            http, OAuthToken.key(Secret("token"), now: .now), KeyDescription(oauth))
        let session = MastodonSession(
            AccountIdentity(username: "ada", server: "photos.example"),
            SessionPorts(client).at { Fixture.now })
        _ = try await session.page("home")
    }

    @Test(arguments: servers)
    func `a revoked token requires a login at every server`(refused: Refused) async throws {
        await #expect(throws: ProviderError.unauthorized) { try await page(refused) }
        let error = Refusal(
            refused.response(""), .user, ServiceDescription("photos.example"), now: Fixture.now
        ).error
        #expect(error == .unauthorized)
    }

    @Test(arguments: [html, ["Content-Type": "text/html", "X-Creator": "gateway/1"]])
    func `an empty page of another program is no refusal`(headers: HTTPHeaders) async throws {
        let other = Refused("", 401, "", headers)
        await #expect(throws: ProviderError.otherLogin("photos.example")) { try await page(other) }
    }
}
