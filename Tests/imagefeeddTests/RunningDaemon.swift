import Contract
import DBus
import Foundation
import TestSupport
import Testing

/// The built daemon on the bus of the running test, with its own home directory.
///
/// It is killed when the last reference is released.
@MainActor
final class RunningDaemon {
    static let path =
        getenv("IMAGEFEED_DAEMON").map { String(cString: $0) } ?? BuiltProducts.path("imagefeedd")
    /// True if this is the installed daemon instead of the one that was built with the tests.
    static var isInstalled: Bool { getenv("IMAGEFEED_DAEMON") != nil }

    let process: ChildProcess
    /// The time from the start of the process to its first reply.
    let startUp: Duration

    /// Starts the daemon and waits until it replies.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the daemon.
    ///   - launcher: A program with arguments that replaces itself with the daemon.
    ///   - program: The path of the daemon.
    /// - Throws: The error of a daemon that does not start.
    init(
        _ arguments: [String] = [], launcher: [String] = [], program: String = path
    ) async throws {
        let client = try PrivateBus.current.connect()
        let owner = Observed<BusName?>(try await client.owner(of: ServiceName.bus))
        let before = owner.value
        let watch = try await client.watchOwner(of: ServiceName.bus) { name in
            owner.update { $0 = name }
        }
        let command = launcher + [program] + arguments
        let service = ServiceClient(client)
        let start = ContinuousClock.now
        process = try ChildProcess(
            command[0], Array(command.dropFirst()), environment: try Self.environment())
        try await owner.wait { name in name != nil && name != before ? true : nil }
        withExtendedLifetime(watch) {}
        _ = try await service.objects()
        startUp = ContinuousClock.now - start
    }

    /// Starts the daemon without waiting.
    static func start(_ arguments: [String] = []) throws -> ChildProcess {
        try ChildProcess(path, arguments, environment: try environment())
    }

    static func environment() throws -> [String: String] {
        var environment = try PrivateBus.current.environment
        environment["XDG_CONFIG_DIRS"] = try PrivateBus.current.directory.appending("etc")
        // The tests do not use the system bus of the machine; a test can provide one.
        environment["DBUS_SYSTEM_BUS_ADDRESS"] =
            try "unix:path=\(PrivateBus.current.directory.appending("system-bus"))"
        return environment
    }

    /// Returns the paths of the open files of the daemon.
    func descriptors() throws -> [String] {
        let folder = "/proc/\(process.id)/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
        }
    }

    /// Ends the daemon with `SIGTERM`, as at the end of a session.
    func stop() async throws {
        process.terminate()
        #expect(try await process.exitStatus() == .code(0))
    }

    /// Kills the daemon.
    func kill() async throws {
        process.kill(SIGKILL)
        #expect(try await process.exitStatus() == .signal(SIGKILL))
    }
}

/// The pictures folder of the running test.
@MainActor
enum Pictures {
    static let home = "home/Pictures"

    /// Adds a picture that is `age` seconds older than the default.
    static func add(_ name: String, age: Double = 0, folder: String = home) throws {
        let directory = try PrivateBus.current.directory
        // Created in another folder and moved, so that it appears with its date in one step.
        let new = try directory.write("", to: "tmp/new")
        try FileManager.default.removeItem(atPath: new)
        try png.write(to: URL(filePath: new))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000 - age)],
            ofItemAtPath: new)
        let file = directory.appending("\(folder)/\(name)")
        try FileManager.default.createDirectory(
            atPath: String(file[..<(file.lastIndex(of: "/") ?? file.endIndex)]),
            withIntermediateDirectories: true)
        try FileManager.default.moveItem(atPath: new, toPath: file)
    }

    /// Adds several pictures, the newest first.
    static func add(_ names: [String]) throws {
        for (age, name) in names.enumerated() { try add("\(name).png", age: Double(age)) }
    }

    static func remove(_ name: String) throws {
        try FileManager.default.removeItem(
            atPath: PrivateBus.current.directory.appending("\(home)/\(name)"))
    }

    /// A PNG with one grey pixel.
    static let png =
        Data(
            base64Encoded: """
                iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCB\
                d81ytgAAAABJRU5ErkJggg==
                """) ?? Data()
}

/// A client of the daemon.
@MainActor
struct TestClient {
    let connection: BusConnection
    let service: ServiceClient

    init() throws {
        connection = try PrivateBus.current.connect()
        service = ServiceClient(connection)
    }

    func proxy(_ path: ObjectPath) -> BusProxy { BusProxy(connection, ServiceName.bus, path) }

    /// Logs a local user in and waits for the account.
    @discardableResult
    func logIn(_ name: String, registers: Bool = true) async throws -> AccountClient {
        var options: [LoginOption: Variant] = [.username: .string(name)]
        if registers { options[.register] = .bool(true) }
        let login = try await service.manager.login("local", options)
        return service.account(try await service.login(login).wait())
    }

    /// Returns the titles of the photos of a page.
    func titles(
        _ account: AccountClient, source: String = "", count: UInt32 = 100
    ) async throws -> [String] {
        try await account.page(source, cursor: "", count: count).photos.compactMap {
            $0["title"]?.string
        }
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
        let changes = try await Signals(
            connection, path, "org.freedesktop.DBus.Properties", "PropertiesChanged")
        let value = try await proxy(path).property(interface, property)
        if isMet(value) { return value }
        return try await changes.messages.wait { messages in
            messages.lazy.compactMap { message -> Variant? in
                guard
                    let change: (String, [String: Variant], [String]) = try? message.read(),
                    change.0 == interface.text
                else { return nil }
                return change.1[property.text]
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
