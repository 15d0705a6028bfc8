import TestSupport
import Testing
import Web

@testable import HTTP

@Suite(.timeLimit(.minutes(10))) @MainActor
struct RedirectTests {
    /// Starts a server that responds to `/STATUS?LOCATION` with that redirect, and to other requests with a text.
    private func makeServer() throws -> LoopbackServer {
        try LoopbackServer { request in
            guard let status = Int(request.path.dropFirst()) else {
                return LoopbackResponse(text: "arrived")
            }
            return .redirect(status, to: request.query)
        }
    }

    private func loggedIn(_ method: HTTPRequest.Method, _ url: String) -> HTTPRequest {
        HTTPRequest(method, url).with {
            $0.headers = ["Cookie": "a=b", "X-Key": "k", "Accept": "text/x", "Content-Type": "a/b"]
            $0.token = Secret("abc")
            $0.allowsLoopback = true
            if method != .get { $0.body = [1, 2, 3] }
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308], ["/end?a", "end?a", "../end?a", "/%65nd?a"])
    func `a GET keeps all fields within its origin`(status: Int, location: String) async throws {
        let server = try makeServer()
        let request = loggedIn(.get, "\(server.origin)/\(status)?\(location)")
        let response = try await makeClient().send(request)
        #expect(response.body == Array("arrived".utf8))
        #expect(response.url.hasPrefix(server.origin))
        #expect(response.url.hasSuffix("nd?a"))
        let seen = server.requests.value
        #expect(seen.count == 2)
        #expect(seen[1]["Authorization"] == "Bearer abc")
        #expect(seen[1]["Cookie"] == "a=b")
        #expect(server.connections.value.accepted == 1)
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `credentials are sent neither to another origin nor back`(status: Int) async throws {
        let home = try makeServer()
        let away = try makeServer()
        // The redirects lead to the other origin and back.
        let request = loggedIn(
            .get, "\(home.origin)/\(status)?\(away.origin)/302?\(home.origin)/end")
        _ = try await makeClient().send(request)
        #expect(home.requests.value.count == 2)
        #expect(away.requests.value.count == 1)
        for seen in away.requests.value + home.requests.value.dropFirst() {
            for name in ["Authorization", "Cookie", "X-Key", "Content-Type"] {
                #expect(seen[name] == nil, "\(name)")
            }
            #expect(seen["Accept"] == "text/x")
        }
    }

    @Test func `a response reports that a redirect left the origin`() async throws {
        let home = try makeServer()
        let away = try makeServer()
        let client = makeClient()
        for (target, leavesOrigin) in [
            ("/end", false), ("\(away.origin)/end", true),
            ("\(away.origin)/302?\(home.origin)/end", true),
        ] {
            let response = try await client.send(loggedIn(.get, "\(home.origin)/302?\(target)"))
            #expect(response.leftOrigin == leavesOrigin, "\(target)")
        }
        #expect(try await !client.send(loggedIn(.get, "\(home.origin)/end")).leftOrigin)
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirected POST is repeated after 307 and 308, else a GET`(status: Int) async throws {
        let server = try makeServer()
        let request = loggedIn(.post, "\(server.origin)/\(status)?/end")
        #expect(try await makeClient().send(request).status == 200)
        let seen = try #require(server.requests.value.last)
        let isRepeated = status >= 307
        #expect(seen.method == (isRepeated ? "POST" : "GET"))
        #expect(seen.body == (isRepeated ? [1, 2, 3] : []))
        #expect(seen["Content-Type"] == (isRepeated ? "a/b" : nil))
        #expect(seen["Authorization"] == "Bearer abc")
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a POST is not redirected to another origin, and a PUT never`(status: Int) async throws {
        let home = try makeServer()
        let away = try makeServer()
        let client = makeClient()
        let post = loggedIn(.post, "\(home.origin)/\(status)?\(away.origin)/end")
        #expect(try await client.send(post).status == status)
        let put = loggedIn(.put, "\(home.origin)/\(status)?/end")
        #expect(try await client.send(put).status == status)
        #expect(home.requests.value.count == 2)
        #expect(away.connections.value.accepted == 0)
    }

    @Test(arguments: [
        "file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "http://10.0.0.1/",
        "http://169.254.169.254/latest/meta-data/", "https://10.0.0.1/",
        "https://[::ffff:10.0.0.1]/",
        "https://inner.test/", "http://inner.test/", "//10.0.0.1/",
        "https://user:pass@example.org/",
        "http://", "https://[", "dict://127.0.0.1:11211/stat",
    ])
    func `a redirect to a forbidden address fails`(location: String) async throws {
        let server = try makeServer()
        let client = makeClient(
            makeLimits { $0.names = ["inner.test:443:10.0.0.1", "inner.test:80:10.0.0.1"] })
        let request = loggedIn(.get, "\(server.origin)/302?\(location)")
        #expect(await client.failure(of: request) == .forbiddenAddress)
    }

    @Test func `a redirect to another loopback service fails`() async throws {
        let home = try makeServer()
        let away = try makeServer()
        let request = HTTPRequest(.get, "\(home.origin)/302?\(away.origin)/end")
        #expect(await makeClient().failure(of: request) == .forbiddenAddress)
        #expect(away.connections.value.accepted == 0)
    }

    @Test func `a redirect to an unknown name does not make the server unreachable`() async throws {
        let server = try makeServer()
        let request = HTTPRequest(.get, "\(server.origin)/302?https://nowhere.invalid/")
        #expect(await makeClient().failure(of: request) == .failed)
    }

    @Test func `at most five redirects are followed`() async throws {
        let server = try LoopbackServer { request in
            let left = Int(request.path.dropFirst()) ?? 0
            return left == 0 ? LoopbackResponse() : .redirect(to: "/\(left - 1)")
        }
        let client = makeClient()
        #expect(try await client.send(HTTPRequest(.get, "\(server.origin)/5")).status == 200)
        #expect(await client.failure(of: HTTPRequest(.get, "\(server.origin)/6")) == .failed)
    }

    @Test(arguments: [300, 302, 304, 399])
    func `a redirect without a location is returned`(status: Int) async throws {
        let server = try LoopbackServer(LoopbackResponse(status))
        #expect(try await makeClient().send(HTTPRequest(.get, server.origin)).status == status)
    }

    @Test func `the body of a redirect is not read`() async throws {
        let server = try LoopbackServer { request in
            guard request.path == "/" else { return LoopbackResponse(text: "arrived") }
            return .endless(headers: [("Location", "/end")]).with(status: 302)
        }
        #expect(try await makeClient().text("\(server.origin)/") == "arrived")
    }

    @Test func `the time limit includes all redirects`() async throws {
        let server = try LoopbackServer(.redirect(to: "/").delayed(by: .seconds(1)))
        let client = makeClient(makeLimits { $0.redirects = 100 })
        let request = HTTPRequest(.get, server.origin).with { $0.timeLimit = .seconds(5) }
        #expect(await client.failure(of: request) == .failed)
        // A limit for each request would permit a hundred redirects.
        #expect(server.requests.value.count <= 10)
    }
}

extension LoopbackResponse {
    /// Returns the response with another status.
    fileprivate func with(status: Int) -> LoopbackResponse {
        guard case .send(let head) = steps.first else { return self }
        let text = String(decoding: head, as: UTF8.self)
        let changed = "HTTP/1.1 \(status) Found" + text.drop { $0 != "\r\n" }
        return LoopbackResponse(steps: [.send(Array(changed.utf8))] + steps.dropFirst())
    }
}
