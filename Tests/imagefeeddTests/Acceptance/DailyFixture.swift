import Contract
import ProviderKit
import TestSupport
import Testing
import WikimediaSimulator

/// The daemon with a simulated Wikimedia Commons.
@MainActor
final class DailyFixture: ServiceFixture {
    let provider: String
    let commons: SimulatedWikimedia
    let client: TestClient
    var daemon: RunningDaemon

    init(place: UnsplashFixture.Place = .daemon, pictureCount: Int = 45) async throws {
        provider = place == .daemon ? "daily" : "pictures"
        commons = try SimulatedWikimedia.start(pictureCount: pictureCount)
        try HostedProvider.prepare(
            provider, in: place, settings: "ApiUrl=\(commons.apiURL)", product: "daily-plugin",
            manifest: Self.manifest(commons))
        daemon = try await RunningDaemon(Self.arguments)
        client = try TestClient()
    }

    /// A plugin has no likes: they could only be stored by the daemon.
    private static func manifest(_ commons: SimulatedWikimedia) -> String {
        """
        [Provider]
        Id=pictures
        Name=Picture of the day
        Exec=./pictures/pictures
        Capabilities=feed;profile;
        DefaultSource=all
        Sources=all;
        LastingPlaces=true
        Hosts=\(commons.url);\(commons.imagesURL);

        [Authentication]
        Type=none
        """
    }

    func username(_ user: String) -> String { "commons" }
    func accountID(_ user: String) -> String { "\(provider)_commons" }

    @discardableResult
    func logIn(_ user: String) async throws -> AccountClient {
        try await finish(client.startLogin(provider))
    }

    var service: any SimulatedService { commons }
    var feed: [String] { commons.pictures }
    func publish() -> String { commons.publish() }
    func delete(_ photo: String) { commons.delete(photo) }

    /// Returns the local likes.
    func likes(of user: String) async throws -> Set<String> {
        Set(try await account(of: user).ids("likes"))
    }

    var likeOutcome: LikeOutcome { .local }

    var requestsOfAPI: [RecordedRequest] { commons.requests("/w/api.php") }
    /// The titles, and two widths of the images.
    var requestsPerPage: Int { 3 }
    /// The default source, because the likes are stored locally.
    var otherSource: String { "all" }

    func pattern(_ endpoint: Endpoint) -> RequestPattern {
        switch endpoint {
        case .images: "/*/*/*"
        case .feed, .like, .user, .token, .revocation: "/w/api.php"
        }
    }

    func exhaust() { commons.fail(pattern(.feed), .textStatus(429, "")) }
}
