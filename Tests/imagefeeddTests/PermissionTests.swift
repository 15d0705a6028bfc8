import Contract
import DBus
import Glibc
import TestSupport
import Testing

/// Tests of files and folders that the user may not read at first.
@Suite(
    .privateBus, .endsDaemons, .timeLimit(.minutes(10)), .enabled { try await Refusal.isPossible })
@MainActor
struct PermissionTests {
    @Test(arguments: ["b.png", "sub"])
    func `files appear when they become readable`(name: String) async throws {
        try Pictures.add("a.png")
        try Pictures.add("b.png", age: 1)
        try Pictures.add("sub/c.png", age: 2)
        let file = try PrivateBus.current.directory.appending("\(Pictures.home)/\(name)")
        chmod(file, 0)
        let (_, client, account) = try await startWithUser(launcher: Refusal.launcher)
        #expect(try await client.titles(account) == (name == "sub" ? ["a", "b"] : ["a", "c"]))
        let updates = try await Signals(client.connection, account.path, .feed, "Updated")
        chmod(file, 0o700)
        _ = try await updates.messages.elements(1)
        #expect(try await client.titles(account) == ["a", "b", "c"])
    }
}

/// A launcher that makes file modes effective even for root.
enum Refusal {
    /// The program that starts the daemon without the capabilities to ignore file modes.
    static let launcher =
        getuid() != 0
        ? [] : ["/usr/bin/setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner,-chown"]

    static var isPossible: Bool {
        get async throws {
            guard let program = launcher.first else { return true }
            guard access(program, X_OK) == 0 else { return false }
            let directory = try TemporaryDirectory()
            let file = try directory.write("", to: "file")
            chmod(file, 0)
            let arguments = launcher.dropFirst() + ["/usr/bin/test", "!", "-r", file]
            return try await ChildProcess(program, Array(arguments), environment: [:])
                .exitStatus() == .code(0)
        }
    }
}
