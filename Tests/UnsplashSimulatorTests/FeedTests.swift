import TestSupport
import Testing
import UnsplashSimulator

@Suite(.timeLimit(.minutes(10)))
struct FeedTests {
    private let unsplash: SimulatedUnsplash

    init() throws { unsplash = try .start() }

    @Test(arguments: [
        // From recordings: a slash at the end of the path, page 1, no page.
        ("/photos/?per_page=2", ["last 120&per_page=2", "next 2&per_page=2"]),
        ("/photos", ["last 24", "next 2"]),
        (
            "/photos?per_page=30&page=2",
            [
                "first 1&per_page=30", "prev 1&per_page=30", "last 8&per_page=30",
                "next 3&per_page=30",
            ]
        ),
        ("/photos?per_page=99&page=8", ["first 1&per_page=99", "prev 7&per_page=99"]),
    ])
    func `pages link to the other pages`(_ path: String, _ links: [String]) async throws {
        let response = try await unsplash.send(path)
        let expected = links.map { link in
            let parts = link.split(separator: " ")
            return "<\(unsplash.apiURL)/photos?page=\(parts[1])>; rel=\"\(parts[0])\""
        }
        #expect(response["Link"] == expected.joined(separator: ", "))
        #expect(response["X-Total"] == "240")
    }

    @Test func `links have the query sorted by name`() async throws {
        let response = try await unsplash.send(
            "/search/photos?query=old+lighthouse&per_page=1&lang=en")
        let link = try #require(response["Link"]?.split(separator: ">").first)
        #expect(link.contains("?lang=en&page="))
        #expect(link.hasSuffix("&per_page=1&query=old+lighthouse"))
    }

    @Test func `a page has at most thirty photos, and pages beyond the last are empty`()
        async throws
    {
        let response = try await unsplash.send("/photos?per_page=100")
        #expect(try response.ids.count == 30)
        #expect(response["X-Per-Page"] == "30")
        let beyond = try await unsplash.send("/photos?page=9223372036854775807")
        #expect(beyond.status == 200)
        #expect(beyond.text == "[]")
        #expect(try await unsplash.send("/photos?page=0").status == 400)
        #expect(try await unsplash.send("/photos?per_page=x").status == 400)
    }

    @Test func `pages contain each photo once`() async throws {
        var ids: [String] = []
        for page in 1...8 {
            ids += try await unsplash.send("/photos?per_page=30&page=\(page)").ids
        }
        #expect(ids == unsplash.feed.map(\.id))
        #expect(Set(ids).count == 240)
    }

    @Test func `a new photo shifts the pages`() async throws {
        let before = try await unsplash.send("/photos?page=1").ids
        let photo = unsplash.publish()
        #expect(try await unsplash.send("/photos?page=1").ids == [photo.id] + before.dropLast())
        #expect(try await unsplash.send("/photos?page=2").ids.first == before.last)
    }

    @Test func `photos have the peculiarities of real ones`() {
        let feed = unsplash.feed
        #expect(feed.contains { $0.id.hasPrefix("-") })
        #expect(feed.contains { $0.id.hasPrefix("_") })
        #expect(feed.contains { $0.description == nil })
        #expect(feed.contains { $0.blurHash == nil })
        #expect(feed.contains { $0.color == nil })
        #expect(feed.contains { $0.promoted == nil })
        #expect(feed.contains { $0.sponsor != nil })
        #expect(feed.contains { $0.kind == .illustration })
        #expect(feed.contains { $0.isPlus })
        #expect(feed.contains { !$0.hasLikes })
        #expect(feed.contains { $0.hasOffsetDates })
        #expect(feed.contains { $0.alternativeDescription == .absent })
        #expect(feed.contains { $0.alternativeDescription == .null })
        #expect(feed.contains { $0.imagePath.hasPrefix("/5/") })
        #expect(feed.allSatisfy { $0.id.utf8.count == 11 })
    }

    @Test func `dates have two formats`() {
        let moment = Moment(1_618_151_469)
        #expect(moment.utc == "2021-04-11T14:31:09Z")
        #expect(moment.eastern == "2021-04-11T10:31:09-04:00")
    }

    @Test func `the same seed creates the same photos`() throws {
        let other = try SimulatedUnsplash.start()
        #expect(other.feed.map(\.id) == unsplash.feed.map(\.id))
        #expect(try SimulatedUnsplash.start(seed: 2).feed.map(\.id) != unsplash.feed.map(\.id))
    }

    @Test(arguments: [
        ("/topics/wallpapers/photos", 200), ("/topics/none/photos", 404), ("/topics/nature", 200),
        ("/collections/3773378/photos", 200), ("/collections/1/photos", 404),
        ("/users/lin", 200), ("/users/lin/photos", 200), ("/users/none", 404),
        ("/users/lin/collections", 200), ("/users/lin/portfolio", 200),
        ("/photos/random?count=1", 200),
        ("/search/photos?query=spam", 410), ("/search/photos", 400), ("/", 404), ("/a/b/c/d", 404),
    ])
    func `endpoints have the status of the service`(_ path: String, _ status: Int) async throws {
        #expect(try await unsplash.send(path).status == status)
    }

    @Test func `a search matches words`() async throws {
        let found = try await unsplash.send("/search/photos?query=red%20bicycle").document
        #expect(try #require(found["results"]).elements.isEmpty == false)
        let none = try await unsplash.send("/search/photos?query=nonesuch")
        #expect(none.text == #"{"total":0,"total_pages":0,"results":[]}"#)
    }

    @Test func `a request requires a client ID`() async throws {
        #expect(try await LoopbackClient.send("GET", unsplash.apiURL + "/photos").status == 401)
        let inQuery = "\(unsplash.apiURL)/photos?client_id=\(unsplash.clientID)"
        #expect(try await LoopbackClient.send("GET", inQuery).status == 200)
        #expect(try await unsplash.send("/photos", token: "no token").status == 401)
    }
}
