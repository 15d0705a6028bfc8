import Testing
import Web

struct URLEncodingTests {
    @Test(arguments: [
        ("aZ09-._~", "aZ09-._~"), ("a b&c=d/?#%+", "a%20b%26c%3Dd%2F%3F%23%25%2B"), ("ü", "%C3%BC"),
    ])
    func `unescaping restores an escaped text`(text: String, escaped: String) {
        #expect(URLEncoding.escape(text) == escaped)
        #expect(URLEncoding.unescape(Substring(escaped)) == text)
    }

    @Test(arguments: ["%", "%4", "%zz", "a%e", "%FF", "%C3"])
    func `an invalid escape is rejected`(text: Substring) {
        #expect(URLEncoding.unescape(text) == nil)
        #expect(URLEncoding.fields("a=\(text)&b=c") == nil)
    }

    @Test(arguments: [
        ("https://a.b/c", "https://a.b/c?x=1&y=%26"), ("https://a.b/c?", "https://a.b/c?x=1&y=%26"),
        ("https://a.b/c?ixid=M3w&k", "https://a.b/c?ixid=M3w&k&x=1&y=%26"),
        ("https://a.b/c#top", "https://a.b/c?x=1&y=%26#top"),
    ])
    func `parameters are added to the query of an address`(url: String, result: String) {
        #expect(URLEncoding.adding([("x", "1"), ("y", "&")], to: url) == result)
    }

    @Test func `parsed fields keep their order and repetitions`() throws {
        let fields = try #require(URLEncoding.fields("code=a+b&state=%3D&code=&flag"))
        #expect(fields.map(\.name) == ["code", "state", "code", "flag"])
        #expect(fields.map(\.value) == ["a b", "=", "", ""])
    }
}
