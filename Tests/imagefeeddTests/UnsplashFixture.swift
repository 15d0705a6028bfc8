import Contract
import DBus
import TestSupport
import Testing
import UnsplashSimulator

/// The daemon with a simulated Unsplash, and a real keyring if the test has one.
@MainActor
final class UnsplashFixture: BrowserFixture {
    /// The part of the configuration that is set when the test begins.
    enum Setup {
        /// The addresses of the service.
        case addresses
        /// Also the client ID.
        case clientID
        /// Also the client secret: users can log in.
        case complete
    }

    /// The process of the provider.
    enum Place {
        case daemon
        /// A separate program.
        case plugin
    }

    let unsplash: SimulatedUnsplash
    /// The port of the redirect address.
    let port: UInt16
    let client: TestClient
    var daemon: RunningDaemon

    /// - Parameters:
    ///   - photoCount: The number of photos of the service.
    ///   - setup: The part of the configuration that is set.
    ///   - place: The process of the provider.
    ///   - launcher: A program with arguments that replaces itself with the daemon.
    /// - Throws: The error of a program that cannot be started.
    init(
        photoCount: Int = 100, setup: Setup = .complete, place: Place = .daemon,
        launcher: [String] = []
    ) async throws {
        provider = place == .daemon ? "unsplash" : "splash"
        let unsplash = try SimulatedUnsplash.start(photoCount: photoCount)
        self.unsplash = unsplash
        // Tests run in parallel, and each needs the port that its application has registered.
        port = LoopbackPort.reserve()
        unsplash.settings.redirectURIs.append("http://127.0.0.1:\(port)/callback")
        for user in ["ada", "bob"] { unsplash.addUser(user) }
        let settings = """
            ApiUrl=\(unsplash.apiURL)
            WebUrl=\(unsplash.webURL)
            RedirectPort=\(port)
            \(setup == .addresses ? "" : "ClientId=\(unsplash.clientID)")
            """
        try HostedProvider.prepare(
            provider, in: place, settings: settings, product: "unsplash-plugin",
            manifest: unsplash.pluginManifest(redirectPort: port))
        daemon = try await RunningDaemon(Self.arguments, launcher: launcher)
        client = try TestClient()
        if setup == .complete { try await configure() }
    }

    /// Passes the client secret to the daemon, as `imagefeedctl configure` does.
    private func configure() async throws {
        try await client.provider(provider)
            .configure([.clientSecret: .secret(unsplash.clientSecret)])
    }

    // MARK: BrowserFixture

    let provider: String
    var service: any SimulatedService { unsplash }
    var unrelatedURL: String { unsplash.unrelatedURL }
    var loginOptions: [LoginOption: Variant] { [:] }
    func accountID(_ user: String) -> String { "\(provider)_\(user)" }
    var showsCodes: Bool { true }
    // The refresh token and the access token.
    var requestsPerRevocation: Int { 2 }
    var issuesNewTokens: Bool { true }

    var feed: [String] { unsplash.feed.filter { !$0.isPlus && $0.kind == .photo }.map(\.id) }

    func publish() -> String {
        unsplash.publish {
            $0.isPlus = false
            $0.kind = .photo
            $0.imagePath = "/photo-1"
        }.id
    }

    func delete(_ photo: String) { unsplash.delete(photo) }
    func likes(of user: String) -> Set<String> { Set(unsplash.likes(of: user)) }

    var requestsOfAPI: [RecordedRequest] { unsplash.requests(on: .api) }

    func pattern(_ endpoint: Endpoint) -> RequestPattern {
        switch endpoint {
        case .feed: "GET /photos"
        case .like: "POST /photos/*/like"
        case .user: "GET /me"
        case .token: "POST /oauth/token"
        case .revocation: "POST /oauth/revoke"
        case .images: "GET /photo-*"
        }
    }

    func exhaust() { unsplash.leaveRequests(0) }
    func revokeTokens(of user: String) { unsplash.revokeTokens(of: user) }
    func isValid(_ token: String) -> Bool { unsplash.isValid(token) }
    var clientSecrets: [String] { [unsplash.clientSecret] }
}
