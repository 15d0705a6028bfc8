import OAuth
import ProviderKit
import TestSupport
import Testing

/// Responses to requests with a token, from the service and from other servers.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct AuthorizedClientTests {
    private let http = ScriptedHTTP()
    private let tokens = FakeTokens(renewed: .key(Secret("second"), now: .now))
    private let client: AuthorizedClient
    private let request = HTTPRequest(.get, "https://api.service.test/me")

    init() {
        let description = OAuthDescription(
            authorizationURL: "https://service.test/authorize",
            tokenURL: "https://service.test/token", scopes: [],
            tokenOrigins: ["https://api.service.test", "https://other.service.test"])
        client = AuthorizedClient(http, tokens, KeyDescription(description))
    }

    private func answer(_ response: HTTPResponse) { http.answer.update { $0 = { _ in response } } }

    private func answer(_ status: Int, from url: String, leftOrigin: Bool = false) {
        var response = HTTPResponse(status: status, url: url)
        response.leftOrigin = leftOrigin
        answer(response)
    }

    @Test func `a refusal that repeats the key has no text`() async throws {
        for (status, text) in [(400, "bad key first"), (200, "hello f i r s t")] {
            answer(
                HTTPResponse(
                    status: status, headers: ["X-Error": text, "X-Other": "fine"],
                    body: Array("{\"message\":\"\(text)\"}".utf8), url: request.url))
            if status == 200 {
                await #expect(throws: HTTPError.self) { try await client.send(request) }
            } else {
                let response = try await client.send(request)
                #expect(response.body.isEmpty)
                #expect(response.headers.fields.map(\.name) == ["X-Other"])
            }
        }
    }

    @Test func `an error does not name a host that repeats the key`() async throws {
        let host = "x.FIRST.test"
        let error = HTTPError.unreachable("Could not resolve host: x.FIRST.test")
        http.answer.update { $0 = { _ in throw error } }
        await #expect(throws: ProviderError.otherLogin("api.service.test")) {
            try await client.send(request)
        }
        answer(404, from: "https://\(host)/", leftOrigin: true)
        await #expect(throws: ProviderError.otherLogin("api.service.test")) {
            try await client.send(request)
        }
    }

    @Test func `a password in a key and a password in a body are withheld`() async throws {
        let credentials = Secret(Base64.encode(Array("ada:pass word:1".utf8)))
        let access = KeyDescription(keyField: "Authorization: Basic ", keyOrigins: [request.url])
        let basic = AuthorizedClient(http, OAuthToken.key(credentials, now: .now), access)
        var login = request
        login.bodySecrets = [Secret("pass word:1")]
        let text = "no user has pass%20word%3A1"
        answer(HTTPResponse(status: 422, body: Array(text.utf8), url: request.url))
        for (client, request) in [(basic, request), (client, login)] {
            #expect(try await client.send(request).body.isEmpty)
        }
    }

    @Test func `a 401 renews the token, and a second 401 marks it as refused`() async throws {
        answer(401, from: "https://api.service.test/me")
        #expect(try await client.send(request).status == 401)
        #expect(tokens.events.value == ["renew", "refused"])
    }

    @Test(arguments: [
        ("https://elsewhere.test/me", false), ("https://api.service.test:8443/me", false),
        ("http://api.service.test/me", false), ("https://other.service.test/me", false),
        ("https://api.service.test/me", true),
    ])
    func `a 401 after a redirect to or through another origin does not renew the token`(
        url: String, leftOrigin: Bool
    ) async throws {
        answer(401, from: url, leftOrigin: leftOrigin)
        await #expect(throws: HTTPError.self) { try await client.send(request) }
        #expect(tokens.events.value.isEmpty)
    }

    @Test func `a page of a gateway is never a refused token`() async throws {
        let pages = [
            HTTPResponse(status: 401, headers: ["Content-Type": "text/html"], url: request.url),
            HTTPResponse(status: 401, body: Array("<!DOCTYPE html>".utf8), url: request.url),
            HTTPResponse(
                status: 200, headers: ["Content-Type": "text/html"],
                url: "https://login.test/?rd=https://api.service.test"),
            HTTPResponse(
                status: 302, headers: ["Location": "https://login.test/"], url: request.url),
        ]
        for page in pages {
            answer(page)
            let error = await #expect(throws: ProviderError.self) { try await client.send(request) }
            #expect(error == .otherLogin("api.service.test"))
            #expect("\(error, default: "")".contains("Another login stands before"))
        }
        #expect(tokens.events.value.isEmpty)
        // The documents of WebDAV are no pages.
        let document = HTTPResponse(
            status: 401, headers: ["Content-Type": "application/xml; charset=utf-8"],
            body: Array("<?xml version=\"1.0\"?><error/>".utf8), url: request.url)
        answer(document)
        #expect(try await client.send(request).status == 401)
        #expect(tokens.events.value == ["renew", "refused"])
    }

    @Test(arguments: [400, 403, 404, 410, 422, 429, 500])
    func `an error of another origin is a failure of the service`(status: Int) async throws {
        answer(status, from: "https://elsewhere.test/me")
        let error = await #expect(throws: HTTPError.self) { try await client.send(request) }
        #expect(error == .failed("it redirects to elsewhere.test, which sent status \(status)"))
        #expect(tokens.events.value.isEmpty)
    }

    @Test func `a success of another origin after a redirect is returned`() async throws {
        answer(200, from: "https://elsewhere.test/me")
        #expect(try await client.send(request).status == 200)
    }

    @Test func `a download that another origin refuses does not renew the token`() async throws {
        answer(401, from: "https://cdn.test/image")
        let response = try await client.download(request, into: 1) { _ in }
        #expect(response.status == 401)
        #expect(tokens.events.value.isEmpty)
    }
}

/// Requests of an account at a server that the user named.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct NamedOriginClientTests {
    private static let origin = "http://192.168.1.2:2283"

    private let http = ScriptedHTTP { HTTPResponse(status: 200, url: $0.url) }

    private func client(isIssued: Bool = false) -> AuthorizedClient {
        var description = KeyDescription(
            keyField: "x-api-key: ", keyOrigins: [Self.origin], needsServer: true)
        description.tokenField = "Authorization: Bearer "
        description.namedOrigins = [Self.origin]
        let token = isIssued ? OAuthToken.issued : OAuthToken.key
        return AuthorizedClient(http, token(Secret("secret"), .now), description)
    }

    @Test func `requests to the named origin may use plain HTTP, and no other origin is permitted`()
        async throws
    {
        let client = client()
        #expect(!client.allowsLoopback)
        for url in ["\(Self.origin)/api", "http://192.168.1.3/", "https://example.org/"] {
            var request = HTTPRequest(.get, url)
            request.addressSource = .service
            _ = try await client.send(request)
            let sent = try #require(http.requests.value.last)
            let isNamed = url.hasPrefix(Self.origin)
            #expect(sent.allowedHosts?.permits(url) == isNamed)
            #expect(sent.addressSource == (isNamed ? .configuration : .service))
            #expect((sent.token != nil) == isNamed)
            #expect(sent.allowsLoopback == false)
        }
    }

    @Test(arguments: [true, false])
    func `a key and an issued token have different header fields`(isIssued: Bool) async throws {
        _ = try await client(isIssued: isIssued).send(HTTPRequest(.get, "\(Self.origin)/api"))
        let field = isIssued ? "Authorization: Bearer " : "x-api-key: "
        #expect(http.requests.value.last?.tokenField == field)
    }
}
