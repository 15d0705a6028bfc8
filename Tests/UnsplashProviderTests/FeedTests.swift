import ProviderKit
import TestSupport
import Testing

@testable import UnsplashProvider

struct FeedTests {
    @Test func `a page has thirty photos and a token of the next page`() async throws {
        let first = try recordings.response("photos_list_2021_page1_prod")
        let fixture = Fixture { request in
            request.url.contains("page=1&") ? first : .json("[]", ["X-Total": "220922"])
        }
        let page = try await fixture.session.page("editorial")
        #expect((page.photos.count, page.total, page.next) == (2, 220_922, "2.220922"))
        let last = try await fixture.session.page("editorial", from: page.next)
        #expect(last == RemotePage([], next: nil, total: 220_922))
        #expect(
            fixture.requestLines == ["/photos?page=1&per_page=30", "/photos?page=2&per_page=30"])
        for request in fixture.http.requests.value {
            #expect(request.headers["Accept-Version"] == "v1")
            #expect(request.token == nil)
        }
    }

    @Test(arguments: [
        ("topic:a/../b?c", "/topics/a%2F..%2Fb%3Fc/photos?page=1&per_page=30"),
        ("collection:-12", "/collections/-12/photos?page=1&per_page=30"),
        ("user:@ada", "/users/%40ada/photos?page=1&per_page=30"),
    ])
    func `names are escaped in the path`(source: String, url: String) async throws {
        let fixture = Fixture(responding: .json("[]"))
        _ = try await fixture.session.page(source)
        #expect(fixture.requestLines == [url])
    }

    @Test func `a search takes its total from the header or the body`() async throws {
        let recorded = try recordings.response("search_photos_2023_perpage3")
        let fixture = Fixture(responding: recorded)
        let page = try await fixture.session.page("search:black dog&x=1")
        #expect((page.photos.count, page.total, page.next) == (3, 10002, "2.10002"))
        #expect(
            fixture.requestLines == ["/search/photos?query=black%20dog%26x%3D1&page=1&per_page=30"])

        let bare = Fixture(responding: .json(#"{"total":7,"results":[]}"#))
        let empty = try await bare.session.page("search:x")
        #expect(empty == RemotePage([], next: nil, total: 7))
    }

    /// Creates a session at a service with a number of photos, thirty per page.
    private static func paged(_ total: Int) -> Fixture {
        Fixture { request in
            let number = request.url.firstRange(of: "?page=").flatMap { start in
                Int(request.url[start.upperBound...].prefix { $0 != "&" })
            }
            let page = number ?? 0
            let last = (total + 29) / 30
            var headers: HTTPHeaders = ["X-Total": "\(total)"]
            let link = "<https://api.unsplash.com/photos?page=\(page + 1)>; rel=\"next\""
            if page < last { headers.append("Link", link) }
            return .json(
                #"[{"id":"p\#(page)","urls":{"full":"https://images.unsplash.com/\#(page)"}}]"#,
                headers)
        }
    }

    @Test(arguments: [
        ("5.300", ["p3", "p4", "p5"]), ("2.900", ["p1", "p2"]), ("5.250", ["p5"]),
        ("5.251", ["p4", "p5"]), ("5", ["p5"]), ("5.249", ["p5"]),
    ])
    func `pages are fetched again to the extent of removals`(
        token: String, found: [String]
    ) async throws {
        let fixture = Self.paged(250)
        let page = try await fixture.session.page("editorial", from: token)
        #expect(page.photos.map(\.photo.id.text) == found)
        // The token of the next page is that of the later page.
        #expect(page.next == (token.hasPrefix("2") ? "3.250" : "6.250"))
        let topic = Self.paged(250)
        let other = try await topic.session.page("topic:sea", from: token)
        #expect(other.photos == page.photos)
    }

    @Test func `whole repeated pages are skipped after additions`() async throws {
        let fixture = Self.paged(2500)
        let page = try await fixture.session.page("editorial", from: "3.2000")
        #expect(page.photos.map(\.photo.id.text) == ["p19"])
        #expect(page.next == "20.2500")
        // Photos are added to topics at any position: no page is skipped.
        let topic = try await Self.paged(2500).session.page("topic:sea", from: "3.2000")
        #expect(topic.photos.map(\.photo.id.text) == ["p3"])
    }

    @Test func `invalid photos are omitted, and a list without valid photos is invalid`()
        async throws
    {
        let good = #"{"id":"a","urls":{"full":"https://images.unsplash.com/a"}}"#
        let mixed = Fixture(
            responding: .json(#"[null,7,{},{"id":7,"urls":{}},\#(good),[],{"id":"b"}]"#))
        let page = try await mixed.session.page("editorial")
        #expect(page.photos.map(\.photo.id.text) == ["a"])
        await Self.expectFailure(Fixture(responding: .json(#"[{},{"id":"b"}]"#)))
    }

    @Test func `a page with only illustrations is empty and has a next page`() async throws {
        let fixture = Fixture(
            responding: .json(
                #"[{"id":"a","urls":{"full":"https://i.x/a"},"asset_type":"illustration"}]"#,
                ["Link": "<https://api.unsplash.com/photos?page=2>; rel=next"]))
        let page = try await fixture.session.page("editorial")
        #expect(page == RemotePage([], next: "2"))
    }

    @Test(arguments: [
        "", "{}", "null", "[", "<html>", "\u{FEFF}", "Rate Limit Exceeded", "[[[[",
        String(repeating: "[", count: 100_000), #"{"errors":["x"]}"#,
    ])
    func `an invalid list is a failure`(body: String) async {
        await Self.expectFailure(Fixture(responding: .json(body)))
    }

    @Test(arguments: [0, 1, 100, 4000, 7408])
    func `an incomplete list is a failure`(length: Int) async throws {
        let body = Array(try recordings.body("photos_list_2021_page1_prod").prefix(length))
        await Self.expectFailure(
            Fixture(responding: HTTPResponse(status: 200, headers: [:], body: body, url: "")))
    }

    private static func expectFailure(
        _ fixture: Fixture, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let text = await expectThrown(ProviderError.failed, sourceLocation: sourceLocation) {
            try await fixture.session.page("editorial")
        }
        let isInvalid = text?.hasPrefix("Unsplash sent an invalid response") == true
        #expect(isInvalid, "\(String(describing: text))", sourceLocation: sourceLocation)
    }

    @Test func `invalid arguments are rejected without a request`() async throws {
        let fixture = Fixture { _ in throw HTTPError.failed("unexpected request") }
        let session = fixture.session
        await #expect(throws: ProviderError.self) { try await session.page("nowhere") }
        await #expect(throws: ProviderError.self) { try await session.page("editorial", from: "x") }
        for id in ["", "..", "a/b", "ä"] {
            await #expect(throws: ProviderError.self) { try await session.fetchPhoto(id) }
            await #expect(throws: ProviderError.self) { try await session.setLiked(id, true) }
        }
        #expect(fixture.requestLines.isEmpty)
        // Network errors are passed on to the engine.
        await #expect(throws: HTTPError.failed("unexpected request")) {
            try await session.page("editorial")
        }
    }

    @Test func `a photo with another ID than the requested one is rejected`() async throws {
        let recorded = try recordings.response("photo_detail_bearer")
        let fixture = Fixture(responding: recorded)
        let found = try await fixture.session.fetchPhoto("tAKXap853rY")
        #expect(found.photo.author != nil)
        #expect(fixture.requestLines == ["/photos/tAKXap853rY"])
        // `random` returns any photo.
        await #expect(throws: ProviderError.notFound("There is no photo \"random\" at Unsplash.")) {
            try await fixture.session.fetchPhoto("random")
        }
    }

    @Test(arguments: [
        ("https://api.unsplash.com/photos/a/download?ixid=M3w", true), ("", false),
        ("https://evil.example/?ixid=M3w", false), ("http://api.unsplash.com/photos/a", false),
    ])
    func `a download is counted only at the API`(
        note: String, isCounted: Bool
    ) async throws {
        let fixture = Fixture(responding: .json(#"{"url":"https://images.unsplash.com/a"}"#))
        try await fixture.session.countDownload(
            RemotePhoto(Photo(id: PhotoID("a")), images: [:], note: note))
        #expect(fixture.http.requests.value.map(\.url) == (isCounted ? [note] : []))
    }
}
