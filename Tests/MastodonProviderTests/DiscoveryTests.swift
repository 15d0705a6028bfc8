import ProviderKit
import TestSupport
import Testing

@testable import MastodonProvider

struct DiscoveryTests {
    private func discover(
        _ responses: [String: HTTPResponse], _ settings: [String: String] = [:]
    ) async throws -> OAuthDescription { try await discovered(responses, settings).oauth }

    /// Discovers a server whose responses depend on the suffix of the address.
    private func discovered(
        _ responses: [String: HTTPResponse],
        _ settings: [String: String] = [:], redirectedTo origin: String? = nil
    ) async throws -> DiscoveredServer {
        let http = ScriptedHTTP { request in
            let response = responses.first { request.url.hasSuffix($0.key) }?.value
            let path = request.url.split(separator: "/").dropFirst(2).joined(separator: "/")
            return (response ?? .json(#"{"error":"Not Found"}"#, status: 404))
                .at(origin.map { "\($0)/\(path)" } ?? request.url)
        }
        let ports = SessionPorts(http, ProviderSettings(settings)).at { Fixture.now }
        let found = try await MastodonProvider().discover("photos.example", user: nil, ports)
        #expect(http.requests.value.allSatisfy { $0.headers["Accept"] == "application/json" })
        return found
    }

    private func instance(_ version: String) -> HTTPResponse {
        .json(#"{"uri":"photos.example","title":"Photos","version":"\#(version)"}"#)
    }

    @Test func `the login description follows the server metadata`() async throws {
        let document = try recordings.body("well_known_oauth_server_4.6.4")
        let text = String(decoding: document, as: UTF8.self)
            .replacing("http://localhost:3000", with: "https://photos.example")
        let oauth = try await discover([
            "/api/v2/instance": recordings.response("instance_v2_4.6.4"),
            "/oauth-authorization-server": .json(text),
        ])
        expectOwnEndpoints(oauth)
        #expect(oauth.issuer == "https://photos.example/")
        let scopes = ["read:accounts", "read:statuses", "read:favourites", "write:favourites"]
        #expect(oauth.scopes == scopes)
        #expect((oauth.usesPKCE, oauth.redirectPort) == (true, nil))
        #expect((oauth.showsCode, oauth.countsPerApplication) == (true, false))
        #expect(oauth.tokenOrigins == ["https://photos.example"])
        #expect(oauth.registration?.fields["scopes"] == scopes.joined(separator: " "))
    }

    private func expectOwnEndpoints(_ oauth: OAuthDescription) {
        #expect(oauth.authorizationURL == "https://photos.example/oauth/authorize")
        #expect(oauth.tokenURL == "https://photos.example/oauth/token")
        #expect(oauth.revocationURL == "https://photos.example/oauth/revoke")
        #expect(oauth.registration?.url == "https://photos.example/api/v1/apps")
    }

    /// Expects the description of software that is not known.
    private func expectConservative(_ oauth: OAuthDescription) {
        #expect((oauth.scopes, oauth.redirectPort) == (["read", "write"], 43117))
        #expect(!oauth.showsCode)
    }

    @Test func `a server without metadata has the default description`() async throws {
        let oauth = try await discover(["/api/v1/instance": recordings.response("instance_v1")])
        #expect(oauth.authorizationURL == "https://photos.example/oauth/authorize")
        #expect((oauth.scopes.first, oauth.issuer, oauth.usesPKCE) == ("read:accounts", nil, true))
    }

    @Test func `Pixelfed has broad scopes and no revocation`() async throws {
        let oauth = try await discover([
            "/api/v1/instance": instance("3.5.3 (compatible; Pixelfed 0.11.13)")
        ])
        expectConservative(oauth)
        #expect(oauth.revocationURL == nil)
        #expect(oauth.tokenRefusals.contains { $0.status == 500 })
    }

    @Test func `other software has the scopes that its metadata name`() async throws {
        let narrow = try await discover(
            [
                "/api/v2/instance": instance("4.0.0 (compatible; Other 1)"),
                "/oauth-authorization-server": .json(
                    #"{"issuer":"https://photos.example","scopes_supported":["read","write:favourites"],"code_challenge_methods_supported":["plain"]}"#
                ),
            ], ["RedirectPort": "43999"])
        #expect(narrow.scopes == ["read", "write:favourites"])
        #expect((narrow.usesPKCE, narrow.redirectPort) == (false, 43999))
    }

    @Test(arguments: [
        ("https://evil.example", "https://evil.example/token"),
        ("https://photos.example", "https://evil.example/token"),
        ("https://photos.example", "http://photos.example/token"), ("", "https://10.0.0.1/"),
    ])
    func `endpoints of other hosts are ignored`(issuer: String, token: String) async throws {
        let oauth = try await discover([
            "/api/v2/instance": instance("4.6.4"),
            "/oauth-authorization-server": .json(
                #"{"issuer":"\#(issuer)","token_endpoint":"\#(token)","authorization_endpoint":"\#(token)","revocation_endpoint":"\#(token)","app_registration_endpoint":"\#(token)"}"#
            ),
        ])
        expectOwnEndpoints(oauth)
    }

    @Test(arguments: [
        "{}", "[]", #"{"version":"1.0"}"#, #"{"version":7,"uri":"x","title":"x"}"#,
        #"{"error":"This API requires an authenticated user"}"#, "",
    ])
    func `a server without the API is not supported`(body: String) async throws {
        let text = await expectThrown(ProviderError.notSupported) {
            try await discover(["/instance": .json(body)])
        }
        #expect(text?.contains("photos.example does not") == true)
    }

    @Test(arguments: [200, 401, 403])
    func `the page of a gateway does not mean that a server is not supported`(status: Int)
        async throws
    {
        let page = HTTPResponse.json("<!DOCTYPE html>", status: status)
        await #expect(throws: ProviderError.otherLogin("photos.example")) {
            try await discover(["/instance": page])
        }
        let (found, _) = try await handles([
            "https://photos.example/api/v2/instance": page,
            "https://photos.example/api/v1/instance": page,
            webFinger: actor("https://social.photos.example/users/ada"),
        ])
        #expect(found.name == "social.photos.example")
    }

    @Test(arguments: [
        "4.6.4", "4.3.0-beta.1", "4.3.0-alpha.3+glitch", "4.2.1+hometown-1.1.1",
        "4.4.0-nightly.2026-08-01", "3.5.19",
    ])
    func `versions of Mastodon and its forks are recognized`(version: String) {
        #expect(Dialect(version: version) == .mastodon)
    }

    @Test(arguments: [
        "0.17.3 git-8d0b5ba", "0.17.3+git-8d0b5ba", "3.5.3+0.17.3-git-8d0b5ba",
        "2.7.2 (compatible; Akkoma 3.13.2)", "0.11.0",
        "4.2.1 (compatible; Iceshrimp.NET/2024.1-beta5)",
        "3.0.0 (compatible; Sharkey 2025.4.2; like Akkoma)", "4.0.0 (compatible; Mitra 2.18.0)",
        "4.0", "", "4.0.0+", "four.0.0", "4.0.0+1",
    ])
    func `any other software has the conservative description`(version: String) async throws {
        #expect(Dialect(version: version) == .other)
        let oauth = try await discover(["/api/v2/instance": instance(version)])
        expectConservative(oauth)
        #expect(oauth.registration?.isForOneLogin == false)
    }

    @Test(arguments: [
        "4.0.0 (not true; really snac/2.52)", "2.8.0 (compatible; Friendica 2024.12-1571)",
    ])
    func `snac and Friendica are registered for each login`(version: String) async throws {
        let oauth = try await discover(["/api/v1/instance": instance(version)])
        #expect(oauth.registration?.isForOneLogin == true)
        #expect(!oauth.showsCode && oauth.redirectPort == 43117)
    }

    @Test(arguments: [500, 502])
    func `a failing second version of the document falls back to the first`(status: Int)
        async throws
    {
        let oauth = try await discover([
            "/api/v2/instance": .json("{}", status: status), "/api/v1/instance": instance("4.6.4"),
        ])
        #expect(oauth.redirectPort == nil)
        await expectThrown(ProviderError.failed) {
            try await discover(["/api/v2/instance": .json("{}", status: status)])
        }
    }

    @Test(arguments: ["/api/v2/instance", "/oauth-authorization-server"])
    func `a rate limit during discovery is reported`(path: String) async throws {
        var responses = ["/api/v2/instance": instance("4.6.4")]
        responses[path] = .json("{}", status: 429, ["Retry-After": "60"])
        await #expect(throws: ProviderError.rateLimited(until: Fixture.now + .seconds(60))) {
            try await discover(responses)
        }
    }

    @Test(arguments: [401, 422])
    func `a server that requires a login for its document is identified by NodeInfo`(
        status: Int
    ) async throws {
        let refusal = HTTPResponse.json(
            #"{"error":"This method requires an authenticated user"}"#, status: status)
        func links(_ host: String) -> HTTPResponse {
            .json(
                #"{"links":[{"rel":"http://nodeinfo.diaspora.software/ns/schema/2.0","href":"https://\#(host)/nodeinfo/2.0"}]}"#
            )
        }
        var responses = [
            "/instance": refusal, "/.well-known/nodeinfo": links("photos.example"),
            "/nodeinfo/2.0": .json(#"{"software":{"name":"mastodon","version":"4.6.4"}}"#),
        ]
        #expect(try await discover(responses).redirectPort == nil)
        responses["/nodeinfo/2.0"] = .json(#"{"software":{"name":"gotosocial"}}"#)
        #expect(try await discover(responses).redirectPort == 43117)
        // NodeInfo of another host is ignored, and an error document alone does not identify the API.
        responses["/.well-known/nodeinfo"] = links("evil.example")
        await #expect(throws: ProviderError.self) { try await discover(responses) }
    }

    // MARK: Handles

    /// Discovers the server of a domain that is not a server.
    private func handles(
        _ responses: [String: HTTPResponse], user: String? = "ada"
    ) async throws -> (found: DiscoveredServer, requests: [HTTPRequest]) {
        let instance = instance("4.6.4")
        let http = ScriptedHTTP { request in
            let isServer = request.url == "https://social.photos.example/api/v2/instance"
            let response =
                isServer ? instance : responses[request.url] ?? .json("<html>", status: 404)
            return response.url.isEmpty ? response.at(request.url) : response
        }
        let ports = SessionPorts(http).at { Fixture.now }
        let found = try await MastodonProvider().discover("photos.example", user: user, ports)
        return (found, http.requests.value)
    }

    private let webFinger =
        "https://photos.example/.well-known/webfinger?resource=acct%3Aada%40photos.example"
    private let hostMeta = "https://photos.example/.well-known/host-meta"

    private func actor(_ address: String) -> HTTPResponse {
        .json(
            #"{"subject":"acct:ada@photos.example","links":[7,{"rel":"self","type":"application/activity+json","href":"\#(address)"}]}"#
        )
    }

    @Test func `WebFinger names the server of a handle`() async throws {
        let (found, requests) = try await handles([
            webFinger: actor("https://social.photos.example/users/ada")
        ])
        #expect(found.name == "social.photos.example")
        #expect(found.oauth.tokenOrigins == ["https://social.photos.example"])
        for request in requests {
            let isNamedByUser = request.url.hasPrefix("https://photos.example/")
            #expect(request.addressSource == (isNamedByUser ? .configuration : .service))
        }
    }

    @Test(arguments: ["webfinger", "host-meta"])
    func `a redirect names the server of a domain`(document: String) async throws {
        let redirected = HTTPResponse(
            status: 404, url: "https://social.photos.example/.well-known/\(document)")
        let url = document == "webfinger" ? webFinger : hostMeta
        #expect(try await handles([url: redirected]).found.name == "social.photos.example")
    }

    @Test func `host-meta names the server of a domain`() async throws {
        let document = """
            <?xml version="1.0"?><XRD>
            <!-- <Link rel="lrdd" template="https://no.example/"/> -->
            <Link rel="other" template="https://no.example/{uri}"/>
            <Link type="application/json" template="https://social.photos.example/w?r={uri}"
            rel="lrdd"/></XRD>
            """
        let (found, requests) = try await handles([hostMeta: .json(document)], user: nil)
        #expect(found.name == "social.photos.example")
        #expect(
            requests.contains {
                $0.url.hasSuffix("webfinger?resource=acct%3Aphotos.example%40photos.example")
            })
    }

    @Test(arguments: [
        "https://10.0.0.1/users/ada", "https://localhost/users/ada",
        "http://social.photos.example/", "https://social.photos.example:8443/users/ada",
        "https://photos.example/users/ada", "x", "https://elsewhere.example/users/ada",
    ])
    func `a document without a valid server is ignored`(address: String) async throws {
        let text = await expectThrown(ProviderError.notSupported) {
            try await handles([webFinger: actor(address)])
        }
        #expect(text?.contains("photos.example does not support") == true)
    }

    @Test func `a server that redirects to another origin is stored under the new name`()
        async throws
    {
        let responses = ["/api/v2/instance": instance("4.6.4")]
        let moved = try await discovered(responses, redirectedTo: "https://new.example")
        #expect((moved.name, moved.oauth.tokenOrigins) == ("new.example", ["https://new.example"]))
        for origin in ["https://new.example:8443", "http://127.0.0.1:80", "https://10.0.0.1"] {
            await #expect(throws: ProviderError.self) {
                try await discovered(responses, redirectedTo: origin)
            }
        }
    }

    @Test func `the identity is that of the token's user`() async throws {
        let me = try recordings.response("accounts_verify_credentials_200")
        let http = ScriptedHTTP { _ in me }
        let identity = try await MastodonProvider().identify("photos.example", SessionPorts(http))
        let expected = AccountIdentity(
            username: "mastodonpy_test", server: "photos.example", userID: "117020457910412882")
        #expect(identity == expected)
        let url = "https://photos.example/api/v1/accounts/verify_credentials"
        #expect(http.requests.value.map(\.url) == [url])
    }
}

extension HTTPResponse {
    /// Returns the response with another address.
    fileprivate func at(_ url: String) -> HTTPResponse {
        HTTPResponse(status: status, headers: headers, body: body, url: url)
    }
}
