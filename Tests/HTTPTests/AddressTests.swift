import TestSupport
import Testing
import Web

@testable import HTTP

@Suite(.timeLimit(.minutes(10))) @MainActor
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
    func `invalid addresses and other schemes are rejected`(url: String) async {
        #expect(await makeClient().failure(of: HTTPRequest(.get, url)) == .invalidAddress)
    }

    @Test func `plain HTTP is allowed only to loopback addresses`() async throws {
        let server = try LoopbackServer(LoopbackResponse(text: "here"))
        let client = makeClient(
            makeLimits {
                $0.names = ["service.test:\(server.port):127.0.0.1", "far.test:80:10.0.0.1"]
            })
        #expect(try await client.text("http://localhost:\(server.port)/") == "here")
        #expect(try await client.text("http://service.test:\(server.port)/") == "here")
        #expect(await client.failure(of: HTTPRequest(.get, "http://far.test/")) == .invalidAddress)
    }

    @Test(arguments: [
        "127.0.0.1", "127.1", "0x7f.0.0.1", "2130706433", "localhost", "LOCALHOST", "a.localhost",
        "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0", "10.1.2.3", "169.254.169.254",
        "[fe80::1]", "[fd00::1]", "service.test", "inner.test",
    ])
    func `an address from a service may not be on the local network`(host: String) async throws {
        let server = try LoopbackServer(LoopbackResponse())
        let client = makeClient(
            makeLimits {
                $0.names = [
                    "service.test:\(server.port):127.0.0.1", "inner.test:\(server.port):10.0.0.1",
                ]
            })
        for scheme in ["http", "https"] {
            let request = HTTPRequest.service("\(scheme)://\(host):\(server.port)/")
            #expect(await client.failure(of: request) == .forbiddenAddress)
        }
        #expect(server.connections.value.accepted == 0)
    }

    @Test func `an address from a loopback service may be on loopback`() async throws {
        let server = try LoopbackServer(LoopbackResponse())
        let client = makeClient()
        let request = HTTPRequest.service("\(server.origin)/", allowsLoopback: true)
        #expect(try await client.send(request).status == 200)
        let inner = HTTPRequest.service("https://10.0.0.1/", allowsLoopback: true)
        #expect(await client.failure(of: inner) == .forbiddenAddress)
    }

    @Test func `a service's address reuses no connection to the local network`() async throws {
        let server = try LoopbackServer(LoopbackResponse())
        let client = makeClient(makeLimits { $0.names = ["service.test:\(server.port):127.0.0.1"] })
        let url = "http://service.test:\(server.port)/"
        #expect(try await client.send(HTTPRequest(.get, url)).status == 200)
        #expect(await client.failure(of: .service(url)) == .forbiddenAddress)
        #expect(server.requests.value.count == 1)
        #expect(server.connections.value.accepted == 1)
    }
}

@Suite(.timeLimit(.minutes(10))) @MainActor
struct ProxyTests {
    @Test func `all requests except those to loopback use the proxy`() async throws {
        let server = try LoopbackServer { request in
            LoopbackResponse(request.method == "CONNECT" ? 403 : 200)
        }
        let client = makeClient(proxies: [
            "https_proxy": server.origin, "http_proxy": server.origin,
        ])
        #expect(await client.failure(of: HTTPRequest(.get, "https://photos.test/a")) != nil)
        #expect(server.requests.value.map(\.target) == ["photos.test:443"])
        // The proxy is on loopback, which does not affect addresses from a service.
        #expect(await client.failure(of: .service("https://photos.test/a")) != .forbiddenAddress)
        #expect(server.requests.value.count == 2)
        #expect(await client.failure(of: .service("https://10.0.0.1/")) == .forbiddenAddress)
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
    func `exceptions are connected directly`(exceptions: String, url: String) throws {
        let proxies = ProxySettings { ["https_proxy": "http://p", "no_proxy": exceptions][$0] }
        let address = try HTTP.ParsedAddress(url)
        #expect(try proxies.proxy(for: address, .named) == nil)
    }

    @Test(arguments: [
        ("", "https://photos.test/"), ("otherphotos.test", "https://photos.test/"),
        ("photos.test", "https://otherphotos.test/"), ("10.0.0.0/8", "https://11.1.2.3/"),
        ("10.0.0.0/99", "https://10.1.2.3/"), ("/", "https://10.1.2.3/"), (".", "https://a/"),
    ])
    func `other addresses use the proxy`(exceptions: String, url: String) throws {
        let proxies = ProxySettings { ["ALL_PROXY": "http://p", "NO_PROXY": exceptions][$0] }
        let address = try HTTP.ParsedAddress(url)
        #expect(try proxies.proxy(for: address, .anywhere)?.text == "http://p")
    }

    @Test(arguments: [("http_proxy", true), ("HTTP_PROXY", false), ("all_proxy", true)])
    func `a server named with http uses the proxy`(variable: String, isUsed: Bool) throws {
        let proxies = ProxySettings { [variable: "http://p"][$0] }
        let address = try HTTP.ParsedAddress("http://photos.lan/")
        #expect(try proxies.proxy(for: address, .named)?.text == (isUsed ? "http://p" : nil))
        // Only loopback is permitted over http at other addresses, which the connection checks.
        #expect(try proxies.proxy(for: address, .anywhere) == nil)
        #expect(try proxies.proxy(for: address, .publicOrLoopback) == nil)
    }

    @Test(arguments: [
        "intranet", "printer.local", "nas.lan", "router.home.arpa", "wiki.corp", "db.internal",
        "a.b.localdomain",
    ])
    func `a proxy does not resolve local names from a service`(host: String) async throws {
        let proxy = try LoopbackServer(LoopbackResponse(403))
        let client = makeClient(proxies: ["https_proxy": proxy.origin])
        let url = "https://\(host)/a"
        #expect(await client.failure(of: .service(url)) == .forbiddenAddress)
        #expect(proxy.requests.value.isEmpty)
        // The user may name a server of the local network.
        #expect(await client.failure(of: HTTPRequest(.get, url)) == .failed)
        #expect(proxy.requests.value.map(\.target) == ["\(host):443"])
    }
}

/// Passwords in the settings of the proxy.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct ProxyPasswordTests {
    private static let secrets = ["bob", "pa#ss", "pass", "pa%23ss", "pa", "ss@", "secret"]

