import ProviderKit
import TestSupport
import Testing

@testable import UnsplashProvider

struct FeedTests {
    private static let editorial = SourceID("editorial")

    @Test func `a page asks for thirty, and its place leads to the next one`() async throws {
        let first = try Recording.response("photos_list_2021_page1_prod")
        let fixture = Fixture { request in
            request.url.contains("page=1&") ? first : .json("[]", ["X-Total": "220922"])
        }
        let page = try await fixture.session.fetchPage(Self.editorial, from: nil)
        #expect(page.photos.count == 2)
        #expect(page.total == 220_922)
        #expect(page.next == "2.220922")
        let last = try await fixture.session.fetchPage(Self.editorial, from: page.next)
        #expect(last == RemotePage([], next: nil, total: 220_922))
        #expect(
            fixture.http.asked == ["/photos?page=1&per_page=30", "/photos?page=2&per_page=30"])
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
    func `a name cannot leave its place in the address`(source: String, url: String) async throws {
        let fixture = Fixture(answering: .json("[]"))
        _ = try await fixture.session.fetchPage(SourceID(source), from: nil)
        #expect(fixture.http.asked == [url])
    }

    @Test func `a search finds, and its total may come from the body`() async throws {
        let recorded = try Recording.response("search_photos_2023_perpage3")
        let fixture = Fixture(answering: recorded)
        let page = try await fixture.session.fetchPage(SourceID("search:black dog&x=1"), from: nil)
        #expect(page.photos.count == 3)
        #expect(page.total == 10002)
        #expect(page.next == "2.10002")
        #expect(
            fixture.http.asked == ["/search/photos?query=black%20dog%26x%3D1&page=1&per_page=30"])

