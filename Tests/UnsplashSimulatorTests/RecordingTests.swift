import TestSupport
import Testing
import UnsplashSimulator

/// Holds answers of the simulator against recorded ones of the service.
@Suite(.timeLimit(.minutes(1)))
struct RecordingTests {
    private let unsplash: SimulatedUnsplash
    private let token: String

    init() throws {
        unsplash = try .start()
        unsplash.addUser("ada")
        token = unsplash.logIn("ada").access
    }

    /// Expects that an answer has all of a recorded one, but for what newer answers have no more.
    private func compare(
        _ name: String, _ answer: LoopbackClient.Answer, outdated: [String] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let missing = try Document(recording: name).missing(in: answer.document)
        #expect(missing == outdated, sourceLocation: sourceLocation)
    }

    /// The headers of a recorded answer, after its source and status.
    private func headerLines(_ name: String) throws -> [Substring] {
        Array(
            try recording(name + ".headers").split(separator: "\n").drop { !$0.hasPrefix("HTTP/") }
                .dropFirst())
    }

    @Test func `photos of a list are like the recorded ones`() async throws {
        unsplash.publish { $0.sponsor = "docsign" }
        try compare(
            "photos_list_2021_page1_prod", await unsplash.ask("/photos/?per_page=2"),
            outdated: ["[].categories"])
    }

    @Test func `a photo with all there is to tell is like a recorded one`() async throws {
        try compare("photos_random_2023", await unsplash.ask("/photos/random"))
        let id = try #require(unsplash.feed.first { $0.hasLikes }?.id)
        try compare("photos_random_2023", await unsplash.ask("/photos/\(id)"))
    }

    @Test func `an answer to a like is like the recorded one`() async throws {
        let id = try #require(unsplash.feed.first { $0.hasLikes }?.id)
        let answer = try await unsplash.ask("POST /photos/\(id)/like", token: token)
        #expect(answer.status == 201)
        try compare(
            "photo_like_201", answer,
            outdated: [
                ".photo.categories", ".photo.sponsored", ".photo.sponsored_by",
                ".photo.sponsored_impressions_id",
            ])
        #expect(try answer.document["photo"]?["user"] == nil)
    }

    @Test func `the own profile is like the recorded one`() async throws {
        try compare("me_200", await unsplash.ask("/me", token: token))
    }

    @Test func `search results are like the recorded ones`() async throws {
        try compare(
            "search_photos_2023_perpage3",
            await unsplash.ask("/search/photos?content_filter=low&query=mountain"))
    }

    @Test func `topics and collections are like the recorded ones`() async throws {
        try compare(
            "topics_list_2021", await unsplash.ask("/topics"),
            outdated: ["[].cover_photo.categories"])
        try compare(
            "collection_2021_string_id", await unsplash.ask("/collections/3773378"),
            outdated: [".cover_photo.categories"])
    }

    @Test func `the use of a photo is answered as recorded`() async throws {
        let id = try #require(unsplash.feed.first?.id)
        try compare(
            "photo_download_tracking_2021", await unsplash.ask("/photos/\(id)/download?ixid=abc"))
    }

    @Test func `errors are worded as recorded`() async throws {
        let notFound = try await unsplash.ask("/photos/abc123")
        #expect(notFound.status == 404)
        #expect(try notFound.document == Document(recording: "photo_404"))
        let unauthorized = try await unsplash.ask("POST /photos/abc123/like")
        #expect(unauthorized.status == 401)
        #expect(try unauthorized.document == Document(recording: "photo_like_401_clientid_token"))
    }

    @Test(arguments: [
        ("photos_list_2021_page1_prod", "/photos/?per_page=2"),
        ("search_photos_2023_perpage3", "/search/photos?per_page=3&query=mountain"),
    ])
    func `headers are those of the recording`(_ name: String, _ path: String) async throws {
        let lines = try headerLines(name)
        let recorded = Set(lines.map { $0.prefix { $0 != ":" }.lowercased() })
        let answered = Set(
            try await unsplash.ask(path).headers.map { $0.name.lowercased() })
        // Not every machine of the service calls itself something.
        #expect(recorded.subtracting(answered).subtracting(["x-powered-by"]) == [])
    }

    @Test func `headers come in the order of the recording`() async throws {
        let recorded = try headerLines("search_photos_2023_perpage3")
            .map { String($0.prefix { $0 != ":" }) }
        let answered = try await unsplash.ask("/search/photos?per_page=3&query=mountain").headers
            .map(\.name)
        #expect(answered == recorded.filter(answered.contains))
    }
}