    private func thrownError(_ setting: (String, String)) async -> (any Error)? {
        let client = makeClient(
            makeLimits { $0.connecting = .seconds(15) }, proxies: [setting.0: setting.1])
        do {
            _ = try await client.send(HTTPRequest(.get, "https://photos.test/"))
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
        [
            "http://bob:pa#ss@proxy:8080", "http://bob:pa?ss@proxy:8080",
            "http://bob:pa/ss@proxy:8080", "bob:pa#ss@proxy:8080", "socks5h://bob:pa#ss@proxy",
            "http://bob:secret", "gopher://bob:secret@proxy:8080", "http://bob:secret@",
            "http://bob:secret@proxy:99999", "http://bob:secret@pro xy:8080",
            "http://bob:secret@proxy:0", "http://bob:secret@[::1", "http://bob:pa%ss@proxy:8080",
            "http://bob:secret%0d%0aX@proxy:8080", "http://bob:secret@proxy:8080/path",
            "bob:secret", "http://bob:\u{7}secret@\u{7}:8080",
        ])
    func `the error for a malformed proxy address names the variable, not the address`(
        variable: String, value: String
    ) async throws {
        let error = try #require(await thrownError((variable, value)))
        #expect(Failure(error) == .unreachable)
        let text = "\(error)"
        #expect(
            text.hasPrefix(
                "The service cannot be reached: the proxy address in \(variable) is malformed: "))
        // No part of the address is quoted.
        #expect(!text.contains("bob") && !text.contains("secret") && !text.contains("ss@"))
        #expect(!text.contains("pa#") && !text.contains("pa/") && !text.contains("pa?"))
    }

    @Test(arguments: [
        "http://bob:secret@127.0.0.1:1", "bob:secret@127.0.0.1:1",
        "socks5://bob:secret@127.0.0.1:1",
        "http://bob:secret@proxy.invalid:8080", "https://bob:secret@127.0.0.1:1/",
    ])
    func `the error for an unreachable proxy has no password`(value: String) async throws {
        let error = try #require(await thrownError(("https_proxy", value)))
        let text = "\(error)"
        #expect(!text.contains("secret") && !text.contains("bob"), "\(text)")
    }

    @Test(arguments: [
        ("bob:pa%23ss", "Ym9iOnBhI3Nz"), ("bob:p@ss", "Ym9iOnBAc3M="), ("bob:", "Ym9iOg=="),
        ("b%3Ab:pa:ss", "YjpiOnBhOnNz"),
    ])
    func `the proxy gets decoded credentials`(credentials: String, encoded: String) async throws {
        let proxy = try LoopbackServer(LoopbackResponse(407))
        let setting = "http://\(credentials)@127.0.0.1:\(proxy.port)/"
        let error = try #require(await thrownError(("https_proxy", setting)))
        #expect(Failure(error) == .failed)
        let seen = try #require(proxy.requests.value.first)
        #expect(seen["Proxy-Authorization"] == "Basic \(encoded)")
        #expect(!"\(error)".contains("ss"), "\(error)")
    }

