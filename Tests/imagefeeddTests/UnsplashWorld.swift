import BusAPI
import DBus
import LoopbackHTTP
import TestSupport
import Testing
import UnsplashSimulator

/// The daemon beside a simulated Unsplash, and beside a real keyring if the test has one.
@MainActor
final class UnsplashWorld {
    /// How much the daemon knows when the test begins.
    enum Setup {
        /// Where the service is, as a developer's configuration has it.
        case addresses
        /// The id of the client as well.
        case clientID
        /// The secret as well: users can log in.
        case complete
    }

    let unsplash: SimulatedUnsplash
    /// Of the redirect address.
    let port: UInt16
    let client: TestClient
    private(set) var daemon: RunningDaemon

    /// - Parameters:
    ///   - photoCount: How many photos the service has.
    ///   - setup: What the daemon knows.
    ///   - launcher: A program, with its arguments, that starts the daemon in its own place.
    /// - Throws: What could not be started.
    init(
        photoCount: Int = 100, setup: Setup = .complete, launcher: [String] = []
    ) async throws {
        let unsplash = try SimulatedUnsplash.start(photoCount: photoCount)
        self.unsplash = unsplash
        // Tests run beside each other, and each needs the port that its application has registered.
        port = UInt16.random(in: 20_000..<32_000)
        unsplash.settings.redirectURIs.append("http://127.0.0.1:\(port)/callback")
        for user in ["ada", "bob"] { unsplash.addUser(user) }
        try PrivateBus.current.directory.write(
            """
            [Provider unsplash]
            ApiUrl=\(unsplash.apiURL)
            WebUrl=\(unsplash.webURL)
            RedirectPort=\(port)
            \(setup == .addresses ? "" : "ClientId=\(unsplash.clientID)")

            """, to: "home/.config/imagefeed/imagefeed.conf")
        daemon = try await RunningDaemon(Self.arguments, launcher: launcher)
        client = try TestClient()
        if setup == .complete { try await configure() }
    }

    /// What it writes then is searched for secrets.
    private static let arguments = ["--log-level", "trace"]

    /// Starts the daemon again, after its end.
    func start() async throws { daemon = try await RunningDaemon(Self.arguments) }

    /// Hands the client secret over, as `imagefeedctl configure` does.
    private func configure() async throws {
        let secret = try #require(
            FileDescriptor.pipe(holding: Array(unsplash.clientSecret.utf8), 43))
        try await client.service.provider(ServiceName.providers.appending("unsplash"))
            .configure([.clientSecret: .fileDescriptor(secret)])
    }

    // MARK: Logging in

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
    func logIn(
        _ user: String, _ options: [LoginOption: Variant] = [:]
    ) async throws -> AccountClient {
        let (login, url) = try await startLogin(options)
        async let account = login.wait()
        try await unsplash.approve(url, as: user)
        let client = client.service.account(try await account)
        // The first thing that an account does is to ask who its user is.
        try await wait(client, "ready", of: .profile)
        return client
    }

    /// The accounts that there are, by the ends of their paths.
    func accounts() async throws -> Set<String> {
        let start = ServiceName.accounts.text + "/"
        return Set(
            try await client.service.objects().keys.map(\.text).filter { $0.hasPrefix(start) }
                .map { String($0.dropFirst(start.count)) })
    }

    // MARK: Looking

    /// Waits until the state of an account, or of its profile, is as it should be.
    func wait(
        _ account: AccountClient, _ state: String, of interface: InterfaceName = .account
    ) async throws {
        try await client.wait(account.path, interface, "State", .string(state))
    }

    func property(_ account: AccountClient, _ name: String) async throws -> Variant? {
        try await account.properties(.account)[name]
    }

    /// The ids of a page.
    func ids(
        _ account: AccountClient, _ source: String = "", count: UInt32 = 30
    ) async throws -> [String] {
        try await account.page(source, cursor: "", count: count).photos.compactMap {
            $0["id"]?.string
        }
    }

    /// How many requests the API has had so far.
    var requestCount: Int { unsplash.requests(on: .api).count }

    /// The tokens that the daemon has shown the API so far.
    var tokens: Set<String> {
        Set(
            unsplash.requests(on: .api).compactMap { $0["Authorization"] }.compactMap {
                $0.split(separator: " ").last.map(String.init)
            })
    }
}

/// What a user does at a terminal.
@MainActor
enum Terminal {
    static func start(_ arguments: [String], input: String = "") throws -> ChildProcess {
        try ChildProcess(
            BuiltProducts.path("imagefeedctl"), arguments,
            environment: try PrivateBus.current.environment, input: input)
    }

    /// Runs `imagefeedctl` to its end.
    static func run(
        _ arguments: String..., input: String = ""
    ) async throws -> (exit: ChildProcess.Exit, output: String, error: String) {
        try await start(arguments, input: input).result()
    }
}

/// The files below the home of the running test in which one of the texts stands.
@MainActor
func files(holding texts: [String]) async throws -> [String] {
    let directory = try PrivateBus.current.directory
    let search = try ChildProcess(
        "/bin/grep",
        ["-rlaF", "-D", "skip", "-f", "-", "home", "run", "tmp"].map {
            ["home", "run", "tmp"].contains($0) ? directory.appending($0) : $0
        }, environment: directory.environment,
        input: texts.joined(separator: "\n") + "\n")
    let (exit, output, error) = try await search.result()
    #expect(exit == .code(output.isEmpty ? 1 : 0), "\(error)")
    return output.split(separator: "\n").map(String.init)
}

/// All that goes over the bus of the running test, as text.
@MainActor
struct BusRecording {
    private let monitor: ChildProcess
    private let client: BusConnection

    init() async throws {
        let bus = try PrivateBus.current
        client = try bus.connect()
        monitor = try ChildProcess(
            "/usr/bin/dbus-monitor", ["--address", bus.address], environment: bus.environment)
        _ = try await monitor.firstLine()
    }

    /// What there was until now.
    func text() async throws -> String {
        let end: BusName = "org.imagefeed.EndOfRecording"
        _ = try await client.owner(of: end)
        return try await monitor.standardOutput.wait {
            $0.text.contains(end.text) || $0.isComplete ? $0.text : nil
        }
    }
}
