import BusAPI
import DBus
import Foundation
import TestSupport
import Testing

/// The built daemon on the bus of the running test, with a home of its own.
///
/// Killed with the last reference.
@MainActor
final class RunningDaemon {
    static let path =
        getenv("IMAGEFEED_DAEMON").map { String(cString: $0) } ?? BuiltProducts.path("imagefeedd")
    /// Whether it is the daemon as it is installed, and not the one that was built along with the tests.
    static var isInstalled: Bool { getenv("IMAGEFEED_DAEMON") != nil }

    let process: ChildProcess
    /// From the start of the process to its first answer.
    let startUp: Duration

    /// Starts it, and waits until it serves.
    ///
    /// - Parameters:
    ///   - arguments: What follows its name.
    ///   - launcher: A program, with its arguments, that starts the daemon in its own place.
    /// - Throws: What it could not be started for.
    init(_ arguments: [String] = [], launcher: [String] = []) async throws {
        let client = try PrivateBus.current.connect()
        let owner = Observed<BusName?>(try await client.owner(of: ServiceName.bus))
        let before = owner.value
        let watch = try await client.watchOwner(of: ServiceName.bus) { name in
            owner.update { $0 = name }
        }
        let command = launcher + [Self.path] + arguments
        let service = ServiceClient(client)
        let start = ContinuousClock.now
        process = try ChildProcess(
            command[0], Array(command.dropFirst()), environment: try Self.environment())
        try await owner.wait { name in name != nil && name != before ? true : nil }
        withExtendedLifetime(watch) {}
        _ = try await service.objects()
        startUp = ContinuousClock.now - start
    }

    /// Starts it without waiting for anything.
    static func start(_ arguments: [String] = []) throws -> ChildProcess {
        try ChildProcess(path, arguments, environment: try environment())
    }

    static func environment() throws -> [String: String] {
        var environment = try PrivateBus.current.environment
        environment["XDG_CONFIG_DIRS"] = try PrivateBus.current.directory.appending("etc")
        // The bus of the machine that tests run on is nobody's business, unless a test brings one.
        environment["DBUS_SYSTEM_BUS_ADDRESS"] =
            try "unix:path=\(PrivateBus.current.directory.appending("system-bus"))"
        return environment
    }

    /// What it has open.
    func descriptors() throws -> [String] {
        let folder = "/proc/\(process.id)/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
        }
    }

    /// Ends it as the session's end does.
    func stop() async throws {
        process.terminate()
        #expect(try await process.exitStatus() == .code(0))
    }

    /// Ends it without a warning.
    func kill() async throws {
        process.kill(SIGKILL)
        #expect(try await process.exitStatus() == .signal(SIGKILL))
    }
}

/// The pictures folder of the running test.
@MainActor
enum Pictures {
    static let home = "home/Pictures"

    /// Puts a picture there, taken `age` seconds before others.
    static func add(_ name: String, age: Double = 0, folder: String = home) throws {
        let directory = try PrivateBus.current.directory
        // Elsewhere first: it comes with its date, in one step.
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

    /// Puts several there: `1` is the newest.
    static func add(_ names: [String]) throws {
        for (age, name) in names.enumerated() { try add("\(name).png", age: Double(age)) }
    }

    static func remove(_ name: String) throws {
        try FileManager.default.removeItem(
            atPath: PrivateBus.current.directory.appending("\(home)/\(name)"))
    }

    /// One grey pixel.
    static let png =
        Data(
            base64Encoded: """
                iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCB\
                d81ytgAAAABJRU5ErkJggg==
                """) ?? Data()
}

/// What is done to the daemon over the bus.
@MainActor
struct TestClient {
    let connection: BusConnection
    let service: ServiceClient

    init() throws {
        connection = try PrivateBus.current.connect()
        service = ServiceClient(connection)
    }

    func proxy(_ path: ObjectPath) -> BusProxy { BusProxy(connection, ServiceName.bus, path) }

    /// Logs a user in, and waits for the account.
    @discardableResult
    func logIn(_ name: String, registers: Bool = true) async throws -> AccountClient {
        var options: [LoginOption: Variant] = [.username: .string(name)]
        if registers { options[.register] = .bool(true) }
        let login = try await service.manager.login("local", options)
        return service.account(try await service.login(login).wait())
    }

    /// The photos of a page, by title.
    func titles(
        _ account: AccountClient, source: String = "", count: UInt32 = 100
    ) async throws -> [String] {
        try await account.page(source, cursor: "", count: count).photos.compactMap {
            $0["title"]?.string
        }
    }

    /// Waits until a property has a value.
    func wait(
        _ path: ObjectPath, _ interface: InterfaceName, _ property: MemberName, _ value: Variant
    ) async throws {
        let changes = try await Signals(
            connection, path, "org.freedesktop.DBus.Properties", "PropertiesChanged")
        guard try await proxy(path).property(interface, property) != value else { return }
        try await changes.messages.wait { messages in
            messages.contains { message in
                guard
                    let change: (String, [String: Variant], [String]) = try? message.read()
                else { return false }
                return change.0 == interface.text && change.1[property.text] == value
            } ? true : nil
        }
    }

    func waitUntilReady(_ account: AccountClient) async throws {
        try await wait(account.path, .account, "State", .string("ready"))
    }
}

/// The signals of one kind that have come so far.
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

/// The error that a call is answered with.
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

/// Expects a call to be answered with an error and one sentence.
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
