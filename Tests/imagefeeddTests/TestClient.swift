import Contract
import DBus
import Foundation
import ProviderKit
import TestSupport
import Testing

/// A client of the daemon.
@MainActor
struct TestClient {
    let connection: BusConnection
    let service: ServiceClient

    init() throws { self.init(try PrivateBus.current.connect()) }

    init(_ connection: BusConnection) {
        self.connection = connection
        service = ServiceClient(connection)
    }

    func proxy(_ path: ObjectPath) -> BusProxy { BusProxy(connection, ServiceName.bus, path) }

    func account(_ id: String) -> AccountClient {
        service.account(ServiceName.accounts.appending(id))
    }

    func provider(_ id: String) -> ProviderClient {
        service.provider(ServiceName.providers.appending(id))
    }

    func startLogin(
        _ provider: String, _ options: [LoginOption: Variant] = [:]
    ) async throws -> LoginClient {
        service.login(try await service.startLogin(provider, options))
    }

    /// Starts a login in the browser.
    ///
    /// - Returns: The login, and the address for the browser.
    func startBrowserLogin(
        _ provider: String, _ options: [LoginOption: Variant]
    ) async throws -> (login: LoginClient, url: String) {
        let login = try await startLogin(provider, options)
        let address = Observed("")
        let watch = try await proxy(login.path).watch(.login) { changes in
            if let url = changes["AuthorizationUrl"]?.string { address.update { $0 = url } }
        }
        let known = try await login.properties()["AuthorizationUrl"]?.string ?? ""
        if !known.isEmpty { address.update { $0 = known } }
        let url = try await address.wait { $0.isEmpty ? nil : $0 }
        withExtendedLifetime(watch) {}
        return (login, url)
    }

    /// Logs a user in whose provider needs no browser.
    func logIn(
        to provider: String, _ options: [LoginOption: Variant]
    ) async throws -> AccountClient {
        service.account(try await startLogin(provider, options).wait())
    }

    /// Returns the ID of the process that owns a name.
    func process(of name: BusName = ServiceName.bus) async throws -> Int32 {
        let bus = BusProxy(connection, .bus, "/org/freedesktop/DBus")
        let id: UInt32 = try await bus.call(
            "org.freedesktop.DBus", "GetConnectionUnixProcessID", name.text)
        return Int32(id)
    }

    /// Logs a local user in and waits for the account.
    @discardableResult
    func logIn(_ name: String, registers: Bool = true) async throws -> AccountClient {
        var options: [LoginOption: Variant] = [.username: .string(name)]
        if registers { options[.register] = .bool(true) }
        return try await logIn(to: "local", options)
    }

    /// Returns the titles of the photos of a page.
    func titles(
        _ account: AccountClient, source: String = "", count: UInt32 = 100
    ) async throws -> [String] {
        try await account.page(source, cursor: "", count: count).photos.compactMap(\.title)
    }

    /// Returns the avatar file of an account as soon as it has one. Neither a login nor the profile waits for it.
    func avatar(of account: AccountClient) async throws -> String {
        try await wait(account.path, .profile, "Avatar") { $0.string?.isEmpty == false }.string
            ?? ""
    }

    /// Waits until a property has a value.
    func wait(
        _ path: ObjectPath, _ interface: InterfaceName, _ property: MemberName, _ value: Variant
    ) async throws {
        try await wait(path, interface, property) { $0 == value }
    }

    /// Waits until the value of a property meets a condition, and returns it.
    @discardableResult
    func wait(
        _ path: ObjectPath, _ interface: InterfaceName, _ property: MemberName,
        until isMet: @escaping @Sendable (Variant) -> Bool
    ) async throws -> Variant {
        let changes = try await Signals(propertiesOf: path, connection)
        let value = try await proxy(path).property(interface, property)
        if isMet(value) { return value }
        return try await changes.messages.wait { messages in
            messages.lazy.compactMap { message in
                guard let change = message.propertyChange, change.interface == interface.text
                else { return nil }
                return change.values[property.text]
            }.first(where: isMet)
        }
    }

    func waitUntilReady(_ account: AccountClient) async throws {
        try await wait(account.path, .account, "State", .string("ready"))
    }
}

/// The received signals of one kind.
@MainActor
struct Signals {
    let messages = Observed<[BusMessage]>()
    private let subscription: SignalSubscription

    init(
        _ connection: BusConnection, _ path: ObjectPath, _ interface: InterfaceName,
        _ member: MemberName
    ) async throws {
        subscription = try await connection.subscribe(
            MatchRule(sender: ServiceName.bus, path: path, interface: interface, member: member)
        ) { [messages] in messages.append($0) }
    }

    init(propertiesOf path: ObjectPath, _ connection: BusConnection) async throws {
        try await self.init(
            connection, path, "org.freedesktop.DBus.Properties", "PropertiesChanged")
    }

    /// The changes of properties so far.
    var propertyChanges: [(interface: String, values: [String: Variant])] {
        messages.value.compactMap(\.propertyChange)
    }
}

