import TestSupport
import Testing
import Web

@testable import HTTP

@Suite(.timeLimit(.minutes(10))) @MainActor
struct RequestTests {
    @Test func `a request is sent with its fields and the token`() async throws {
        let server = try LoopbackServer(LoopbackResponse(text: "ok"))
        let client = makeClient()
        var request = HTTPRequest(.get, "\(server.origin)/photos?a=%20&b=c#fragment")
        request.headers = ["Accept-Version": "v1", "X-Empty": ""]
        request.token = Secret("abc")
        let response = try await client.send(request)
        #expect(response.url == "\(server.origin)/photos?a=%20&b=c")
        let seen = try #require(server.requests.value.first)
        #expect(seen.method == "GET")
        #expect(seen.target == "/photos?a=%20&b=c")
        #expect(seen["Accept-Version"] == "v1")
        #expect(seen["X-Empty"] == "")
        #expect(seen["Authorization"] == "Bearer abc")
        #expect(seen["User-Agent"] == "ImageFeed/0 (+https://example.org)")
        #expect(try #require(seen["Accept-Encoding"]).contains("gzip"))
        #expect(seen["Cookie"] == nil)
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .delete])
    func `a body is sent with its length`(method: HTTPRequest.Method) async throws {
        let server = try LoopbackServer(LoopbackResponse())
        let client = makeClient()
        var request = HTTPRequest(method, server.origin)
        _ = try await client.send(request)
        // Large enough for libcurl to send `Expect: 100-continue` by default.
        request.body = [UInt8](repeating: 7, count: 2 << 20)
        request.headers.append("Content-Type", "image/x")
        _ = try await client.send(request)
        let seen = server.requests.value
        #expect(seen.map(\.method) == [method.rawValue, method.rawValue])
        #expect(seen[0].body.isEmpty)
        #expect(seen[0]["Content-Type"] == nil)
        #expect(seen[1].body == request.body)
        #expect(seen[1]["Content-Type"] == "image/x")
        #expect(seen[1]["Expect"] == nil)
    }

    @Test func `a form is sent URL-encoded`() async throws {
        let server = try LoopbackServer(LoopbackResponse())
        var request = HTTPRequest(.post, server.origin)
        request.setForm([("grant_type", "a b")])
        _ = try await makeClient().send(request)
        let seen = try #require(server.requests.value.first)
        #expect(seen.text == "grant_type=a%20b")
        #expect(seen["Content-Type"] == "application/x-www-form-urlencoded")
    }

    @Test(arguments: [
        ("X\r\nY", "a"), ("X", "a\r\nY: b"), ("X", "a\0b"), ("", "a"), ("X:", "a"), ("Host", "a"),
        ("Content-Length", "0"), ("Transfer-Encoding", "chunked"), ("ü", "a"),
    ])
    func `an invalid header field is rejected`(name: String, value: String) async throws {
        let server = try LoopbackServer(LoopbackResponse())
        var request = HTTPRequest(.get, server.origin)
        request.headers.append(name, value)
        #expect(await makeClient().failure(of: request) == .failed)
        request.headers = HTTPHeaders()
        request.token = Secret("a\r\nX: y")
        #expect(await makeClient().failure(of: request) == .failed)
        #expect(server.connections.value.accepted == 0)
    }

    @Test(arguments: [200, 204, 304, 401, 404, 429, 500])
    func `every status is returned`(status: Int) async throws {
        let server = try LoopbackServer(
            LoopbackResponse(status, headers: [("X-A", " b "), ("Link", "1"), ("link", "2")]))
        let response = try await makeClient().send(HTTPRequest(.get, server.origin))
        #expect(response.status == status)
        #expect(response.headers["x-a"] == "b")
        #expect(response.headers.all("Link") == ["1", "2"])
    }

    @Test func `interim responses and trailers are ignored`() async throws {
        let server = try LoopbackServer(
            .raw(
                """
                HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\nHTTP/1.1 200 OK\r\nX-Late: 1\r\n\
                Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Trailer: 1\r\n\r\n
                """))
        let response = try await makeClient().send(HTTPRequest(.get, server.origin))
        #expect(response.status == 200)
        #expect(response.headers["X-Late"] == "1")
        #expect(response.headers["X-Early"] == nil)
        #expect(response.headers["X-Trailer"] == nil)
        #expect(response.body == Array("ok".utf8))
    }

    @Test func `a compressed body is decompressed`() async throws {
        let gzip: [UInt8] = [
            31, 139, 8, 0, 0, 0, 0, 0, 2, 255, 203, 72, 205, 201, 201, 7, 0, 134, 166, 16, 54, 5, 0,
            0, 0,
        ]
        let server = try LoopbackServer(
            LoopbackResponse(headers: [("Content-Encoding", "gzip")], body: gzip))
        #expect(try await makeClient().text(server.origin) == "hello")
    }

    @Test func `a missing libcurl is an error`() {
        #expect(throws: HTTPError.self) { _ = try CurlLibrary("libnothing.so.4") }
    }
}
