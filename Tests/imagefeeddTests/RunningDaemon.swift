import Contract
import DBus
import Foundation
import TestSupport
import Testing

/// The folder of this repository.
let repository = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

/// The built daemon on the bus of the running test, with its own home directory.
///
/// A test with the trait ``DaemonEndTrait`` ends it; otherwise, it is killed when the last reference is released.
@MainActor
final class RunningDaemon {
    /// The daemons of the running test.
    @TaskLocal fileprivate static var ofTest: Observed<[RunningDaemon]>?

    static let path = BuiltProducts.path("imagefeedd")

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
        let command = launcher + [program] + arguments
        let service = ServiceClient(client)
        var start = ContinuousClock.now
        process = try await client.waitForOwner(of: ServiceName.bus) {
            start = .now
            return try ChildProcess(
                command[0], Array(command.dropFirst()), environment: RunningDaemon.environment())
        }
        _ = try await service.objects()
        startUp = ContinuousClock.now - start
        Self.ofTest?.append(self)
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

    private static let configurationFile = "home/.config/imagefeed/imagefeed.conf"

    /// The configuration of the user.
    static var configuration: String {
        get throws {
            let file = try PrivateBus.current.directory.appending(configurationFile)
            return try String(contentsOfFile: file, encoding: .utf8)
        }
    }

    /// Writes the configuration of the user.
    static func configure(_ text: String) throws {
        try PrivateBus.current.directory.write(text, to: configurationFile)
    }

    /// Changes the configuration of the user, and waits until the daemon, which logs at the level `info`, has read it.
    func configure(_ text: String) async throws {
        try Self.configure(text)
        process.kill(SIGHUP)
        try await waitForLog("The configuration was read again")
    }

    /// Waits until the log contains a text.
    func waitForLog(_ text: String) async throws {
        try await process.standardError.wait { $0.text.contains(text) ? true : nil }
    }

    /// Returns the value of a line of a file in `/proc`, for the process or a child of it.
    func status(
        _ name: String, in file: String = "status", of child: Int32? = nil
    ) throws -> Substring {
        let folder = "/proc/\(child ?? process.id)"
        let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return try #require(line).dropFirst(name.count)
    }

    /// Returns an amount of memory in the status, in KiB.
    func memory(_ name: String, of child: Int32? = nil) throws -> Int {
        let words = try status("\(name):", of: child).split(whereSeparator: \.isWhitespace)
        return try #require(words.first.flatMap { Int($0) })
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

/// A trait that ends the daemons of each test with `SIGTERM`, and expects that they exit with status 0.
struct DaemonEndTrait: TestTrait, SuiteTrait, TestScoping {
    var isRecursive: Bool { true }

    @concurrent
    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        let daemons = Observed<[RunningDaemon]>()
        try await RunningDaemon.$ofTest.withValue(daemons) { try await function() }
        for daemon in daemons.value where daemon.process.isRunning { try await daemon.stop() }
    }
}

extension Trait where Self == DaemonEndTrait {
    /// Ends the daemons of each test. Must follow `.privateBus` and `.privateKeyring`.
    static var endsDaemons: DaemonEndTrait { DaemonEndTrait() }
}

/// Starts the daemon and connects a client.
@MainActor
func startDaemon(
    _ arguments: [String] = [], launcher: [String] = []
) async throws -> (RunningDaemon, TestClient) {
    (try await RunningDaemon(arguments, launcher: launcher), try TestClient())
}

/// Starts the daemon with pictures, the newest first, and logs ada in.
@MainActor
func startWithUser(
    _ pictures: [String] = [], arguments: [String] = [], launcher: [String] = []
) async throws -> (RunningDaemon, TestClient, AccountClient) {
    try Pictures.add(pictures)
    let (daemon, client) = try await startDaemon(arguments, launcher: launcher)
    let ada = try await client.logIn("ada")
    try await client.waitUntilReady(ada)
    return (daemon, client, ada)
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
