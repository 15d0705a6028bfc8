import BusAPI
import DBus
import LoopbackHTTP
import TestSupport
import Testing
import UnsplashSimulator

/// The daemon beside a simulated Unsplash and a real keyring, configured but not logged in.
@MainActor
final class UnsplashWorld {
    let unsplash: SimulatedUnsplash
    let daemon: RunningDaemon
    let client: TestClient

    /// - Parameter photoCount: How many photos the service has.
    /// - Throws: What could not be started.
    init(photoCount: Int = 100) async throws {
        let unsplash = try SimulatedUnsplash.start(photoCount: photoCount)
        self.unsplash = unsplash
        // Tests run beside each other, and each needs the port that its application has registered.
        let port = UInt16.random(in: 20_000..<32_000)
        unsplash.settings.redirectURIs.append("http://127.0.0.1:\(port)/callback")
        for user in ["ada", "bob"] { unsplash.addUser(user) }
        try PrivateBus.current.directory.write(
            """
            [Provider unsplash]
            ApiUrl=\(unsplash.apiURL)
            WebUrl=\(unsplash.webURL)
            ClientId=\(unsplash.clientID)
            RedirectPort=\(port)

            """, to: "home/.config/imagefeed/imagefeed.conf")
        daemon = try await RunningDaemon()
        client = try TestClient()
        try await configure()
    }

    /// Hands the client secret over, as `imagefeedctl configure` does.
    private func configure() async throws {
        let secret = try #require(
            FileDescriptor.pipe(holding: Array(unsplash.clientSecret.utf8), 43))
        try await client.service.provider(ServiceName.providers.appending("unsplash"))
            .configure([.clientSecret: .fileDescriptor(secret)])
    }

    /// Starts a login, and says where the browser has to go.
    func startLogin(
        _ options: [LoginOption: Variant] = [:]
    ) async throws -> (login: LoginClient, url: String) {
        let path = try await client.service.manager.login("unsplash", options)
        let login = client.service.login(path)
        let url = try #require(try await login.properties()["AuthorizationUrl"]?.string)
        return (login, url)
    }

    /// Logs in as a user would, in the browser.
    @discardableResult
    func logIn(_ user: String) async throws -> AccountClient {
        let (login, url) = try await startLogin()
        async let account = login.wait()
        try await unsplash.approve(url, as: user)
        return client.service.account(try await account)
    }
}