    @Test(arguments: [
        ("proxy", "http://proxy"), ("proxy:8080", "http://proxy:8080"),
        ("HTTPS://Proxy.test/", "https://Proxy.test"),
        ("socks5h://[::1]:1080", "socks5h://[::1]:1080"),
        ("http://[fe80::1%eth0]:3128", "http://[fe80::1%eth0]:3128"),
        ("http://bob@proxy:8080", "http://proxy:8080"),
    ])
    func `proxy addresses in the formats of curl are accepted`(value: String, text: String) throws {
        #expect(try ProxyAddress(parsing: value, of: "https_proxy").text == text)
        #expect("\(try ProxyAddress(parsing: value, of: "https_proxy"))" == text)
    }
}

/// Placeholder addresses, to which programs that tunnel all traffic resolve names.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct PlaceholderAddressTests {
    @Test(arguments: ["198.18.0.0", "198.19.255.255", "fc00::5", "fc00:3fff::1"])
    func `a name may resolve to a placeholder of a tunnel`(text: String) throws {
        let address = try #require(IPAddress(text))
        for scope in [AddressScope.publicOnly, .publicOrLoopback] {
            #expect(scope.permits(address, .https, isResolved: true))
            #expect(!scope.permits(address, .https, isResolved: false))
            #expect(!scope.permits(address, .http, isResolved: true))
        }
    }

    @Test(arguments: [
        "198.17.255.255", "198.20.0.0", "fc00:4000::1", "fd00::1", "10.0.0.1", "127.0.0.1",
        "192.168.0.1", "169.254.169.254",
    ])
    func `other addresses are permitted independently of the resolution`(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(
            AddressScope.publicOnly.permits(address, .https, isResolved: true)
                == AddressScope.publicOnly.permits(address, .https, isResolved: false))
    }

    @Test func `a connection to a placeholder requires a name`() async throws {
        let limits = makeLimits {
            $0.names = ["photos.test:443:198.18.0.5", "inner.test:443:10.0.0.5"]
        }
        let client = makeClient(limits)
        #expect(await client.failure(of: .service("https://198.18.0.5/")) == .forbiddenAddress)
        #expect(await client.failure(of: .service("https://inner.test/")) == .forbiddenAddress)
        // The connection is attempted and fails.
        let brief = makeClient(makeLimits(limits) { $0.connecting = .milliseconds(200) })
        #expect(await brief.failure(of: .service("https://photos.test/")) != .forbiddenAddress)
    }
}

/// Requests to an origin that the user named as a server.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct NamedOriginTests {
    @Test func `plain HTTP and private addresses are permitted only for the named origin`() throws {
        for text in ["192.168.1.2", "10.0.0.1", "fd00::1", "100.64.0.1", "127.0.0.1"] {
            let address = try #require(IPAddress(text))
            #expect(AddressScope.named.permits(address, .http, isResolved: false))
            #expect(AddressScope.named.permits(address, .https, isResolved: false))
            #expect(!AddressScope.publicOnly.permits(address, .https, isResolved: false))
            #expect(
                AddressScope.anywhere.permits(address, .http, isResolved: true)
                    == address.isLoopback)
        }
    }

    @Test func `a name may lead to a private address over plain HTTP`() async throws {
        // The address of a documentation network is not on loopback, and nothing answers there.
        let limits = makeLimits { $0.names = ["nas.test:80:192.0.2.1", "other.test:80:192.0.2.1"] }
        let brief = makeClient(makeLimits(limits) { $0.connecting = .milliseconds(200) })
        let named = HTTPRequest(.get, "http://nas.test/").naming("http://nas.test")
        #expect(await brief.failure(of: named) == .unreachable)
        let address = HTTPRequest(.get, "http://192.0.2.1/").naming("http://192.0.2.1")
        #expect(await brief.failure(of: address) == .unreachable)
        let client = makeClient(limits)
        for url in ["http://other.test/", "http://nas.test:81/", "https://nas.test/"] {
            #expect(
                await client.failure(of: HTTPRequest(.get, url).naming("http://nas.test"))
                    == .forbiddenAddress)
        }
        // The source of the address matters, not only the origin.
        let service = HTTPRequest.service("http://nas.test/").naming("http://nas.test")
        #expect(await client.failure(of: service) == .forbiddenAddress)
    }

    @Test(arguments: [301, 302, 307, 308])
    func `a redirect to another origin is returned, not followed`(status: Int) async throws {
        let other = try LoopbackServer(LoopbackResponse(text: "other"))
        let server = try LoopbackServer { request in
            switch request.target {
            case "/away": LoopbackResponse(status, headers: [("Location", other.origin)])
            case "/here": LoopbackResponse(status, headers: [("Location", "/end")])
            default: LoopbackResponse(text: "end")
            }
        }
        let client = makeClient()
        let away = HTTPRequest(.get, "\(server.origin)/away").naming(server.origin)
        #expect(try await client.send(away).leadsAway)
        #expect(other.requests.value.isEmpty)
        let here = HTTPRequest(.get, "\(server.origin)/here").naming(server.origin)
        #expect(try await client.send(here).body == Array("end".utf8))
    }
}
