import ProviderKit
import Testing
import WebService

@testable import UnsplashProvider

struct SourceTests {
    @Test(arguments: [
        ("editorial", "photos"), ("likes", "users/ada/likes"),
        ("topic:wallpapers", "topics/wallpapers/photos"),
        ("collection:-1x", "collections/-1x/photos"),
        ("user:grace", "users/grace/photos"), ("user:..a", "users/..a/photos"),
        ("topic:a/b", "topics/a/b/photos"), ("search:a:b / ?", "search/photos"),
    ])
    func `each source has a path of the API`(id: String, path: String) throws {
        let source = try #require(UnsplashSource(SourceID(id)))
        #expect(source.id == SourceID(id))
        #expect(source.request(username: "ada").path.joined(separator: "/") == path)
    }

    @Test(arguments: [
        "", "all", "Editorial", "editorial:", "likes:x", "topic", "topic:", "topic:.", "topic:..",
        "user:", "user:\u{0}", "user:a\nb", "search:", "search: ", "search:\u{202E}", "album:x",
        "collection:" + String(repeating: "1", count: 257),
    ])
    func `invalid source IDs are rejected`(id: String) {
        #expect(UnsplashSource(SourceID(id)) == nil)
    }

    @Test(arguments: [(nil, 1, nil), ("2", 2, nil), ("7.220922", 7, 220922), ("1.0", 1, 0)])
    func `a page token has a page number and a total`(text: String?, number: Int, total: Int?)
        throws
    {
        let token = try PageToken(text)
        #expect(token == PageToken(number: number, total: total))
        if let text { #expect(token.text == text) }
    }

    @Test(arguments: [
        "", "0", "-1", "+1", "1.", ".1", "1.2.3", "x", "1 ", "1000001", "99999999999999999999",
        "https://evil.example", "1.-2", "１",
    ])
    func `a malformed page token is an invalid argument`(text: String) {
        #expect(throws: ProviderError.self) { try PageToken(text) }
    }

    @Test(arguments: [
        ("https://api.unsplash.com/photos?page=2&per_page=30", 2),
        ("https://API.unsplash.com:443/x?page=9", 9),
        ("https://api.unsplash.com/photos?page=1", nil),
        ("https://api.unsplash.com/photos?page=0", nil), ("https://api.unsplash.com/photos", nil),
        ("https://api.unsplash.com/photos?page=2000000", nil),
        ("https://evil.example/photos?page=2", nil), ("http://api.unsplash.com/photos?page=2", nil),
        ("https://api.unsplash.com@evil.example/?page=2", nil), ("/photos?page=2", nil),
        ("https://api.unsplash.com/photos?page=%zz", nil),
    ])
    func `only a later page of the API is a next page`(url: String, number: Int?) throws {
        let api = try #require(WebAddress("https://api.unsplash.com"))
        #expect(PageToken.top.next(links: ["<\(url)>; rel=\"next\""], api: api) == number)
        #expect(PageToken.top.next(links: ["<\(url)>; rel=\"last\""], api: api) == nil)
    }
}
