import Contract
import DBus
import Glibc
import MastodonSimulator
import TestSupport
import Testing

/// The daemon with simulated Mastodon servers and a real keyring.
@MainActor
final class MastodonFixture: BrowserFixture {
    /// The server of a login without the option `server`.
    let server: SimulatedMastodon
    let others: [SimulatedMastodon]
    let client: TestClient
    var daemon: RunningDaemon
    private let software: Software
    let provider: String

    /// - Parameters:
    ///   - software: The software of the server.
    ///   - others: Additional servers, with their names.
    ///   - place: The process of the provider.
    /// - Throws: The error of a program that cannot be started.
    init(
        _ software: Software, others: [(name: String, software: Software)] = [],
        place: UnsplashFixture.Place = .daemon
    ) async throws {
        provider = place == .daemon ? "mastodon" : "fediverse"
        self.software = software
        server = try SimulatedMastodon.start("photos.test", software)
        self.others = try others.enumerated().map { index, other in
            try SimulatedMastodon.start(other.name, other.software, seed: UInt64(index + 2))
        }
        let all = [server] + self.others
        for server in all {
            for user in ["ada", "bob"] { server.addUser(user) }
        }
        let names =
            all.map { "\($0.name)=\($0.url)" }
            + ["\(server.settings.handleDomain)=\(server.handleURL)"]
        let settings = """
            LoopbackServers=\(names.joined(separator: ";"))
            RedirectPort=\(LoopbackPort.reserve())
            """
        try HostedProvider.prepare(
            provider, in: place, settings: settings, product: "mastodon-plugin",
            manifest: Self.manifest(all))
        daemon = try await RunningDaemon(Self.arguments)
        client = try TestClient()
    }

    /// Returns the manifest, with the simulated servers as media hosts.
    private static func manifest(_ servers: [SimulatedMastodon]) -> String {
        """
        [Provider]
        Id=fediverse
        Name=Mastodon and Pixelfed
        Exec=./fediverse/fediverse
        Capabilities=feed;like;profile;
        DefaultSource=home
        Sources=home;local;public;likes;tag:*;user:*;
        Hosts=*;\(servers.map { "\($0.mediaURL);" }.joined())
        LastingPlaces=true
        LikedTogether=.

        [Authentication]
        Type=federated
        Scopes=read;write;read:accounts;read:statuses;read:favourites;write:favourites;
        TokenRefusals=500 Unauthenticated;403 /api/v1/accounts/verify_credentials;400 Invalid Bearer token;
        """
    }

    var service: any SimulatedService { server }
    var unrelatedURL: String { server.unrelatedURL }
    var loginOptions: [LoginOption: Variant] { [.server: .string(server.name)] }
    func accountID(_ user: String) -> String { "\(provider)_\(user)_40photos_2etest" }
    /// True if a code can be shown. This requires several registered redirect URIs, as at Mastodon.
    var showsCodes: Bool { software.redirects == .anyPort }
    var rejectsCodes: Bool { software.codeRefusal != .crash }
    /// Refresh tokens are revoked, too.
    var requestsPerRevocation: Int {
        if software.revocation == .none { return 0 }
        return server.settings.tokenLifetimeSeconds == nil ? 1 : 2
    }
    var issuesNewTokens: Bool { !server.settings.reusesTokens }

    var feed: [String] { server.photos() }
    func publish() -> String { server.publish().photos(software)[0] }
    func delete(_ photo: String) { server.delete(Self.status(photo)) }

    func likes(of user: String) -> Set<String> {
        Set(
            server.likes(of: user).flatMap { id in
                server.statuses.first { $0.id == id }?.photos(software) ?? []
            })
    }

    func likeGroup(_ photo: String) -> Set<String> {
        Set(server.statuses.first { $0.id == Self.status(photo) }?.photos(software) ?? [])
    }

    private static func status(_ photo: String) -> String { String(photo.prefix { $0 != "." }) }

    var requestsOfAPI: [RecordedRequest] {
        server.requests(on: .server).filter {
            $0.path.hasPrefix("/api/") && $0["Authorization"] != nil
        }
    }

    func pattern(_ endpoint: Endpoint) -> RequestPattern {
        switch endpoint {
        case .feed: "GET /api/v1/timelines/home"
        case .like: "POST /api/v1/statuses/*/favourite"
        case .user: "GET /api/v1/accounts/verify_credentials"
        case .token: "POST /oauth/token"
        case .revocation: "POST /oauth/revoke"
        case .images: "GET /media/*/*"
        }
    }

    func exhaust() {
        if software.countsRequests {
            extendWindow()
        } else {
            // A server that does not count requests also has none left.
            for pattern in ["/api/*/*/*", "/api/*/*"] as [RequestPattern] {
                server.fail(pattern, .htmlStatus(429))
            }
        }
        server.leaveRequests(0)
    }

    /// Advances the clock of the server if its current window for counting requests ends within a minute. Such windows
    /// begin every five minutes, and a rate limit ends with its window.
    ///
    /// - Returns: The seconds by which the clock was advanced.
    @discardableResult
    func extendWindow() -> Int {
        guard time(nil) % 300 >= 240 else { return 0 }
        server.advanceClock(seconds: 60)
        return 60
    }

    func revokeTokens(of user: String) { server.revokeTokens(of: user) }
    func isValid(_ token: String) -> Bool { server.isValid(token) }
    var clientSecrets: [String] { server.clientSecrets }
}
