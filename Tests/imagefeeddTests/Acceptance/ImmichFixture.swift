import Contract
import DBus
import ImmichSimulator
import TestSupport
import Testing

/// The daemon with a simulated Immich server.
@MainActor
final class ImmichFixture: SecretFixture {
    let provider: String
    let server: SimulatedImmich
    let client: TestClient
    var daemon: RunningDaemon

    init(
        place: UnsplashFixture.Place = .daemon, _ version: Version = .v3, photoCount: Int = 45
    ) async throws {
        provider = place == .daemon ? "immich" : "gallery"
        server = try SimulatedImmich.start(version, photoCount: photoCount)
        for user in ["ada", "bob"] { server.addUser(user) }
        try HostedProvider.prepare(
            provider, in: place, product: "immich-plugin", manifest: Self.manifest)
        daemon = try await RunningDaemon(Self.arguments)
        client = try TestClient()
    }

    private static let manifest = """
        [Provider]
        Id=gallery
        Name=Immich
        Exec=./gallery/gallery
        Capabilities=feed;like;profile;albums;search;
        DefaultSource=all
        Sources=all;likes;memories;album:*;person:*;search:*;

        [Authentication]
        Type=key
        Server=true
        Header=x-api-key
        """

    func username(_ user: String) -> String { "\(user)@photos.test" }

    func accountID(_ user: String) -> String { accountID(user, at: server) }

    func accountID(_ user: String, at server: SimulatedImmich) -> String {
        HostedProvider.accountID(provider, "\(username(user))@\(server.url)")
    }

    @discardableResult
    func logIn(_ user: String) async throws -> AccountClient {
        try await logIn(server.makeKey(of: user), at: server)
    }

    /// Logs in with an API key, or with the password of a user.
    @discardableResult
    func logIn(
        _ secret: String, as username: String? = nil, at server: SimulatedImmich
    ) async throws -> AccountClient {
        try await finish(startLogin(secret, as: username, at: server.url))
    }

    func startLogin(
        _ secret: String, as username: String? = nil, at address: String
    ) async throws -> LoginClient {
        var options: [LoginOption: Variant] = [
            .server: .string(address),
            .password: try .secret(secret),
        ]
        options[.username] = username.map { .string($0) }
        return try await client.startLogin(provider, options)
    }

    var service: any SimulatedService { server }
    var feed: [String] { server.photos }
    func publish() -> String { server.publish().id }
    func delete(_ photo: String) { server.delete(photo) }
    func likes(of user: String) -> Set<String> { server.likes(of: user) }

    var requestsOfAPI: [RecordedRequest] {
        server.requests().filter {
            !$0.path.hasPrefix("/api/assets/") && !$0.path.hasSuffix("/profile-image")
        }
    }

    func pattern(_ endpoint: Endpoint) -> RequestPattern {
        switch endpoint {
        case .feed: "POST /api/search/metadata"
        case .like: "PUT /api/assets"
        case .user, .token, .revocation: "GET /api/users/me"
        case .images: "GET /api/assets/*/*"
        }
    }

    func exhaust() {
        for pattern in ["/api/*", "/api/*/*"] as [RequestPattern] {
            server.fail(pattern, .textStatus(429, ""))
        }
    }

    func revokeTokens(of user: String) { server.revokeAll(of: user) }

    var tokens: Set<String> { Set(server.requests().compactMap { $0["x-api-key"] }) }
}
