import Logging
import ProviderKit
import TestSupport
import Testing

@testable import MastodonProvider

struct DiscoveryTests {
    /// A server that answers at the ends of paths.
    private func discover(
        _ answers: [String: HTTPResponse],
        _ settings: [String: String] = [:], redirectedTo origin: String? = nil
    ) async throws -> OAuthDescription {
        try await discovered(answers, settings, redirectedTo: origin).oauth
    }

    private func discovered(
        _ answers: [String: HTTPResponse],
        _ settings: [String: String] = [:], redirectedTo origin: String? = nil
    ) async throws -> DiscoveredServer {
        let http = ScriptedHTTP()
        http.answer.update {
            $0 = { request in
                let answer = answers.first { request.url.hasSuffix($0.key) }?.value
                let path = request.url.split(separator: "/").dropFirst(2).joined(separator: "/")
                return HTTPResponse(
                    status: answer?.status ?? 404, headers: answer?.headers ?? [:],
                    body: answer?.body ?? Array(#"{"error":"Not Found"}"#.utf8),
                    url: origin.map { "\($0)/\(path)" } ?? request.url)
            }
        }
        let ports = SessionPorts(
            http: http, settings: ProviderSettings(settings), logger: Logger(label: "test"))
        let found = try await MastodonProvider().discover("photos.example", ports)
        #expect(http.requests.value.allSatisfy { $0.headers["Accept"] == "application/json" })
        return found
    }

    private func instance(_ version: String) -> HTTPResponse {
        .json(#"{"uri":"photos.example","title":"Photos","version":"\#(version)"}"#)
    }

    @Test func `a server of today says what it takes`() async throws {
        let document = try recordings.body("well_known_oauth_server_4.6.4")
        let text = String(decoding: document, as: UTF8.self)
            .replacing("http://localhost:3000", with: "https://photos.example")
        let oauth = try await discover([
            "/api/v2/instance": recordings.response("instance_v2_4.6.4"),
            "/oauth-authorization-server": .json(text),
        ])
        #expect(oauth.authorizationURL == "https://photos.example/oauth/authorize")
        #expect(oauth.tokenURL == "https://photos.example/oauth/token")
        #expect(oauth.revocationURL == "https://photos.example/oauth/revoke")
        #expect(oauth.issuer == "https://photos.example/")
        #expect(
            oauth.scopes == [
                "read:accounts", "read:statuses", "read:favourites", "write:favourites",
            ])
        #expect(oauth.usesPKCE)
        #expect(oauth.redirectPort == nil)
        #expect(oauth.showsCode)
        #expect(!oauth.countsPerApplication)
        #expect(oauth.tokenOrigins == ["https://photos.example"])
        #expect(oauth.registration?.url == "https://photos.example/api/v1/apps")
        #expect(
            oauth.registration?.fields["scopes"]
                == "read:accounts read:statuses read:favourites write:favourites")
    }

    @Test func `an old server is asked as it has always been`() async throws {
        let oauth = try await discover(["/api/v1/instance": recordings.response("instance_v1")])
        #expect(oauth.authorizationURL == "https://photos.example/oauth/authorize")
        #expect(oauth.scopes.first == "read:accounts")
        #expect(oauth.issuer == nil)
        #expect(oauth.usesPKCE)
    }

    @Test func `Pixelfed has its own ways`() async throws {
        let oauth = try await discover([
            "/api/v1/instance": instance("3.5.3 (compatible; Pixelfed 0.11.13)")
        ])
        #expect(oauth.scopes == ["read", "write"])
        #expect(!oauth.showsCode)
        #expect(oauth.redirectPort == 43117)
        #expect(oauth.revocationURL == nil)
        #expect(oauth.tokenRefusals.contains { $0.status == 500 })
    }

    @Test func `another software is asked with care`() async throws {
        let oauth = try await discover([
            "/api/v1/instance": instance("2.7.2 (compatible; Akkoma 3.13.2)")
        ])
        #expect(oauth.scopes == ["read", "write"])
        #expect(oauth.redirectPort == 43117)
        #expect(oauth.showsCode)
        let narrow = try await discover(
            [
                "/api/v2/instance": instance("4.0.0 (compatible; Other 1)"),
                "/oauth-authorization-server": .json(
                    #"{"issuer":"https://photos.example","scopes_supported":["read","write:favourites"],"code_challenge_methods_supported":["plain"]}"#
                ),
            ], ["RedirectPort": "43999"])
        #expect(narrow.scopes == ["read", "write:favourites"])
        #expect(!narrow.usesPKCE)
        #expect(narrow.redirectPort == 43999)
    }

    @Test(arguments: [
        ("https://evil.example", "https://evil.example/token"),
        ("https://photos.example", "https://evil.example/token"),
        ("https://photos.example", "http://photos.example/token"), ("", "https://10.0.0.1/"),
    ])
    func `codes and secrets go to the server alone`(issuer: String, token: String) async throws {
        let oauth = try await discover([
            "/api/v2/instance": instance("4.6.4"),
            "/oauth-authorization-server": .json(
                #"{"issuer":"\#(issuer)","token_endpoint":"\#(token)","authorization_endpoint":"\#(token)","revocation_endpoint":"\#(token)","app_registration_endpoint":"\#(token)"}"#
            ),
        ])
        #expect(oauth.tokenURL == "https://photos.example/oauth/token")
        #expect(oauth.authorizationURL == "https://photos.example/oauth/authorize")
        #expect(oauth.revocationURL == "https://photos.example/oauth/revoke")
        #expect(oauth.registration?.url == "https://photos.example/api/v1/apps")
    }

    @Test(arguments: [
        "<!DOCTYPE html>", "{}", "[]", #"{"version":"1.0"}"#,
        #"{"version":7,"uri":"x","title":"x"}"#,
        #"{"error":"This API requires an authenticated user"}"#, "",
    ])
    func `a server of another kind is told apart`(body: String) async throws {
        let error = await #expect(throws: ProviderError.self) {
            try await discover(["/instance": .json(body)])
        }
        guard let error, case .notSupported(let text) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.contains("photos.example does not speak"))
    }

    @Test func `a server that has moved is known by its new name`() async throws {
        let answers = ["/api/v2/instance": instance("4.6.4")]
        let moved = try await discovered(answers, redirectedTo: "https://new.example")
        #expect(moved.name == "new.example")
        #expect(moved.oauth.tokenOrigins == ["https://new.example"])
        for origin in ["https://new.example:8443", "http://127.0.0.1:80", "https://10.0.0.1"] {
            await #expect(throws: ProviderError.self) {
                try await discovered(answers, redirectedTo: origin)
            }
        }
    }

    @Test func `who has logged in is asked for`() async throws {
        let http = ScriptedHTTP()
        let me = try recordings.response("accounts_verify_credentials_200")
        http.answer.update { $0 = { _ in me } }
        let ports = SessionPorts(
            http: http, settings: ProviderSettings(), logger: Logger(label: "test"))
        let identity = try await MastodonProvider().identify("photos.example", ports)
        #expect(
            identity
                == AccountIdentity(
                    username: "mastodonpy_test", server: "photos.example",
                    userID: "117020457910412882"))
        #expect(
            http.requests.value.map(\.url)
                == ["https://photos.example/api/v1/accounts/verify_credentials"])
    }
}
