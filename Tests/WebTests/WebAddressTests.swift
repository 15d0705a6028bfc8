import Testing
import Web

struct WebAddressTests {
    @Test(arguments: [
        ("https://api.unsplash.com", "https://api.unsplash.com", ""),
        ("HTTPS://API.Unsplash.com:443/Photos?a=B#c", "https://api.unsplash.com", "/Photos?a=B#c"),
        ("http://127.0.0.1:8080?x", "http://127.0.0.1:8080", "?x"),
        ("http://[::1]:80/", "http://[::1]", "/"),
        ("https://a.b/?q=1|2", "https://a.b", "/?q=1|2"),
        ("https://a.B:08443#x", "https://a.b:8443", "#x"),
        ("http://[::F]:443", "http://[::f]:443", ""),
    ])
    func `an address is split into origin and rest`(text: String, origin: String, rest: String)
        throws
    {
        let address = try #require(WebAddress(text))
        #expect(address.origin == origin)
        #expect(address.rest == rest)
        #expect(address.text == origin + rest)
    }

    @Test(arguments: [
        "", "unsplash.com", "//unsplash.com", "ftp://unsplash.com", "javascript:alert(1)",
        "file:///etc/passwd", "https://", "https:///path", "https://user@host/", "https://a:b@host",
        "https://host:", "https://host:0", "https://host:65536", "https://host:+1", "https://a b/",
        "https://host\\@evil", "https://host/\n", "https://höst/", "https://[::1", "https://[::1]x",
        "https://a..b/", "https://.a/", "https://a%2eb/", "https://host:8\u{0661}",
        "https://host/" + String(repeating: "a", count: 9000),
    ])
    func `an address that parsers interpret differently is invalid`(text: String) {
        #expect(WebAddress(text) == nil)
    }

    @Test(arguments: [
        ("http://localhost", true), ("http://127.0.0.1", true), ("http://127.255.0.9:1", true),
        ("http://[::1]", true), ("http://127.evil.com", false),
        ("http://127.0.0.1.evil.com", false),
        ("http://127.0.0", false), ("http://127.0.0.256", false), ("http://10.0.0.1", false),
        ("http://localhost.evil.com", false), ("http://[::ffff:127.0.0.1]", false),
    ])
    func `a loopback host is detected by its name`(text: String, isLoopback: Bool) throws {
        let address = try #require(WebAddress(text))
        #expect(address.isLoopback == isLoopback)
        #expect(address.isSafe == isLoopback)
    }

    @Test(arguments: [
        ("https://a.b/c?x=1&y=2#z?", "x=1&y=2"), ("https://a.b?", ""), ("https://a.b/c#?x", nil),
    ])
    func `the query ends where the fragment begins`(text: String, query: Substring?) {
        #expect(WebAddress(text)?.query == query)
    }
}
