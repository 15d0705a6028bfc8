import EngineCore
import EngineModel
import ProviderKit
import TestSupport
import Testing

@testable import Services

/// The use of stored keys by another version of a provider.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct TokenRecipientsTests {
    private let fixture: EngineFixture

    init() throws {
        fixture = try EngineFixture(providers: [KeyedProvider()])
        fixture.ports.http.respond()
    }

    /// The addresses that got the key since the last call.
    private func addressesWithKey() -> [String] {
        var addresses: [String] = []
        fixture.ports.http.requests.update { requests in
            addresses = requests.filter { $0.token != nil }.map(\.url)
            requests = []
        }
        return addresses
    }

    private func logIn(again account: Account? = nil) async throws -> Account {
        var options = LoginOptions()
        options.account = account
        options.username = "ada"
        options.password = { Secret("key") }
        let account = try await fixture.engine.logins.start("keyed", options).wait()
        try await waitForState { $0 == .ready }
        return account
    }

    private func waitForState(_ isWanted: @escaping @Sendable (AccountState) -> Bool) async throws {
        try await fixture.states.wait { $0.last.map(isWanted) == true ? true : nil }
    }

    private nonisolated static func saysThatProviderChanged(_ state: AccountState?) -> Bool {
        guard case .needsLogin(let reason) = state else { return false }
        return reason.contains("was changed")
    }

    @Test(arguments: [
        KeyedProvider(hosts: ["https://api.keyed.test", "https://evil.test"]),
        KeyedProvider(hosts: ["https://evil.test"]),
        KeyedProvider(command: "/opt/other"),
    ])
    func `other recipients of a key require a new login`(_ changed: KeyedProvider) async throws {
        let account = try await logIn()
        _ = addressesWithKey()
        fixture.engine.install(changed)
        try await waitForState(Self.saysThatProviderChanged)
        let error = await #expect(throws: EngineError.self) {
            _ = try await account.refreshFeed("home")
        }
        #expect("\(error.map { "\($0)" } ?? "")".contains("would pass the key to other hosts"))
        #expect(addressesWithKey().isEmpty)
        #expect(try await logIn(again: account) === account)
        _ = try await account.refreshFeed("home")
        #expect(Set(addressesWithKey()) == Set(changed.hosts.map { "\($0)/" }))
    }

    @Test func `a provider with fewer hosts needs no new login`() async throws {
        fixture.engine.install(
            KeyedProvider(hosts: ["https://api.keyed.test", "https://cdn.keyed.test"]))
        let account = try await logIn()
        fixture.engine.install(KeyedProvider())
        _ = addressesWithKey()
        _ = try await account.refreshFeed("home")
        #expect(addressesWithKey().contains("https://api.keyed.test/"))
        #expect(account.state == .ready)
    }

    @Test func `the recipients of a key are known after a restart`() async throws {
        let account = try await logIn()
        fixture.engine.stop()
        let next = try EngineFixture(
            fixture.directory, providers: [KeyedProvider(hosts: ["https://evil.test"])])
        next.engine.start()
        defer { next.engine.stop() }
        try await next.states.wait { states in
            Self.saysThatProviderChanged(states.last) ? true : nil
        }
        #expect(next.engine.accounts[account.id]?.isLoggedIn == true)
    }
}

/// A provider whose users have a key, and that sends a request to each of its hosts for a page.
struct KeyedProvider: InstalledProvider, KeyLogin {
    var hosts = ["https://api.keyed.test"]
    var command = "/opt/keyed"
    let info = ProviderInfo(
        id: "keyed", name: "Keyed", iconName: "", authentication: .password,
        capabilities: [.feed], defaultSource: SourceID("home"))
    let condition = ProviderCondition(state: .ready, reason: "", sandbox: "none")

    var tokenRecipients: Set<String> { Set(hosts + [command]) }

    func access(
        _ settings: ProviderSettings, server: String
    ) throws(ProviderError) -> KeyDescription {
        KeyDescription(keyField: "X-Key: ", keyOrigins: hosts)
    }

    func identify(
        _ account: AccountIdentity, _ ports: SessionPorts
    ) async throws -> AccountIdentity {
        AccountIdentity(username: "ada")
    }

    func makeSession(_ account: AccountIdentity, _ ports: SessionPorts) -> any Session {
        KeyedSession(hosts: hosts, http: ports.http)
    }
}

private final class KeyedSession: RemoteFeed, ManualSession {
    let channel = AsyncStream<SessionEvent>.makeStream()
    private let hosts: [String]
    private let http: any HTTPClient

    init(hosts: [String], http: any HTTPClient) {
        self.hosts = hosts
        self.http = http
        continuation.yield(.status(.ready))
    }

    func accepts(_ source: SourceID) -> Bool { true }
    func sources() async throws -> [Source] { [] }
    func fetchPhoto(_ id: PhotoID) async throws -> RemotePhoto {
        throw ProviderError.notFound("None.")
    }

    func fetchPage(_ source: SourceID, from place: String?) async throws -> RemotePage {
        for host in hosts { _ = try await http.send(HTTPRequest(.get, "\(host)/")) }
        return RemotePage([])
    }
}