extension BusMessage {
    /// The content of the signal `PropertiesChanged`.
    var propertyChange: (interface: String, values: [String: Variant])? {
        let change: (String, [String: Variant], [String])? = try? read()
        return change.map { ($0.0, $0.1) }
    }
}

extension BusConnection {
    /// Runs `body`, and waits until a name has a new owner, or none.
    @MainActor @discardableResult
    func waitForOwner<Result>(
        of name: BusName, isGone: Bool = false, after body: () async throws -> Result
    ) async throws -> Result {
        let before = try await owner(of: name)
        let current = Observed(before)
        let watch = try await watchOwner(of: name) { owner in current.update { $0 = owner } }
        let result = try await body()
        try await current.wait { owner in
            (isGone ? owner == nil : owner != nil && owner != before) ? true : nil
        }
        withExtendedLifetime(watch) {}
        return result
    }
}

extension Variant {
    /// The values of a structure; empty for other types.
    var fields: [Variant] { if case .structure(let fields) = self { fields } else { [] } }

    /// A descriptor of a pipe that holds a secret.
    static func secret(_ text: String) throws -> Variant {
        .fileDescriptor(
            try #require(Array(text.utf8).withUnsafeBytes(FileDescriptor.pipe(holding:))))
    }
}

extension AccountClient {
    /// Returns the IDs of the photos of a page.
    func ids(_ source: String = "", count: UInt32 = 30) async throws -> [String] {
        try await page(source, cursor: "", count: count).photos.map(\.id)
    }

    /// Returns the ID of the first photo of a source.
    func firstID(_ source: String = "") async throws -> String {
        try #require(try await ids(source, count: 1).first)
    }
}

/// Returns the error reply that `body` throws; nil, with an issue, if there is none.
@MainActor
func errorReply(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async -> ErrorReply? {
    do {
        try await body()
        Issue.record("no error", sourceLocation: sourceLocation)
    } catch BusError.reply(let reply) {
        return reply
    } catch {
        Issue.record(error, sourceLocation: sourceLocation)
    }
    return nil
}

/// Expects that a call fails with an error name and a message of one sentence.
@MainActor
func expectError(
    _ name: ErrorName, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async {
    guard let reply = await errorReply(sourceLocation: sourceLocation, body) else { return }
    #expect(reply.name == name, "\(reply.message)", sourceLocation: sourceLocation)
    #expect(reply.message.hasSuffix("."), "\(reply.message)", sourceLocation: sourceLocation)
    #expect(reply.message.count > 10, sourceLocation: sourceLocation)
    #expect(!reply.message.contains("\n"), sourceLocation: sourceLocation)
}

/// Expects that a call fails with an error of the contract and a message of one sentence.
@MainActor
func expectError(
    _ error: ServiceError, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async {
    await expectError(error.name, sourceLocation: sourceLocation, body)
}

/// The command line `imagefeedctl`.
@MainActor
enum Terminal {
    static func start(_ arguments: [String], input: String = "") throws -> ChildProcess {
        try ChildProcess(
            BuiltProducts.path("imagefeedctl"), arguments,
            environment: try RunningDaemon.environment(), input: input)
    }

    /// Runs `imagefeedctl` and returns its result.
    static func run(
        _ arguments: String..., input: String = ""
    ) async throws -> (exit: ChildProcess.Exit, output: String, error: String) {
        try await start(arguments, input: input).result()
    }

    /// Returns the IDs in a list of photos, with their accounts.
    static func photos(_ list: String) -> [String] {
        list.split(separator: "\n").compactMap { line in
            line.split(separator: "\t").first.map(String.init)
        }
    }

    /// Runs `imagefeedctl`, expects success, and returns its output.
    static func output(
        _ arguments: String..., input: String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let result = try await start(arguments, input: input).result()
        #expect(
            result.exit == .code(0), "\(arguments): \(result.error)",
            sourceLocation: sourceLocation)
        return result.output
    }
}

/// Returns the files below the home directory of the running test that contain one of the texts.
@MainActor
func files(holding texts: [String]) async throws -> [String] {
    let directory = try PrivateBus.current.directory
    let search = try ChildProcess(
        "/bin/grep",
        ["-rlaF", "-D", "skip", "-f", "-"] + ["home", "run", "tmp"].map(directory.appending),
        environment: directory.environment, input: texts.joined(separator: "\n") + "\n")
    let (exit, output, error) = try await search.result()
    #expect(exit == .code(output.isEmpty ? 1 : 0), "\(error)")
    return output.split(separator: "\n").map(String.init)
}

/// A recording of all messages on the bus of the running test, as text.
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

    /// Waits for a message that contains a text.
    func wait(for text: String) async throws {
        try await monitor.standardOutput.wait { $0.text.contains(text) ? true : nil }
    }

    /// Returns the messages until now. It must be called only once.
    func text() async throws -> String {
        let end: BusName = "org.imagefeed.EndOfRecording"
        _ = try await client.owner(of: end)
        return try await monitor.standardOutput.wait {
            $0.text.contains(end.text) || $0.isComplete ? $0.text : nil
        }
    }
}
