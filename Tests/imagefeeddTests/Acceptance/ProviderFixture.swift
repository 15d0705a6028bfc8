import Contract
import DBus
import MastodonSimulator
import ProviderKit
import TestSupport
import Testing

/// The daemon with one provider and its service: everything that the acceptance tests need to know about a provider.
@MainActor
protocol ProviderFixture: AnyObject, Sendable {
    /// The ID of the provider.
    var provider: String { get }
    var client: TestClient { get }
    var daemon: RunningDaemon { get set }

    /// Returns the ID of the account of a user.
    func accountID(_ user: String) -> String
    /// Returns the name of a user at the service.
    func username(_ user: String) -> String
    /// Logs a user in and waits until the login is complete.
    @discardableResult
    func logIn(_ user: String) async throws -> AccountClient

    /// The expected photos of the default source in order, according to the service.
    var feed: [String] { get async throws }
    /// Adds a photo at the top of the default source.
    func publish() async throws -> String
    /// Deletes a photo.
    func delete(_ photo: String) async throws
    /// Returns the photos that a user likes, according to the service.
    func likes(of user: String) async throws -> Set<String>
    /// The outcome of a like without faults.
    var likeOutcome: LikeOutcome { get }
    /// Returns the like group of a photo.
    func likeGroup(_ photo: String) -> Set<String>

    /// The first bytes of image files.
    var imageBeginning: [UInt8] { get }
}

/// A provider of a simulated service on the network.
@MainActor
protocol ServiceFixture: ProviderFixture {
    var service: any SimulatedService { get }
    /// The requests to the API.
    var requestsOfAPI: [RecordedRequest] { get }
    /// Returns the pattern of the requests to an endpoint.
    func pattern(_ endpoint: Endpoint) -> RequestPattern
    /// Makes the service limit all requests from now on.
    func exhaust()
    /// The number of requests for a page of the default source.
    var requestsPerPage: Int { get }
    /// A source that has not been fetched yet, and whose pages need requests.
    var otherSource: String { get }
}

/// A service that requires a token or a key.
@MainActor
protocol SecretFixture: ServiceFixture {
    /// Revokes the access of the application to a user's account.
    func revokeTokens(of user: String)
    /// The tokens or keys in the requests to the API so far.
    var tokens: Set<String> { get }
}

/// A service with a browser login.
@MainActor
protocol BrowserFixture: SecretFixture {
    /// An address of another server, which must not receive secrets.
    var unrelatedURL: String { get }
    /// The options of every login, such as the server.
    var loginOptions: [LoginOption: Variant] { get }
    /// True if a login can show a code.
    var showsCodes: Bool { get }
    /// True if the service rejects a code that it did not issue; false if it fails.
    var rejectsCodes: Bool { get }
    /// The number of requests that revoke the tokens of one login; 0 if the service cannot revoke tokens.
    var requestsPerRevocation: Int { get }
    /// True if every login gets a new token.
    var issuesNewTokens: Bool { get }
    func isValid(_ token: String) -> Bool
    /// The secrets of the client registrations.
    var clientSecrets: [String] { get }
}

/// The kinds of requests to a service.
enum Endpoint {
    /// The default source.
    case feed
    case like
    case user
    case token
    case revocation
    case images
}

extension ProviderFixture {
    /// The arguments of the daemon. Its log is searched for secrets.
    static var arguments: [String] { ["--log-level", "trace"] }

    /// Starts the daemon again after it has ended.
    func start(launcher: [String] = []) async throws {
        daemon = try await RunningDaemon(Self.arguments, launcher: launcher)
    }

    /// Stops the daemon, and starts it again.
    func restart(launcher: [String] = []) async throws {
        try await daemon.stop()
        try await start(launcher: launcher)
    }

    func username(_ user: String) -> String { user }
    var imageBeginning: [UInt8] { [0xff, 0xd8] }

    var likeOutcome: LikeOutcome { .done }
    func likeGroup(_ photo: String) -> Set<String> { [photo] }

    // MARK: Reading

    func account(of user: String) -> AccountClient {
        client.account(accountID(user))
    }

    /// Returns the last path elements of the accounts.
    func accounts() async throws -> Set<String> {
        let start = ServiceName.accounts.text + "/"
        return Set(
            try await client.service.objects().keys.map(\.text).filter { $0.hasPrefix(start) }
                .map { String($0.dropFirst(start.count)) })
    }

