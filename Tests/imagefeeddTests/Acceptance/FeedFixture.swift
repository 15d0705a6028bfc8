import Contract
import DBus
import ServiceSimulator
import TestSupport
import Testing

/// The daemon with the Python example and simulated photo feeds on loopback.
@MainActor
final class FeedFixture: ServiceFixture {
    let provider = "rss"
    let feeds: SimulatedFeeds
    let client: TestClient
    var daemon: RunningDaemon

    init() async throws {
        let feeds = try SimulatedFeeds()
        self.feeds = feeds
        try RunningDaemon.configure("[Provider rss]\nAllowLoopback=true\n")
        try HostedProvider.installExample("rss", script: "rss.py") {
            $0.replacing("Hosts=*;", with: "Hosts=*;\(feeds.url);")
        }
        daemon = try await RunningDaemon(Self.arguments)
        client = try TestClient()
    }

    /// Returns the address of a feed, which is its user name.
    func username(_ user: String) -> String { "\(feeds.url)/\(user).xml" }

    func accountID(_ user: String) -> String { HostedProvider.accountID("rss", username(user)) }

    @discardableResult
    func logIn(_ user: String) async throws -> AccountClient {
        try await finish(client.startLogin(provider, [.username: .string(username(user))]))
    }

    var service: any SimulatedService { feeds }
    var feed: [String] { feeds.simulator.withState { $0.photos } }
    func publish() -> String { feeds.simulator.withState { $0.publish() } }
    func delete(_ photo: String) {
        feeds.simulator.withState { $0.photos.removeAll { $0 == photo } }
    }
    func likes(of user: String) -> Set<String> { [] }

    var requestsOfAPI: [RecordedRequest] { feeds.requests("GET /*.xml") }
    /// The default source, because a feed has no other.
    var otherSource: String { "feed" }

    func pattern(_ endpoint: Endpoint) -> RequestPattern {
        switch endpoint {
        case .images: "GET /photos/*"
        case .feed, .like, .user, .token, .revocation: "GET /*.xml"
        }
    }

    func exhaust() { feeds.fail(pattern(.feed), .textStatus(429, "")) }
}

/// A server with one feed per user. All feeds have the same photos.
final class SimulatedFeeds: SimulatedService {
    let simulator: SimulatorServer<FeedState>

    var url: String { simulator.origin(.feeds) }

    init() throws {
        simulator = try SimulatorServer(FeedState(), [(.feeds, 0)])
        let url = simulator.origin(.feeds)
        simulator.withState { $0.origin = url }
    }
}

extension RecordedRequest.Host {
    fileprivate static let feeds = Self(rawValue: "feeds")
}

struct FeedState: SimulatedState {
    var faults = FaultPlan()
    var origin = ""
    /// The IDs of the photos, the newest first.
    var photos = (0..<45).map { "urn:photos.test:number-\(1000 - $0)" }

    mutating func publish() -> String {
        let photo = "urn:photos.test:number-\(2000 + photos.count)"
        photos.insert(photo, at: 0)
        return photo
    }

    func username(_ request: RecordedRequest) -> String? { nil }

    mutating func reply(to request: RecordedRequest, _ fault: Fault?) -> Reply {
        if let reply = fault?.replacement { return reply }
        var reply =
            request.path.hasSuffix(".xml")
            ? Reply(200, text: document)
            : Reply(
                200, headers: [("Content-Type", "image/jpeg")],
                body: JPEGImage(width: 64, height: 48, color: "#406080").file)
        fault?.change(&reply)
        return reply
    }

    private var document: String {
        let items = photos.map { photo in
            let number = photo.split(separator: "-").last ?? ""
            return """
                <item><title>Photo \(number)</title><guid isPermaLink="false">\(photo)</guid>
                <pubDate>Mon, 21 Sep 2026 14:13:20 GMT</pubDate>
                <enclosure url="\(origin)/photos/\(number).jpg" type="image/jpeg" length="1"/></item>
                """
        }
        return """
            <?xml version="1.0"?>
            <rss version="2.0"><channel><title>Photos</title>\(items.joined(separator: "\n"))</channel></rss>
            """
    }
}
