import ProviderKit
import Testing

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

struct LinkHeaderTests {
    @Test(arguments: [
        (
            ["<https://a/?page=9>; rel=\"last\", <https://a/?page=2>; rel=\"next\""],
            "https://a/?page=2"
        ),
        (["<b,;c>;rel=next"], "b,;c"),
        (["<a>; rel=\"last\"", "<b>; REL=\"Prev NEXT\""], "b"),
        (["<a>; title=\"x, <c>; rel=\\\"next\\\"\"; rel=last, <b>; rel=next"], "b"),
        (["<a>; rel=prev; rel=next"], nil), (["<a>"], nil), (["a; rel=next"], nil), ([""], nil),
        (["<a; rel=next"], nil), ([], nil), (["<a>; rel"], nil), (["<a>; rel=\"next"], "a"),
        (["<a>;;;; rel=next,,"], "a"), (["<a>;"], nil), (["<a>; =;=,; rel=next"], nil),
    ])
    func `the first target of a relation is returned`(values: [String], target: String?) {
        #expect(LinkHeader.target("next", in: values) == target)
    }
}

struct ServiceTextTests {
    @Test func `removing control characters keeps all other characters`() {
        #expect(ServiceText.withoutControls("Ä plain  text") == "Ä plain  text")
        #expect(
            ServiceText.withoutControls("a\u{1b}[31mb\nc\u{9b}d\u{202e}e\u{2028}f\u{7f}")
                == "a [31mb c d e f ")
    }

    @Test(arguments: [
        ("plain <b>&amp;", "plain <b>&amp;", "plain <b>&amp;"),
        (" a\r\n\tb ", "a b", "a\n\tb"), ("a\u{0}b\u{1B}[31mc\u{9B}", "ab[31mc", "ab[31mc"),
        ("a\u{202E}b\u{2066}c", "abc", "abc"), ("a\u{2028}b\u{85}c", "a b c", "a\nb\nc"),
        ("👩‍👩‍👧 ü", "👩‍👩‍👧 ü", "👩‍👩‍👧 ü"), ("a\r\r\nb", "a b", "a\n\nb"), (" \n", nil, nil), ("", nil, nil),
        ("\u{0}", nil, nil), (nil, nil, nil), ("ü\u{a0} ü", "ü ü", "ü\u{a0} ü"),
        ("ü\u{7f}ü\u{9b}", "üü", "üü"), ("ü  ü", "ü ü", "ü  ü"), ("ü\u{a0}", "ü", "ü"),
    ])
    func `cleaning removes control characters and keeps words`(
        text: String?, line: String?, paragraphs: String?
    ) {
        #expect(ServiceText.line(text) == line)
        #expect(ServiceText.paragraphs(text) == paragraphs)
    }

    /// The cost is bounded by the limit: the functions cut a text before they read it.
    @Test func `a text is cut before it is read`() {
        let long = String(repeating: "\u{1b}", count: 7 << 20)
        #expect(ServiceText.line("a" + long + "b") == "a")
        #expect(ServiceText.paragraphs("a" + long + "b") == "a")
        #expect(ServiceText.message("a" + long + "b") == "a")
        #expect(ServiceText.withoutControls("a" + long).utf8.count == ServiceText.maximumLength)
        #expect(ServiceText.line(String(repeating: " ", count: 7 << 20) + "b") == nil)
    }

    @Test func `a message is one line of 1000 bytes`() {
        let text = "\u{1b}[31mNo\u{202e}\nmore " + String(repeating: "€", count: 1000)
        let message = ServiceText.message(text)
        #expect(message?.hasPrefix("[31mNo more €") == true)
        #expect(980...1000 ~= message?.utf8.count ?? 0)
    }

    @Test(arguments: ["a", "ü", "€", "😀"])
    func `a long text is cut between characters`(character: String) throws {
        for pad in ["", "a", "aa", "aaa"] {
            let text = pad + String(repeating: character, count: 20_000)
            for cut in [ServiceText.line(text), ServiceText.paragraphs(text)] {
                let cut = try #require(cut)
                #expect(text.hasPrefix(cut))
                #expect(16381...16384 ~= cut.utf8.count)
            }
        }
    }
}

struct RFC3339Tests {
    @Test(arguments: [
        ("2021-04-11T10:31:09-04:00", 1_618_151_469), ("2023-06-21T15:14:49Z", 1_687_360_489),
        ("2023-06-21t15:14:49.123456z", 1_687_360_489), ("1969-12-31T23:59:59Z", -1),
        ("1970-01-01T02:00:00+02:00", 0), ("2016-12-31T23:59:60Z", 1_483_228_800),
        ("2024-02-29T00:00:00Z", 1_709_164_800),
    ])
    func `dates with an offset and with Z are parsed`(text: String, seconds: Int64) {
        #expect(Timestamp(rfc3339: text)?.secondsSince1970 == seconds)
    }

    @Test(arguments: [
        "", "yesterday", "2021-04-11", "2021-04-11T10:31:09", "2021-13-11T10:31:09Z",
        "2021-02-30T10:31:09Z", "2021-04-11T24:31:09Z", "2021-04-11T10:31:09Zx",
        "2021-04-11T10:31:09.Z", "2021-04-11T10:31:09+0400", "2021-04-11T10:31:09+99:00",
        "+021-04-11T10:31:09Z", "２０２１-04-11T10:31:09Z", "2021-04-11T10:31:61Z",
    ])
    func `a malformed date is rejected`(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }
}
