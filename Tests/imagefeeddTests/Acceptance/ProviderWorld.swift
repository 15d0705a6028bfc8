import BusAPI
import DBus
import MastodonSimulator
import ServiceSimulator
import TestSupport
import Testing

/// The daemon beside what one of its providers serves: what a test has to know of the provider to find out
/// whether it does what all have to do.
@MainActor
protocol ProviderWorld: AnyObject, Sendable {
    /// The id of the provider.
    var provider: String { get }
    var client: TestClient { get }
    var daemon: RunningDaemon { get set }

    /// The ID of the account of a user.
    func accountID(_ user: String) -> String
    /// What a user is called at the service.
    func username(_ user: String) -> String
    /// Logs in as a user would, and waits until that is done.
    @discardableResult
    func logIn(_ user: String) async throws -> AccountClient

    /// The photos of the default source, by the words of the service: what is to be shown, in its order.
    var feed: [String] { get async throws }
    /// Puts a photo on top of the default source.
    func publish() async throws -> String
    /// Deletes a photo.
    func delete(_ photo: String) async throws
    /// The photos that a user likes, as far as others than the daemon know.
    func likes(of user: String) async throws -> Set<String>
    /// Those that are liked as one with a photo, itself included.
    func likedTogether(_ photo: String) -> Set<String>

    /// What files of images begin with.
    var imageBeginning: [UInt8] { get }
}

/// A provider that asks a service over the network, which is simulated.
@MainActor
protocol ServiceWorld: ProviderWorld {
    var service: any SimulatedService { get }
    /// The requests that the API has had.
    var requestsOfAPI: [RecordedRequest] { get }
    /// Which requests ask for something.
    func pattern(_ what: Asked) -> RequestPattern
    /// Leaves everybody no request for now.
    func exhaust()
    /// Where an account is sent that shows what nobody has asked for yet.
    var otherSource: String { get }
}

/// A service that has to know who asks, by a token or a key.
@MainActor
protocol SecretWorld: ServiceWorld {
    /// What a user does who takes back what an application may do.
    func revokeTokens(of user: String)
    /// The tokens or keys that the API has been shown so far.
    var tokens: Set<String> { get }
}

/// A service that lets its users in in the browser.
@MainActor
protocol BrowserWorld: SecretWorld {
    /// Where nothing must go that is between the daemon and the service.
    var strangerURL: String { get }
    /// What goes along with every login: the server, where there are many.
    var loginOptions: [LoginOption: Variant] { get }
    /// Whether a login can be told to show a code.
    var showsCodes: Bool { get }
    /// True if the service refuses a code that it did not issue; false if it fails.
    var refusesCodes: Bool { get }
    /// How many requests it takes to give a login's token back; 0 where a service takes none.
    var requestsPerRevocation: Int { get }
    /// Whether every login gets a token of its own.
    var givesNewTokens: Bool { get }
    func isValid(_ token: String) -> Bool
    /// What the service shares with the application alone.
    var clientSecrets: [String] { get }
}

/// What services are asked.
enum Asked {
    /// The default source.
    case feed
    case like
    case user
    case token
    case revocation
    case images
}

extension ProviderWorld {
    /// What the daemon writes then is searched for secrets.
    static var arguments: [String] { ["--log-level", "trace"] }

    /// Starts the daemon again, after its end.
    func start(launcher: [String] = []) async throws {
        daemon = try await RunningDaemon(Self.arguments, launcher: launcher)
    }

    func username(_ user: String) -> String { user }
    var imageBeginning: [UInt8] { [0xff, 0xd8] }

    func likedTogether(_ photo: String) -> Set<String> { [photo] }

    // MARK: Looking

    func account(of user: String) -> AccountClient {
        client.service.account(ServiceName.accounts.appending(accountID(user)))
    }

    /// The accounts that there are, by the ends of their paths.
    func accounts() async throws -> Set<String> {
        let start = ServiceName.accounts.text + "/"
        return Set(
            try await client.service.objects().keys.map(\.text).filter { $0.hasPrefix(start) }
                .map { String($0.dropFirst(start.count)) })
    }

    /// Waits until the state of an account, or of its profile, is as it should be.
    func wait(
        _ account: AccountClient, _ state: String, of interface: InterfaceName = .account
    ) async throws {
        try await client.wait(account.path, interface, "State", .string(state))
    }

    func property(_ account: AccountClient, _ name: String) async throws -> Variant? {
        try await account.properties(.account)[name]
    }

    /// Waits until no like is on its way.
    func waitForLikes(_ account: AccountClient) async throws {
        try await client.wait(account.path, .like, "Pending", .array([], of: String.signature))
    }

    /// The ids of a page.
    func ids(
        _ account: AccountClient, _ source: String = "", count: UInt32 = 30
    ) async throws -> [String] {
        try await account.page(source, cursor: "", count: count).photos.compactMap {
            $0["id"]?.string
        }
    }

    /// The ids of a whole source, page by page.
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

    /// Whether nothing is left of an account: neither its token, nor texts.
    func expectNoTrace(of user: String, _ texts: [String]) async throws {
        let keyring = try PrivateKeyring.current.connect()
        #expect(try await keyring.search(["account": accountID(user)]) == ([], []))
        #expect(try await files(holding: texts) == [])
    }
}

extension ServiceWorld {
    var otherSource: String { "likes" }

    /// How many requests the API has had so far.
    var requestCount: Int { requestsOfAPI.count }
}

extension BrowserWorld {
    var refusesCodes: Bool { true }

    // MARK: Logging in

    @discardableResult
    func logIn(_ user: String) async throws -> AccountClient { try await logIn(user, [:]) }

    /// Starts a login, and says where the browser has to go.
    func startLogin(
        _ options: [LoginOption: Variant] = [:]
    ) async throws -> (login: LoginClient, url: String) {
        let options = options.merging(loginOptions) { first, _ in first }
        let path = try await client.service.manager.login(provider, options)
        let login = client.service.login(path)
        let address = Observed("")
        let watch = try await login.watch { changes in
            if let url = changes["AuthorizationUrl"]?.string { address.update { $0 = url } }
        }
        let known = try await login.properties()["AuthorizationUrl"]?.string ?? ""
        if !known.isEmpty { address.update { $0 = known } }
        let url = try await address.wait { $0.isEmpty ? nil : $0 }
        withExtendedLifetime(watch) {}
        return (login, url)
    }

    /// Logs in as a user would, in the browser.
    @discardableResult
    func logIn(
        _ user: String, _ options: [LoginOption: Variant] = [:],
        service other: (any SimulatedService)? = nil
    ) async throws -> AccountClient {
        let (login, url) = try await startLogin(options)
        async let account = login.wait()
        try await (other ?? service).approve(url, as: user)
        let client = client.service.account(try await account)
        // The first thing that an account does is to ask who its user is.
        try await wait(client, "ready", of: .profile)
        return client
    }

    /// The tokens that the daemon has shown the API so far.
    var tokens: Set<String> {
        Set(
            requestsOfAPI.compactMap { $0["Authorization"] }.compactMap {
                $0.split(separator: " ").last.map(String.init)
            })
    }
}