    /// Waits until an account or its profile has a state.
    func wait(
        _ account: AccountClient, _ state: String, of interface: InterfaceName = .account
    ) async throws {
        try await client.wait(account.path, interface, "State", .string(state))
    }

    /// Waits for the end of a login and for the profile of its account, which the first request fetches.
    func finish(_ login: LoginClient) async throws -> AccountClient {
        let account = client.service.account(try await login.wait())
        try await wait(account, "ready", of: .profile)
        return account
    }

    func property(_ account: AccountClient, _ name: String) async throws -> Variant? {
        try await account.properties(.account)[name]
    }

    /// Waits until there are no pending likes.
    func waitForLikes(_ account: AccountClient) async throws {
        try await client.wait(account.path, .like, "Pending", .array([], of: String.signature))
    }

    /// Returns the IDs of the photos of a whole source, page by page.
    func walk(
        _ account: AccountClient, _ source: String = "", count: UInt32 = 30,
        between: () async throws -> Void = {}
    ) async throws -> [String] {
        var found: [String] = []
        var cursor = ""
        repeat {
            let (photos, next) = try await account.page(source, cursor: cursor, count: count)
            #expect(photos.count <= count)
            #expect(!photos.isEmpty || next.isEmpty)
            found += photos.compactMap { $0["id"]?.string }
            cursor = next
            try await between()
        } while !cursor.isEmpty
        return found
    }

    /// Returns the messages on the bus and the log of the daemon.
    func output(_ recording: BusRecording) async throws -> (bus: String, log: String) {
        (try await recording.text(), daemon.process.standardError.value.text)
    }

    /// Expects that neither the token nor the texts of an account are stored any more.
    func expectNoTrace(of user: String, _ texts: [String]) async throws {
        let keyring = try PrivateKeyring.current.connect()
        #expect(try await keyring.search(["account": accountID(user)]) == ([], []))
        #expect(try await files(holding: texts) == [])
    }
}

extension ServiceFixture {
    var requestsPerPage: Int { 1 }
    var otherSource: String { "likes" }

    /// The number of requests to the API so far.
    var requestCount: Int { requestsOfAPI.count }
}

extension BrowserFixture {
    var rejectsCodes: Bool { true }

    // MARK: Logging in

    @discardableResult
    func logIn(_ user: String) async throws -> AccountClient { try await logIn(user, [:]) }

    /// Starts a login.
    ///
    /// - Returns: The login, and the address for the browser.
    func startLogin(
        _ options: [LoginOption: Variant] = [:]
    ) async throws -> (login: LoginClient, url: String) {
        try await client.startBrowserLogin(
            provider, options.merging(loginOptions) { first, _ in first })
    }

    /// Logs a user in with the browser.
    @discardableResult
    func logIn(
        _ user: String, _ options: [LoginOption: Variant] = [:],
        service other: (any SimulatedService)? = nil
    ) async throws -> AccountClient {
        let (login, url) = try await startLogin(options)
        async let account = finish(login)
        try await (other ?? service).approve(url, as: user)
        return try await account
    }

    var tokens: Set<String> { requestsOfAPI.tokens }

    /// Waits until the tokens of one login are revoked, with the requests that follow the first `before` ones, and
    /// expects that the service no longer accepts them. Does nothing if it cannot revoke tokens.
    func expectRevocation(after before: Int = 0) async throws {
        guard requestsPerRevocation > 0 else { return }
        let revoked = try await service.waitForReplies(
            pattern(.revocation), count: before + requestsPerRevocation)
        for token in revoked.compactMap({ $0.fields["token"] }) { #expect(!isValid(token)) }
    }
}

extension [RecordedRequest] {
    /// The tokens in the requests.
    var tokens: Set<String> {
        Set(compactMap { $0["Authorization"]?.split(separator: " ").last.map(String.init) })
    }
}

/// Logs ada in.
@MainActor
func logIn<Fixture: ProviderFixture>(
    to fixture: Fixture
) async throws -> (Fixture, AccountClient) {
    (fixture, try await fixture.logIn("ada"))
}

/// Logs ada in and reads the first page of the default source.
@MainActor
func readFeed<Fixture: ProviderFixture>(
    of fixture: Fixture, count: UInt32 = 30
) async throws -> (Fixture, AccountClient, ids: [String]) {
    let ada = try await fixture.logIn("ada")
    return (fixture, ada, try await ada.ids(count: count))
}
