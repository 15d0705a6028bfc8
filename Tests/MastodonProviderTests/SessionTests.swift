import ProviderKit
import TestSupport
import Testing
import WebService

@testable import MastodonProvider

struct SessionTests {
    private func ids(_ page: RemotePage) -> [String] { page.photos.map(\.photo.id.text) }

    @Test func `page tokens contain the parameters of the server`() async throws {
        let query = "limit=40&offset=a%26b&max_id=9"
        let fixture = Fixture(statuses: [Sample.status("1", [Sample.image("a")])], next: query)
        let page = try await fixture.session.page("home")
        #expect(page.next == query)
        _ = try await fixture.session.page("home", from: page.next)
        #expect(fixture.requestLines == ["/timelines/home?limit=40", "/timelines/home?\(query)"])
        #expect(
            fixture.http.requests.value.allSatisfy { $0.headers["Accept"] == "application/json" })
    }

    @Test(arguments: [
        ("home", "/timelines/home?limit=40"),
        ("local", "/timelines/public?limit=40&only_media=true&local=true"),
        ("tag:cats", "/timelines/tag/cats?limit=40&only_media=true"),
        ("tag:#caf\u{e9}", "/timelines/tag/caf%C3%A9?limit=40&only_media=true"),
        ("likes", "/favourites?limit=40"),
    ])
    func `each source has its endpoint`(source: String, path: String) async throws {
        let fixture = Fixture(responding: .json("[]"))
        #expect(fixture.session.accepts(SourceID(source)))
        let page = try await fixture.session.page(source)
        #expect(page == RemotePage([]))
        #expect(fixture.requestLines.contains(path))
        // The dialect of public lists is requested, and an empty list of likes can mean that the server has no such list.
        #expect(fixture.requestLines.count == (source == "home" ? 1 : 3))
    }

    @Test(arguments: [
        ("4.6.4", "/timelines/public?limit=40&only_media=true"),
        (
            "3.5.3 (compatible; Pixelfed 0.11.13)",
            "/timelines/public?limit=40&only_media=true&remote=true"
        ),
        ("takahe/0.11.0", "/timelines/public?limit=40"),
    ])
    func `the public source covers all servers`(version: String, path: String) async throws {
        let fixture = Fixture(version: version)
        for _ in 0..<2 { _ = try await fixture.session.page("public") }
        #expect(fixture.requestLines.suffix(2) == [path, path])
        // The dialect is requested once.
        #expect(fixture.requestLines.count == 3)
    }

    @Test func `timeline entries have the IDs of their statuses, and boosts have their own`()
        async throws
    {
        let original = Sample.status("98", [Sample.image("a"), Sample.image("b")])
        let boost = #"{"id":"102","reblog":\#(original)}"#
        let fixture = Fixture(statuses: [boost, original, Sample.status("97")], next: "max_id=97")
        let home = try await fixture.session.page("home")
        #expect(ids(home) == ["98.a", "98.b", "98.a", "98.b"])
        // Ordered by length first: 102 is newer than 98.
        #expect(home.photos.map(\.entry) == ["03102", "03102", "0298", "0298"])
        #expect(home.end == "0297")
        #expect(home.next != nil)
        let likes = try await fixture.session.page("likes")
        #expect(likes.photos.allSatisfy { $0.entry == nil } && likes.end == nil)
    }

    @Test func `the ID of a user is looked up by the handle`() async throws {
        let account = try recordings.response("account_lookup_200")
        let fixture = Fixture { request in request.url.contains("lookup") ? account : .json("[]") }
        for name in ["@bob@b.example", "bob@b.example"] {
            _ = try await fixture.session.page("user:\(name)")
        }
        let statuses =
            "/accounts/117020565966271181/statuses?limit=40&only_media=true&exclude_reblogs=true"
        #expect(
            fixture.requestLines == ["/accounts/lookup?acct=bob%40b.example", statuses, statuses])
        let missing = try recordings.response("account_lookup_404_Record_not_found")
        await #expect(throws: ProviderError.self) {
            try await Fixture(responding: missing).session.page("user:x")
        }
    }

    @Test(arguments: [
        "", "nonsense", "tag:", "tag:.", "tag:..", "tag:a b", "tag:a/b", "user:", "user:a\n",
        "tag:" + String(repeating: "x", count: 300), "home ", "list:1",
    ])
    func `invalid source IDs are rejected`(id: String) {
        #expect(!Fixture(responding: .json("[]")).session.accepts(SourceID(id)))
    }

    @Test func `a page without photos names the next one after one request`() async throws {
        let fixture = Fixture(statuses: [Sample.status("100")], next: "max_id=99")
        let page = try await fixture.session.page("home")
        #expect((page.photos.isEmpty, page.next) == (true, "max_id=99"))
        #expect(fixture.requestLines.count == 1)
    }

    @Test func `a source without links ends with an empty page`() async throws {
        let fixture = Fixture { request in
            let token = request.url.split(separator: "max_id=").dropFirst().last
            let ids = token == nil ? Array(81...100) : token == "81" ? Array(50...60) : []
            return .json(
                Sample.list(ids.reversed().map { Sample.status("\($0)", [Sample.image("a")]) }))
        }
        let photos = try await fixture.session.walk("tag:cats")
        let expected = Array((81...100).reversed()) + Array((50...60).reversed())
        #expect(photos.map(\.photo.id.text) == expected.map { "\($0).a" })
        #expect(
            fixture.requestLines.suffix(3) == [
                "/timelines/tag/cats?limit=40&only_media=true",
                "/timelines/tag/cats?limit=40&only_media=true&max_id=81",
                "/timelines/tag/cats?limit=40&only_media=true&max_id=50",
            ])
    }

    @Test func `an attachment with an address as its ID has a photo with a plain ID`() async throws
    {
        let status = Sample.status(
            "1796009999abc", [0, 1].map { Sample.image("https://snac.test/ada/p/1.2_\($0)") })
        let fixture = Fixture { request in
            .json(request.url.contains("/statuses/") ? status : Sample.list([status]))
        }
        let page = try await fixture.session.page("home")
        let found = ids(page)
        #expect(Set(found).count == 2)
        for id in found {
            #expect(id.hasPrefix("1796009999abc.") && !id.contains("/"))
            #expect(fixture.session.likeGroupPrefix(PhotoID(id)) == "1796009999abc.")
            #expect(try await fixture.session.fetchPhoto(id).photo.id.text == id)
        }
    }

    @Test func `images that cannot be shown are counted once`() async throws {
        let status = Sample.status(
            "1", [Sample.image("a", #""url":"ftp://a""#), Sample.image("b")]
        )
        .replacing(#""url":"https://files.example/a.jpg","#, with: "")
        let fixture = Fixture(statuses: [status])
        for _ in 0..<2 { #expect(ids(try await fixture.session.page("home")) == ["1.b"]) }
        let notice = "An image of photos.example is omitted, because its address is invalid."
        #expect(await fixture.session.finalNotices() == [[notice]])
    }

    @Test func `an image that the server has processed is no longer counted as omitted`()
        async throws
    {
        let whole = Sample.list([
            Sample.status("1", [Sample.image("a")]), Sample.status("2", [Sample.image("b")]),
        ])
        let partial = whole.replacing(#""https://files.example/a.jpg""#, with: "null")
        let none = partial.replacing(#""https://files.example/b.jpg""#, with: "null")
        let fixture = Fixture(responding: .json(none))
        for list in [none, partial, whole] {
            fixture.http.answer.update { $0 = { _ in .json(list) } }
            _ = try await fixture.session.page("home")
        }
        let notices = await fixture.session.finalNotices()
        let one = "An image of photos.example is omitted, because the server has not processed it."
        #expect(notices.count == 4)
        #expect(notices.first == [one] && notices.dropFirst(2) == [[one], []])
    }

    @Test func `an image of a post that was deleted is no longer counted as omitted`() async throws
    {
        let fixture = Fixture(responding: .json("[]"))
        for (source, ids) in [("home", ["2", "1"]), ("home", ["1"]), ("local", []), ("home", [])] {
            let list = Sample.list(ids.map { Sample.status($0, [Sample.image("a")]) })
                .replacing(#""https://files.example/a.jpg""#, with: "null")
            let instance = #"{"version":"4.5.0","title":"x","uri":"x"}"#
            fixture.http.answer.update {
                $0 = { .json($0.url.contains("/instance") ? instance : list) }
            }
            _ = try await fixture.session.page(source)
        }
        let starts = await fixture.session.finalNotices().map { $0.map { $0.prefix(8) } }
        #expect(starts == [["An image"], ["2 images"], ["An image"], []])
    }

    @Test func `a server without a list of likes says so`() async throws {
        let fixture = Fixture(version: "4.0.0 (not true; really snac/2.75)")
        await expectThrown(ProviderError.notSupported) { try await fixture.session.page("likes") }
    }

    @Test(arguments: ["min_id=1>; rel=\"prev\"", "max_id=>; rel=\"next\""])
    func `a link without a next page ends the source`(link: String) async throws {
        let fixture = Fixture(
            responding: .json(
                Sample.list([Sample.status("1", [Sample.image("a")])]),
                ["Link": "<https://photos.example/api/v1/timelines/home?limit=40&\(link)"]))
        let page = try await fixture.session.page("home")
        #expect((page.next, page.photos.count) == (nil, 1))
    }

    @Test func `repeated statuses are dropped, and the next page begins below the last one`()
        async throws
    {
        let statuses = ["9", "8", "9"].map { Sample.status($0, [Sample.image("a")]) }
        let fixture = Fixture(statuses: statuses, next: "limit=40&max_id=9")
        let page = try await fixture.session.page("home")
        #expect(ids(page) == ["9.a", "8.a"])
        #expect([page.next, page.end] == ["limit=40&max_id=8", "018"])
    }

    @Test(arguments: ["home", "likes"])
    func `large posts continue on the next page, and no photo is omitted`(source: String)
        async throws
    {
        let fixture = Fixture { request in
            func number(_ name: String) -> Int? {
                request.url.split(separator: "\(name)=").dropFirst().last
                    .flatMap { Int($0.prefix { $0.isNumber }) }
            }
            let limit = number("limit") ?? 0
            let ids = Array((101..<(number("max_id") ?? 161)).suffix(limit).reversed())
            guard let oldest = ids.last else { return .json("[]") }
            let statuses = ids.map { id in
                Sample.status("\(id)", (0..<20).map { Sample.image("\($0)") })
            }
            return .json(Sample.list(statuses), Sample.next("limit=\(limit)&max_id=\(oldest)"))
        }
        let photos = try await fixture.session.walk(source)
        let expected = (101...160).reversed().flatMap { id in (0..<20).map { "\(id).\($0)" } }
        #expect(photos.map(\.photo.id.text) == expected)
        #expect(await fixture.session.finalNotices().isEmpty)
    }

    @Test func `photos of direct messages are only in the list of likes`() async throws {
        let fixture = Fixture(statuses: [
            Sample.status("2", [Sample.image("a")], #""visibility":"direct""#),
            Sample.status("1", [Sample.image("a")], #""visibility":"private""#),
        ])
        #expect(ids(try await fixture.session.page("home")) == ["1.a"])
        #expect(ids(try await fixture.session.page("likes")) == ["2.a", "1.a"])
    }

    @Test func `a repeated page token ends the source`() async throws {
        let fixture = Fixture(statuses: [Sample.status("1")], next: "max_id=1")
        let page = try await fixture.session.page("home")
        #expect(page.next == "max_id=1")
        #expect(try await fixture.session.page("home", from: page.next) == RemotePage([]))
    }

    @Test func `a recorded timeline is decoded`() async throws {
        let home = try recordings.response("timelines_home_200")
        let fixture = Fixture { request in request.url.contains("max_id") ? .json("[]") : home }
        #expect(try await fixture.session.page("home").next == "max_id=117020574694606796")
        let reset = Timestamp(rfc3339: "2026-08-01T14:00:01Z")
        let limit = await fixture.session.lastLimit()
        #expect((limit?.limit, limit?.remaining, limit?.reset) == (300, 299, reset))
    }

    @Test func `a feed in preparation is a temporary failure, and empty after the second response`()
        async throws
    {
        let partial = try recordings.response("timelines_home_206_regenerating")
        let fixture = Fixture(responding: partial)
        let error = await #expect(throws: ProviderError.self) {
            try await fixture.session.page("home")
        }
        #expect("\(error, default: "")".contains("still"))
        let second = try await fixture.session.page("home")
        #expect(second.photos.isEmpty && second.next == nil)
        // It must not remove cached photos.
        #expect(second.isPartial)
        let list = Sample.list([Sample.status("1", [Sample.image("a")])])
        let some = Fixture(responding: .json(list, status: 206, Sample.next("max_id=1")))
        let page = try await some.session.page("home")
        #expect(page.next == "max_id=1" && page.isPartial)
    }

    @Test(arguments: ["null", #""https://photos.example/media_proxy/1/original""#])
    func `an attachment that the server has not copied is counted`(url: String) async throws {
        func attachment(_ id: String, _ remote: String) -> String {
            #"{"id":"\#(id)","type":"unknown","url":\#(url),"remote_url":\#(remote)}"#
        }
        let attachments = [attachment("a", #""https://b.example/a""#), attachment("b", "null")]
        let fixture = Fixture(statuses: [Sample.status("1", attachments)])
        _ = try await fixture.session.page("home")
        let notice = "An image of photos.example is omitted, because the server has no copy of it."
        #expect(await fixture.session.finalNotices() == [[notice]])
    }

    @Test func `the likes of Pixelfed are paged by their IDs`() async throws {
        let fixture = Fixture { request in
            let last =
                request.url.split(separator: "max_id=").dropFirst().last.flatMap { Int($0) } ?? 100
            let statuses = [last - 1, last - 2].filter { $0 > 96 }.map {
                Sample.status("s\($0)", [Sample.image("a")], #""like_id":\#($0),"favourited":null"#)
            }
            // The link leads back to the first page.
            let link =
                #"<http://photos.example/api/v1/favourites?limit=40&max_id=99>; rel="next",<http://photos.example/x?min_id=1>; rel="prev""#
            return .json(Sample.list(statuses), ["Link": link])
        }
        let photos = try await fixture.session.walk("likes").map(\.photo)
        #expect(photos.map(\.id.text) == ["s99.a", "s98.a", "s97.a"])
        #expect(photos.allSatisfy { $0.isLiked })
    }

    @Test func `a photo is fetched with its status`() async throws {
        let status = Sample.status(
            "12", [Sample.image("a"), Sample.image("b")], #""sensitive":true"#)
        let fixture = Fixture(responding: .json(status))
        #expect(try await fixture.session.fetchPhoto("12.b").photo.id.text == "12.b")
        #expect(fixture.requestLines == ["/statuses/12"])
        for id in ["12.c", "12", "12.a.b", "../12.a", "", "12.", ".a"] {
            await #expect(throws: ProviderError.self) { try await fixture.session.fetchPhoto(id) }
        }
    }

    @Test func `a like applies to the status`() async throws {
        let liked = try recordings.response("status_favourite_200")
        let fixture = Fixture(responding: liked)
        #expect(try await fixture.session.setLiked("12.a", true) == nil)
        #expect(try await fixture.session.setLiked("12.b", false) == nil)
        #expect(
            fixture.requestLines == [
                "POST /statuses/12/favourite", "POST /statuses/12/unfavourite",
            ])
        #expect(fixture.session.likeGroupPrefix(PhotoID("12.a")) == "12.")
        #expect(fixture.session.likeGroupPrefix(PhotoID("12")) == nil)
    }

    @Test(arguments: [false, true])
    func `sensitive photos are shown on request, in their own cache variant`(
        isShown: Bool
    ) async throws {
        let status = Sample.status("12", [Sample.image("a")], #""sensitive":true"#)
        let session = Fixture(
            ["ShowSensitive": "\(isShown)"], responding: .json(Sample.list([status]))
        ).session
        #expect(try await ids(session.page("home")) == (isShown ? ["12.a"] : []))
        #expect(session.cacheVariant.isEmpty != isShown)
    }

    // MARK: Refusals

    @Test func `a rejected request is followed by a check of the token`() async throws {
        let refusal = #"{"error":"Insufficient permissions: read:statuses."}"#
        let isRevoked = Observed(true)
        let me = try recordings.response("accounts_verify_credentials_200")
        let fixture = Fixture { request in
            request.url.contains("verify_credentials") && !isRevoked.value
                ? me : .json(refusal, status: 403)
        }
        await #expect(throws: ProviderError.unauthorized) { try await fixture.session.page("home") }
        await #expect(throws: ProviderError.unauthorized) {
            try await fixture.session.setLiked("12.a", true)
        }
        #expect(fixture.requestLines.filter { $0 == "/accounts/verify_credentials" }.count == 2)
        isRevoked.update { $0 = false }
        await expectThrown(ProviderError.denied) { try await fixture.session.page("home") }
    }

    @Test func `a tag that was never used is an empty source`() async throws {
        let fixture = Fixture(responding: .json(#"{"error":"Not Found"}"#, status: 404))
        let page = try await fixture.session.page("tag:fog")
        #expect(page.photos.isEmpty && page.next == nil)
        await expectThrown(ProviderError.failed) { try await fixture.session.page("local") }
    }

    @Test(arguments: [
        (429, ProviderError.rateLimited(until: nil)), (401, .unauthorized),
        (503, .failed("photos.example failed with status 503; try again later.")),
    ])
    func `an error of the instance document is handled like any other`(
        status: Int, expected: ProviderError
    ) async throws {
        let fixture = Fixture(instance: .json(#"{"error":"No."}"#, status: status))
        await #expect(throws: expected) { try await fixture.session.page("public") }
        #expect(fixture.requestLines.allSatisfy { $0.contains("/instance") })
        #expect(fixture.requestLines.count == (status == 429 ? 1 : 2))
    }

    @Test(arguments: [403, 404, 422])
    func `a server without an instance document has the default dialect`(status: Int) async throws {
        let fixture = Fixture(instance: .json(#"{"error":"No."}"#, status: status))
        for _ in 0..<2 { _ = try await fixture.session.page("public") }
        #expect(fixture.requestLines.count == 4)
        #expect(fixture.requestLines.last == "/timelines/public?limit=40&only_media=true")
    }
}
