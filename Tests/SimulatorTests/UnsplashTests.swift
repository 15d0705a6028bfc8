import JSONFormat
import TestSupport
import Testing
import UnsplashSimulator
import Web

/// Compares responses of the simulator with recorded ones.
@Suite(.timeLimit(.minutes(10)))
struct UnsplashTests {
    private let recordings = Recordings(
        beside: #filePath.replacing("SimulatorTests", with: "UnsplashProviderTests"))
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
        let missing = try recording(name).missing(in: response.json)
        #expect(missing == outdated, sourceLocation: sourceLocation)
    }

    private func recording(_ name: String) throws -> JSONFormat.JSON {
        try .init(parsing: recordings.body(name))
    }

    /// Returns the names of the header fields of a recording.
    private func headerNames(_ name: String) throws -> [String] {
        try recordings.response(name).headers.fields.map(\.name)
    }

    /// Sends a request `PATH` or `METHOD PATH` to the API, with a token or the client ID.
    private func send(
        _ request: String, token: String? = nil
    ) async throws -> LoopbackClient.Response {
        let parts = ("GET " + request).split(separator: " ").suffix(2).map(String.init)
        let authorization = token.map { "Bearer \($0)" } ?? "Client-ID \(unsplash.clientID)"
        return try await LoopbackClient.send(
            parts[0], unsplash.apiURL + parts[1],
            headers: [("Authorization", authorization), ("Accept-Version", "v1")])
    }

    @Test func `photos in a list match the recording`() async throws {
        unsplash.publish { $0.sponsor = "docsign" }
        try compare(
            "photos_list_2021_page1_prod", await send("/photos/?per_page=2"),
            outdated: ["[].categories"])
    }

    @Test func `a photo with all fields matches the recording`() async throws {
        try compare("photos_random_2023", await send("/photos/random"))
        let id = try #require(unsplash.feed.first { $0.hasLikes }?.id)
        try compare("photos_random_2023", await send("/photos/\(id)"))
    }

    @Test func `the response to a like matches the recording`() async throws {
        let id = try #require(unsplash.feed.first { $0.hasLikes }?.id)
        let response = try await send("POST /photos/\(id)/like", token: token)
        #expect(response.status == 201)
        try compare(
            "photo_like_201", response,
            outdated: [
                ".photo.categories", ".photo.sponsored", ".photo.sponsored_by",
                ".photo.sponsored_impressions_id",
            ])
        #expect(try response.json["photo"]?["user"] == nil)
    }

    @Test func `the own profile matches the recording`() async throws {
        try compare("me_200", await send("/me", token: token))
    }

    @Test func `search results match the recording`() async throws {
        try compare(
            "search_photos_2023_perpage3",
            await send("/search/photos?content_filter=low&query=mountain"))
    }

    @Test func `topics and collections match the recordings`() async throws {
        try compare(
            "topics_list_2021", await send("/topics"),
            outdated: ["[].cover_photo.categories"])
        try compare(
            "collection_2021_string_id", await send("/collections/3773378"),
            outdated: [".cover_photo.categories"])
    }

    @Test func `the response to a download matches the recording`() async throws {
        let id = try #require(unsplash.feed.first?.id)
        try compare(
            "photo_download_tracking_2021", await send("/photos/\(id)/download?ixid=abc"))
    }

    @Test func `errors match the recordings`() async throws {
        let notFound = try await send("/photos/abc123")
        #expect(notFound.status == 404)
        #expect(try notFound.json == recording("photo_404"))
        let unauthorized = try await send("POST /photos/abc123/like")
        #expect(unauthorized.status == 401)
        #expect(try unauthorized.json == recording("photo_like_401_clientid_token"))
    }

    @Test(arguments: [
        ("photos_list_2021_page1_prod", "/photos/?per_page=2"),
        ("search_photos_2023_perpage3", "/search/photos?per_page=3&query=mountain"),
    ])
    func `header fields match the recording`(_ name: String, _ path: String) async throws {
        let recorded = Set(try headerNames(name).map { $0.lowercased() })
        let names = Set(try await send(path).headers.map { $0.name.lowercased() })
        // Only some machines of the service send `X-Powered-By`.
        #expect(recorded.subtracting(names).subtracting(["x-powered-by"]) == [])
    }

    @Test func `header fields have the recorded order`() async throws {
        let recorded = try headerNames("search_photos_2023_perpage3")
        let names = try await send("/search/photos?per_page=3&query=mountain").headers
            .map(\.name)
        #expect(names == recorded.filter(names.contains))
    }
}
