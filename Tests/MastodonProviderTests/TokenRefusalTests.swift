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
        var headers: HTTPHeaders = ["Content-Type": "application/json"]

        func response(_ url: String) -> HTTPResponse {
            HTTPResponse(status: status, headers: headers, body: Array(body.utf8), url: url)
        }
    }

    private static let html: HTTPHeaders = ["Content-Type": "text/html; charset=utf-8"]

    private static let servers = [
        Refused(
            testDescription: "Mastodon 4.6.4: recording timelines_home_401", status: 401,
            body: #"{"error":"The access token is invalid"}"#),
        Refused(
            testDescription: "Pixelfed 0.11.13: app/Exceptions/Handler.php", status: 500,
            body: #"{"error":"Unauthenticated."}"#),
        Refused(
            testDescription:
                "GoToSocial 0.20: internal/middleware/tokencheck.go, internal/api/util/auth.go",
            status: 401, body: #"{"error":"Unauthorized: token not supplied"}"#),
        Refused(
            testDescription:
                "Friendica 2024.12: src/Module/BaseApi.php, src/Factory/Api/Mastodon/Error.php",
            status: 403,
            body:
                #"{"error":"Token is not authorized with a valid user or is missing a required scope"}"#
        ),
        Refused(
            testDescription: "Akkoma 3.13: lib/pleroma/web/plugs/ensure_authenticated_plug.ex",
            status: 403, body: #"{"error":"Invalid credentials."}"#),
        Refused(
            testDescription: "snac 2.75: httpd_connection of httpd.c, mastoapi_get_handler",
            status: 401, body: "",
            headers: ["content-type": "text/html; charset=utf-8", "x-creator": "snac/2.75"]),
        Refused(
            testDescription: "Takahē 0.11: api/middleware.py", status: 400,
            body: "Invalid Bearer token", headers: html),
        Refused(
            testDescription: "Takahē 0.11: api/decorators.py", status: 401,
            body: #"{"error":"identity_token_required"}"#),
        Refused(
            testDescription: "Iceshrimp.NET 2024.1: Core/Middleware/AuthorizationMiddleware.cs",
            status: 401, body: #"{"error":"This method requires an authenticated user"}"#),
        Refused(
            testDescription: "Sharkey 2025.4: api/mastodon/MastodonApiServerService.ts",
            status: 401,
            body: #"{"error":{"message":"Authentication failed.","code":"AUTHENTICATION_FAILED"}}"#),
        // Two documents: that of the login, and that of WordPress.
        Refused(
            testDescription:
                "WordPress with Enable Mastodon Apps at 61575ea: includes/class-mastodon-oauth.php",
            status: 401,
            body:
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
            SessionPorts(client)
                .at { Fixture.now })
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
        let other = Refused(testDescription: "", status: 401, body: "", headers: headers)
        await #expect(throws: ProviderError.otherLogin("photos.example")) { try await page(other) }
    }
}
