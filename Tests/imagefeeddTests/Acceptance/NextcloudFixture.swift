import Contract
import DBus
import NextcloudSimulator
import TestSupport
import Testing

/// The daemon with a simulated Nextcloud server.
@MainActor
final class NextcloudFixture: SecretFixture {
    let provider: String
    let server: SimulatedNextcloud
    let client: TestClient
    var daemon: RunningDaemon

    init(
        place: UnsplashFixture.Place = .daemon, _ version: Version = .v31, path: String = "",
        photoCount: Int = 45
    ) async throws {
        provider = place == .daemon ? "nextcloud" : "cloud"
        server = try SimulatedNextcloud.start(version, path: path, photoCount: photoCount)
        for user in ["ada", "bob"] { server.addUser(user) }
        try HostedProvider.prepare(
            provider, in: place, product: "nextcloud-plugin", manifest: Self.manifest)
        daemon = try await RunningDaemon(Self.arguments)
        client = try TestClient()
    }

    private static let manifest = """
        [Provider]
        Id=cloud
        Name=Nextcloud
        Exec=./cloud/cloud
        Capabilities=feed;like;profile;albums;
        DefaultSource=all
        Sources=all;likes;memories;album:*;shared:*;
        LastingPlaces=true

        [Authentication]
        Type=polling
        """

    func accountID(_ user: String) -> String {
        HostedProvider.accountID(provider, "\(user)@\(server.url)")
    }

    /// Starts a login.
    ///
    /// - Returns: The login, and the address for the browser.
    func startLogin(
        at address: String? = nil, _ more: [LoginOption: Variant] = [:]
    ) async throws -> (login: LoginClient, url: String) {
        let options = more.merging([.server: .string(address ?? server.url)]) { $1 }
        return try await client.startBrowserLogin(provider, options)
    }

    @discardableResult
    func logIn(_ user: String) async throws -> AccountClient {
        try await logIn(user, at: nil)
    }

    /// Logs a user in with the browser.
    @discardableResult
    func logIn(
        _ user: String, at address: String?, _ more: [LoginOption: Variant] = [:]
    ) async throws -> AccountClient {
        let (login, url) = try await startLogin(at: address, more)
        #expect(server.confirm(url, as: user))
        return try await finish(login)
    }

    var service: any SimulatedService { server }
    /// Photos with and without a capture date are searched separately.
    let requestsPerPage = 2
    var feed: [String] { server.photos }
    func publish() -> String { "\(server.publish().id)" }
    func delete(_ photo: String) { server.delete(photo) }
    func likes(of user: String) -> Set<String> { server.likes(of: user) }

    var requestsOfAPI: [RecordedRequest] {
        server.requests().filter {
            let isFile = $0.method == "GET" && $0.path.contains("/remote.php/dav/")
            // The rules for the photos that are shown are requested once a minute, the ETag of the
            // files before the first page.
            let isRule =
                $0.path.hasSuffix("/apps/photos/")
                || $0.method == "PROPFIND" && $0.path.contains("/dav/files/")
                || String(decoding: $0.body, as: UTF8.self).contains(".nomedia")
            return !isFile && !isRule && !$0.path.contains("/preview")
                && !$0.path.contains("/avatar/")
                && !$0.path.contains("/login/v2")
        }
    }

    func pattern(_ endpoint: Endpoint) -> RequestPattern {
        switch endpoint {
        case .feed: "SEARCH /remote.php/dav/"
        case .like: "PROPPATCH /remote.php/dav/files/*/*/*"
        case .user: "GET /ocs/v2.php/cloud/user"
        case .token: "POST /index.php/login/v2/poll"
        case .revocation: "DELETE /ocs/v2.php/core/apppassword"
        case .images: "GET /index.php/core/preview"
        }
    }

    func exhaust() {
        for pattern in [
            "/remote.php/dav/", "/remote.php/dav/*/*/*/*", "/remote.php/dav/*/*/*",
            "/ocs/v2.php/*/*",
        ] as [RequestPattern] {
            server.fail(pattern, .textStatus(429, ""))
        }
    }

    func revokeTokens(of user: String) { server.revokeAll(of: user) }

    var tokens: Set<String> { server.requests().tokens }
}
