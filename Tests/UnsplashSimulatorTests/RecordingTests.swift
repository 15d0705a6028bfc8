import TestSupport
import Testing
import UnsplashSimulator

/// Compares responses of the simulator with recorded ones.
@Suite(.timeLimit(.minutes(10)))
struct RecordingTests {
    private let unsplash: SimulatedUnsplash
    private let token: String

    init() throws {
        unsplash = try .start()
        unsplash.addUser("ada")
        token = unsplash.logIn("ada").access
    }

    /// Checks that a response has all members of a recorded one, except the outdated ones.
    private func compare(
        _ name: String, _ response: LoopbackClient.Response, outdated: [String] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let missing = try Document(recording: name).missing(in: response.document)
        #expect(missing == outdated, sourceLocation: sourceLocation)
    }

    /// Returns the header fields of a recording, without its source and status line.
    private func headerLines(_ name: String) throws -> [Substring] {
        Array(
            try recording(name + ".headers").split(separator: "\n").drop { !$0.hasPrefix("HTTP/") }
                .dropFirst())
    }

    @Test func `photos in a list match the recording`() async throws {
        unsplash.publish { $0.sponsor = "docsign" }
        try compare(
            "photos_list_2021_page1_prod", await unsplash.send("/photos/?per_page=2"),
            outdated: ["[].categories"])
    }

    @Test func `a photo with all fields matches the recording`() async throws {
        try compare("photos_random_2023", await unsplash.send("/photos/random"))
        let id = try #require(unsplash.feed.first { $0.hasLikes }?.id)
        try compare("photos_random_2023", await unsplash.send("/photos/\(id)"))
    }

    @Test func `the response to a like matches the recording`() async throws {
        let id = try #require(unsplash.feed.first { $0.hasLikes }?.id)
        let response = try await unsplash.send("POST /photos/\(id)/like", token: token)
        #expect(response.status == 201)
        try compare(
            "photo_like_201", response,
            outdated: [
                ".photo.categories", ".photo.sponsored", ".photo.sponsored_by",
                ".photo.sponsored_impressions_id",
            ])
        #expect(try response.document["photo"]?["user"] == nil)
    }

    @Test func `the own profile matches the recording`() async throws {
        try compare("me_200", await unsplash.send("/me", token: token))
    }

    @Test func `search results match the recording`() async throws {
        try compare(
            "search_photos_2023_perpage3",
            await unsplash.send("/search/photos?content_filter=low&query=mountain"))
    }

    @Test func `topics and collections match the recordings`() async throws {
        try compare(
            "topics_list_2021", await unsplash.send("/topics"),
            outdated: ["[].cover_photo.categories"])
        try compare(
            "collection_2021_string_id", await unsplash.send("/collections/3773378"),
            outdated: [".cover_photo.categories"])
    }

    @Test func `the response to a download matches the recording`() async throws {
        let id = try #require(unsplash.feed.first?.id)
        try compare(
            "photo_download_tracking_2021", await unsplash.send("/photos/\(id)/download?ixid=abc"))
    }

    @Test func `errors match the recordings`() async throws {
        let notFound = try await unsplash.send("/photos/abc123")
        #expect(notFound.status == 404)
        #expect(try notFound.document == Document(recording: "photo_404"))
        let unauthorized = try await unsplash.send("POST /photos/abc123/like")
        #expect(unauthorized.status == 401)
        #expect(try unauthorized.document == Document(recording: "photo_like_401_clientid_token"))
    }

    @Test(arguments: [
        ("photos_list_2021_page1_prod", "/photos/?per_page=2"),
        ("search_photos_2023_perpage3", "/search/photos?per_page=3&query=mountain"),
    ])
    func `header fields match the recording`(_ name: String, _ path: String) async throws {
        let lines = try headerLines(name)
        let recorded = Set(lines.map { $0.prefix { $0 != ":" }.lowercased() })
        let names = Set(
            try await unsplash.send(path).headers.map { $0.name.lowercased() })
        // Only some machines of the service send `X-Powered-By`.
        #expect(recorded.subtracting(names).subtracting(["x-powered-by"]) == [])
    }

    @Test func `header fields have the recorded order`() async throws {
        let recorded = try headerLines("search_photos_2023_perpage3")
            .map { String($0.prefix { $0 != ":" }) }
        let names = try await unsplash.send("/search/photos?per_page=3&query=mountain").headers
            .map(\.name)
        #expect(names == recorded.filter(names.contains))
    }
}
