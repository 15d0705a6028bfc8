import ProviderKit
import TestSupport
import Testing

@testable import HTTP

@MainActor
@Suite(.timeLimit(.minutes(1)))
struct AddressTests {
    @Test(arguments: [
        "", "example.org", "//example.org", "ftp://example.org/", "file:///etc/passwd",
        "javascript:alert(1)", "https://", "https://user@example.org/",
        "https://user:password@example.org/", "https://example.org:0/",
        "https://example.org:70000/",
        "https://exa mple.org/", "https://example.org/a b", "https://example.org/\r\nX: y",
        "https://example.org/\0", "http://93.184.216.34/", "http://192.168.0.1/", "http://0.0.0.0/",
        "https://\(String(repeating: "a", count: 20_000)).org/",
    ])
    func `what is no address, or of another scheme, is refused`(url: String) async {
        #expect(await makeClient().failure(of: HTTPRequest(.get, url)) == .invalidAddress)
    }

    @Test func `http is for loopback alone, whatever the name says`() async throws {
        let server = try LoopbackServer(LoopbackResponse(text: "here"))
        let client = makeClient(
            makeLimits {
                $0.names = ["service.test:\(server.port):127.0.0.1", "far.test:80:10.0.0.1"]
            })
        #expect(try await client.text("http://localhost:\(server.port)/") == "here")
        #expect(try await client.text("http://service.test:\(server.port)/") == "here")
        #expect(
            await client.failure(of: HTTPRequest(.get, "http://far.test/")) == .invalidAddress)
    }

    @Test(arguments: [
        "127.0.0.1", "127.1", "0x7f.0.0.1", "2130706433", "localhost", "LOCALHOST", "a.localhost",
        "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0", "10.1.2.3", "169.254.169.254",
        "[fe80::1]", "[fd00::1]", "service.test", "inner.test",
    ])
    func `a stranger does not lead into the user's own network`(host: String) async throws {
        let server = try LoopbackServer(LoopbackResponse())
        let client = makeClient(
            makeLimits {
                $0.names = [
                    "service.test:\(server.port):127.0.0.1", "inner.test:\(server.port):10.0.0.1",
                ]
            })
        for scheme in ["http", "https"] {
            let request = HTTPRequest.stranger("\(scheme)://\(host):\(server.port)/")
            #expect(await client.failure(of: request) == .forbiddenAddress)
        }
        #expect(server.connections.value.accepted == 0)
    }

    @Test func `a service on loopback may name addresses there`() async throws {
        let server = try LoopbackServer(LoopbackResponse())
        let client = makeClient()
        let request = HTTPRequest.stranger("\(server.origin)/", allowsLoopback: true)
        #expect(try await client.send(request).status == 200)
        let inner = HTTPRequest.stranger("https://10.0.0.1/", allowsLoopback: true)
        #expect(await client.failure(of: inner) == .forbiddenAddress)
    }

    @Test func `a stranger does not get a connection that was opened for the user`() async throws {
        let server = try LoopbackServer(LoopbackResponse())
        let client = makeClient(
            makeLimits { $0.names = ["service.test:\(server.port):127.0.0.1"] })
        let url = "http://service.test:\(server.port)/"
        #expect(try await client.send(HTTPRequest(.get, url)).status == 200)
        #expect(await client.failure(of: .stranger(url)) == .forbiddenAddress)
        #expect(server.requests.value.count == 1)
        #expect(server.connections.value.accepted == 1)
    }
}

@MainActor
@Suite(.timeLimit(.minutes(1)))
struct ProxyTests {
    @Test func `a proxy is asked for all but loopback`() async throws {
        let server = try LoopbackServer { request in
            LoopbackResponse(request.method == "CONNECT" ? 403 : 200)
        }
        let client = makeClient(proxies: [
            "https_proxy": server.origin, "http_proxy": server.origin,
        ])
        #expect(await client.failure(of: HTTPRequest(.get, "https://photos.test/a")) != nil)
        #expect(server.requests.value.map(\.target) == ["photos.test:443"])
        // The proxy is on loopback; what a stranger names is not.
        #expect(await client.failure(of: .stranger("https://photos.test/a")) != .forbiddenAddress)
        #expect(server.requests.value.count == 2)
        #expect(await client.failure(of: .stranger("https://10.0.0.1/")) == .forbiddenAddress)
        #expect(server.requests.value.count == 2)
        let direct = try LoopbackServer(LoopbackResponse())
        #expect(try await client.send(HTTPRequest(.get, direct.origin)).status == 200)
        #expect(server.requests.value.count == 2)
    }

    @Test(arguments: [
        ("photos.test", "https://photos.test/"), (".photos.test", "https://photos.test/"),
        ("photos.test", "https://api.photos.test/"), ("*", "https://photos.test/"),
        ("other.test, PHOTOS.test", "https://photos.test/"), ("10.0.0.0/8", "https://10.1.2.3/"),
        ("10.1.2.3", "https://10.1.2.3/"), ("", "https://127.0.0.1/"), ("", "http://127.0.0.1/"),
        ("", "https://localhost/"), ("fd00::/8", "https://[fd00::1]/"),
    ])
    func `exceptions are connected to directly`(exceptions: String, url: String) throws {
        let proxies = ProxySettings { ["https_proxy": "http://p", "no_proxy": exceptions][$0] }
        let address = try WebAddress(url, CurlLibrary.load(), limits: Limits())
        #expect(proxies.proxy(for: address) == nil)
    }

    @Test(arguments: [
        ("", "https://photos.test/"), ("otherphotos.test", "https://photos.test/"),
        ("photos.test", "https://otherphotos.test/"), ("10.0.0.0/8", "https://11.1.2.3/"),
        ("10.0.0.0/99", "https://10.1.2.3/"), ("/", "https://10.1.2.3/"), (".", "https://a/"),
    ])
    func `all else goes through the proxy`(exceptions: String, url: String) throws {
        let proxies = ProxySettings { ["ALL_PROXY": "http://p", "NO_PROXY": exceptions][$0] }
        let address = try WebAddress(url, CurlLibrary.load(), limits: Limits())
        #expect(proxies.proxy(for: address) == "http://p")
    }
}