        let bare = Fixture(answering: .json(#"{"total":7,"results":[]}"#))
        let empty = try await bare.session.fetchPage(SourceID("search:x"), from: nil)
        #expect(empty == RemotePage([], next: nil, total: 7))
    }

    @Test func `photos that left are caught up with by the page before`() async throws {
        let fixture = Fixture { request in
            let number = request.url.contains("page=2&") ? 2 : 3
            let link = "<https://api.unsplash.com/photos?page=\(number + 1)>; rel=\"next\""
            return .json(
                #"[{"id":"p\#(number)","urls":{"full":"https://images.unsplash.com/\#(number)"}}]"#,
                ["X-Total": "89", "Link": link])
        }
        let page = try await fixture.session.fetchPage(Self.editorial, from: "3.90")
        #expect(page.photos.map(\.photo.id.text) == ["p2", "p3"])
        // What leads on is the later page: a walk always goes on.
        #expect(page.next == "4.89")
        for place in ["3.89", "3.88", "3"] {
            let page = try await fixture.session.fetchPage(Self.editorial, from: place)
            #expect(page.photos.map(\.photo.id.text) == ["p3"])
        }
    }

    @Test func `one bad photo is left out, a list of nothing else is nonsense`() async throws {
        let good = #"{"id":"a","urls":{"full":"https://images.unsplash.com/a"}}"#
        let mixed = Fixture(
            answering: .json(#"[null,7,{},{"id":7,"urls":{}},\#(good),[],{"id":"b"}]"#))
        let page = try await mixed.session.fetchPage(Self.editorial, from: nil)
        #expect(page.photos.map(\.photo.id.text) == ["a"])
        await Self.expectFailure(Fixture(answering: .json(#"[{},{"id":"b"}]"#)))
    }

    @Test func `only illustrations make an empty page that is followed by more`() async throws {
        let fixture = Fixture(
            answering: .json(
                #"[{"id":"a","urls":{"full":"https://i.x/a"},"asset_type":"illustration"}]"#,
                ["Link": "<https://api.unsplash.com/photos?page=2>; rel=next"]))
        let page = try await fixture.session.fetchPage(Self.editorial, from: nil)
        #expect(page == RemotePage([], next: "2"))
    }

    @Test(arguments: [
        "", "{}", "null", "[", "<html>", "\u{FEFF}", "Rate Limit Exceeded", "[[[[",
        String(repeating: "[", count: 100_000), #"{"errors":["x"]}"#,
    ])
    func `nonsense is a failure`(body: String) async {
        await Self.expectFailure(Fixture(answering: .json(body)))
    }

    @Test(arguments: [0, 1, 100, 4000, 7408])
    func `a list that breaks off is a failure`(length: Int) async throws {
        let body = Array(try Recording.body("photos_list_2021_page1_prod").prefix(length))
        await Self.expectFailure(
            Fixture(answering: HTTPResponse(status: 200, headers: [:], body: body, url: "")))
    }

    private static func expectFailure(
        _ fixture: Fixture, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let error = await #expect(throws: ProviderError.self, sourceLocation: sourceLocation) {
            try await fixture.session.fetchPage(editorial, from: nil)
        }
        guard case .failed(let text) = error else {
            Issue.record("\(String(describing: error))", sourceLocation: sourceLocation)
            return
        }
        #expect(text.hasPrefix("Unsplash answered nonsense"), sourceLocation: sourceLocation)
    }

    @Test func `what cannot be asked is not asked`() async throws {
        let fixture = Fixture { _ in throw HTTPError.failed("asked") }
        let session = fixture.session
        await #expect(throws: ProviderError.self) {
            try await session.fetchPage(SourceID("nowhere"), from: nil)
        }
        await #expect(throws: ProviderError.self) {
            try await session.fetchPage(Self.editorial, from: "x")
        }
        for id in ["", "..", "a/b", "ä"] {
            await #expect(throws: ProviderError.self) { try await session.fetchPhoto(PhotoID(id)) }
            await #expect(throws: ProviderError.self) {
                try await session.setLiked(PhotoID(id), true)
            }
        }
        #expect(fixture.http.asked.isEmpty)
        // A dead network is the engine's to understand.
        await #expect(throws: HTTPError.failed("asked")) {
            try await session.fetchPage(Self.editorial, from: nil)
        }
    }

    @Test func `a photo is asked for by its id, and is the one that was asked for`() async throws {
        let recorded = try Recording.response("photo_detail_bearer")
        let fixture = Fixture(answering: recorded)
        let found = try await fixture.session.fetchPhoto(PhotoID("tAKXap853rY"))
        #expect(found.photo.author != nil)
        #expect(fixture.http.asked == ["/photos/tAKXap853rY"])
        // `random` leads to some photo.
        await #expect(throws: ProviderError.notFound("There is no photo \"random\" at Unsplash.")) {
            try await fixture.session.fetchPhoto(PhotoID("random"))
        }
    }

