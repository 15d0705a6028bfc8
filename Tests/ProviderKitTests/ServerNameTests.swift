import ProviderKit
import Testing

struct ServerNameTests {
    @Test(arguments: [
        ("pixelfed.social", "pixelfed.social"), (" Mastodon.Social ", "mastodon.social"),
        ("https://pixelfed.social/", "pixelfed.social"), ("https://a.b/@ada?x#y", "a.b"),
        ("@ada@pixelfed.social", "pixelfed.social"), ("ada@pixelfed.social", "pixelfed.social"),
        ("xn--mnchen-3ya.social.", "xn--mnchen-3ya.social"), ("a-1.b2.c3d", "a-1.b2.c3d"),
        ("https://münchen.social/@ada", "xn--mnchen-3ya.social"),
        ("@ada@münchen.social", "xn--mnchen-3ya.social"),
    ])
    func `a server name is parsed from the forms that users write`(text: String, name: String)
        throws
    {
        #expect(try ServerName(text).text == name)
    }

    @Test(arguments: [
        ("@ada@photos.example", "ada"), ("Ada@Photos.Example", "Ada"), ("photos.example", nil),
        ("https://photos.example/@ada", nil), ("https://ada@photos.example/", nil),
        ("@photos.example", nil), ("a@b@photos.example", nil), ("@@photos.example", nil),
    ])
    func `the user of a handle is returned`(text: String, user: String?) throws {
        let name = try ServerName(text)
        #expect(name.user == user)
        #expect(name.text == "photos.example")
    }

    @Test(arguments: [
        "", " ", "localhost", "http://pixelfed.social", "ftp://a.b", "127.0.0.1", "[::1]", "::1",
        "0x7f.1", "1.2.3.0x4", "a..b", ".a.b", "-a.b", "a-.b", "a b.c", "a.b:8080",
        "https://", "@", "a/b.c", "a_b.c", "999", "a.1",
        String(repeating: "a", count: 64) + ".b", String(repeating: "a.", count: 127) + "bcd",
        String(repeating: "x", count: 100_000),
        // The characters are invalid in labels of internationalized names.
        "ｆull.example", "ﬁsh.example", "i♥.example", "a\u{200d}ü.example", "\u{301}a.example",
        "a⁄b.example", "ab--ü.example", "-ü.example", "ü-.example", "ü_.example", "ü .example",
        String(repeating: "ü", count: 64) + ".example",
    ])
    func `an invalid server name is rejected`(text: String) {
        let error = #expect(throws: ProviderError.self) { try ServerName(text) }
        guard let error, case .invalidArgument(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.hasSuffix(".") && reason.utf8.count < 300)
    }
}