    @Test(arguments: [
        ("https://api.unsplash.com/photos/a/download?ixid=M3w", true), ("", false),
        ("https://evil.example/?ixid=M3w", false), ("http://api.unsplash.com/photos/a", false),
    ])
    func `a download is counted where the photo says, at the API alone`(
        note: String, isAsked: Bool
    ) async throws {
        let fixture = Fixture(answering: .json(#"{"url":"https://images.unsplash.com/a"}"#))
        try await fixture.session.countDownload(
            RemotePhoto(Photo(id: PhotoID("a")), images: [:], note: note))
        #expect(fixture.http.requests.value.map(\.url) == (isAsked ? [note] : []))
    }
}

struct SourcesTests {
    @Test func `topics are listed after the feed and the likes, and kept for an hour`() async throws
    {
        let recorded = try Recording.response("topics_list_2021")
        let time = Observed(Fixture.now)
        let fixture = Fixture(now: { time.value }) { _ in recorded }
        for seconds in [0, 3599] as [Int64] {
            time.update { $0 = Fixture.now + .seconds(seconds) }
            let sources = try await fixture.session.sources()
            #expect(
                sources.map(\.id.text) == [
                    "editorial", "likes", "topic:wallpapers", "topic:nature",
                ])
            #expect(sources.map(\.kind) == [.feed, .likes, .topic, .topic])
            #expect(sources[2].title == "Wallpapers")
            #expect(sources[2].count == 6840)
            #expect(sources[2].cover == PhotoID("YcfCXxo7rpc"))
            #expect(sources.allSatisfy { fixture.session.accepts($0.id) })
        }
        #expect(fixture.http.asked == ["/topics?per_page=30"])
        time.update { $0 = Fixture.now + .seconds(3600) }
        _ = try await fixture.session.sources()
        #expect(fixture.http.asked.count == 2)
    }

    @Test(arguments: ["<html>", "{}", #"[{"slug":".."},{"slug":7},{}]"#])
    func `without topics there are the others`(body: String) async throws {
        let fixture = Fixture(answering: .json(body))
        #expect(try await fixture.session.sources().map(\.id.text) == ["editorial", "likes"])
    }

    @Test func `whoever cancels gets no list`() async throws {
        let fixture = Fixture { _ in throw CancellationError() }
        await #expect(throws: CancellationError.self) { try await fixture.session.sources() }
    }
}

struct LikeTests {
    @Test func `likes are sent and their count is told`() async throws {
        let liked = try Recording.response("photo_like_201")
        let unliked = try Recording.response("photo_unlike_200")
        let fixture = Fixture { $0.method == .post ? liked : unliked }
        #expect(try await fixture.session.setLiked(PhotoID("-a_1"), true) == 582)
        #expect(try await fixture.session.setLiked(PhotoID("-a_1"), false) == 581)
        #expect(
            fixture.http.asked == ["POST /photos/-a_1/like", "DELETE /photos/-a_1/like"])
    }

    @Test(arguments: [(204, ""), (200, "<html>"), (201, "{}"), (200, #"{"photo":{"likes":-1}}"#)])
    func `a success is one whatever its body`(status: Int, body: String) async throws {
        let fixture = Fixture(answering: .json(body, status: status))
        #expect(try await fixture.session.setLiked(PhotoID("a"), true) == nil)
    }

    @Test func `liked photos are those of the name that the user has now`() async throws {
        let name = Observed("ada")
        let photos = try Recording.response("user_likes_page1")
        let fixture = Fixture { request in
            if request.url.hasSuffix("/me") { return .json(#"{"username":"\#(name.value)"}"#) }
            return request.url.contains("/users/\(name.value)/likes")
                ? photos : .json(#"{"errors":["Couldn't find User"]}"#, status: 404)
        }
        let page = try await fixture.session.fetchPage(fixture.session.likesSource, from: nil)
        #expect(page.photos.count == 10)
        name.update { $0 = "grace" }
        _ = try await fixture.session.fetchPage(fixture.session.likesSource, from: nil)
        _ = try await fixture.session.fetchPage(fixture.session.likesSource, from: nil)
        let query = "?page=1&per_page=30"
        #expect(
            fixture.http.asked == [
                "/me", "/users/ada/likes\(query)", "/users/ada/likes\(query)", "/me",
                "/users/grace/likes\(query)", "/users/grace/likes\(query)",
            ])
    }

    @Test func `likes that are gone are not found`() async throws {
        let fixture = Fixture { request in
            request.url.hasSuffix("/me")
                ? .json(#"{"username":"ada"}"#) : .json(#"{"errors":["gone"]}"#, status: 404)
        }
        for _ in 1...2 {
            await #expect(
                throws: ProviderError.notFound("There is no source \"likes\" at Unsplash.")
            ) {
                try await fixture.session.fetchPage(fixture.session.likesSource, from: nil)
            }
        }
    }

    @Test func `what is among the likes is liked, and silence elsewhere is none`() async throws {
        let fixture = Fixture { request in
            request.url.hasSuffix("/me")
                ? .json(#"{"username":"ada"}"#)
                : .json(#"[{"id":"a","urls":{"full":"https://images.unsplash.com/a"}}]"#)
        }
        let likes = try await fixture.session.fetchPage(fixture.session.likesSource, from: nil)
        #expect(likes.photos.map(\.photo.isLiked) == [true])
        #expect(likes.photos.map(\.saysWhetherLiked) == [true])
        let feed = try await fixture.session.fetchPage(SourceID("editorial"), from: nil)
        #expect(feed.photos.map(\.photo.isLiked) == [false])
        #expect(feed.photos.map(\.saysWhetherLiked) == [false])
    }
}

struct ProfileTests {
    @Test func `a recorded profile is read`() async throws {
        let fixture = Fixture(answering: try Recording.response("me_200"))
        let profile = try await fixture.session.profile()
        #expect(profile.username == "aaron_is_just_so_handsome")
        #expect(profile.name == "Aaron Jangly")
        #expect(profile.bio == "")
        #expect(profile.likes == 0)
        #expect(
            profile.url
                == "https://unsplash.com/@aaron_is_just_so_handsome?utm_source=image_feed&utm_medium=referral"
        )
        #expect(profile.avatarURL.hasSuffix("&h=128&w=128"))
        #expect(!profile.isEditable)
    }

    @Test func `a name is enough, but not less`() async throws {
        let profile = try await Fixture(answering: .json(#"{"username":"ada","bio":7}"#))
            .session.profile()
        #expect(profile.name == "ada")
        #expect(profile.likes == nil)
        #expect(profile.avatarURL == "")
        for body in [#"{"username":""}"#, "{}", #"{"username":null}"#, "[]"] {
            let fixture = Fixture(answering: .json(body))
            await #expect(throws: ProviderError.self) { try await fixture.session.profile() }
        }
    }
}

struct ReportTests {
    private static func limits(_ fixture: Fixture) async -> [RateLimit] {
        await fixture.events().compactMap {
            if case .rateLimit(let limit) = $0 { limit } else { nil }
        }
    }

    @Test(
        arguments: [
            (["X-RateLimit-Limit": "50", "x-ratelimit-remaining": "49"], 49),
            (["X-Ratelimit-Limit": "50", "X-Ratelimit-Remaining": "0", "Age": "0"], 0),
            (
                ["X-Ratelimit-Limit": "50", "X-Ratelimit-Remaining": "9", "X-Cache": "MISS, MISS"],
                9
            ),
            (
                ["X-Ratelimit-Limit": "50", "X-Ratelimit-Remaining": "9", "X-Cache": "MISS, HIT"],
                nil
            ),
            (["X-Ratelimit-Limit": "50", "X-Ratelimit-Remaining": "9", "Age": "580"], nil),
            (["X-Ratelimit-Limit": "50", "X-Ratelimit-Remaining": "51"], nil),
            (["X-Ratelimit-Limit": "50", "X-Ratelimit-Remaining": "-1"], nil),
            (["X-Ratelimit-Limit": "0", "X-Ratelimit-Remaining": "0"], nil),
            (["X-Ratelimit-Remaining": "4"], nil), ([:], nil),
        ] as [(HTTPHeaders, Int?)])
    func `what is left is told, if it is what is left now`(
        headers: HTTPHeaders, remaining: Int?
    ) async throws {
        let fixture = Fixture(answering: .json("[]", headers))
        for _ in 1...2 { _ = try await fixture.session.fetchPage(SourceID("editorial"), from: nil) }
        let expected = remaining.map { [RateLimit(remaining: $0, limit: 50)] } ?? []
        #expect(await Self.limits(fixture) == expected)
    }

    @Test func `a refusal tells what is left, too`() async throws {
        let fixture = Fixture(
            answering: .json(
                "Rate Limit Exceeded", status: 403,
                ["X-Ratelimit-Limit": "50", "X-Ratelimit-Remaining": "0"]))
        await #expect(throws: ProviderError.rateLimited(until: Fixture.now + .seconds(2800))) {
            try await fixture.session.profile()
        }
        #expect(await Self.limits(fixture) == [RateLimit(remaining: 0, limit: 50)])
    }

    @Test func `a session is ready first`() async {
        let events = await Fixture(answering: .json("[]")).events()
        guard case .status(.ready) = events.first else {
            Issue.record("\(events)")
            return
        }
    }

    @Test func `a warning is logged once`() async throws {
        let recorded = try Recording.response("search_photos_2023_perpage3")
        let fixture = Fixture(answering: recorded)
        for _ in 1...3 {
            _ = try await fixture.session.fetchPage(SourceID("search:dog"), from: nil)
        }
        let lines = fixture.log.lines.value.filter { $0.contains("tags property") }
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("warning ") == true)
    }
}
