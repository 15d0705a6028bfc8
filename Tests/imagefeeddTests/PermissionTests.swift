import Contract
import DBus
import Glibc
import TestSupport
import Testing

/// Tests of files and folders that the user may not read.
@Suite(
    .privateBus, .endsDaemons, .timeLimit(.minutes(10)), .enabled { try await Refusal.isPossible })
@MainActor
struct PermissionTests {
    /// Changes the mode of a file and waits for the signal of the feed.
    private func setMode(
        _ mode: mode_t, _ name: String, telling signals: Signals
    ) async throws {
        let count = signals.messages.value.count
        chmod(try PrivateBus.current.directory.appending("\(Pictures.home)/\(name)"), mode)
        _ = try await signals.messages.elements(count + 1)
    }

    @Test(arguments: ["b.png", "sub"])
    func `files appear when they become readable`(name: String) async throws {
        try Pictures.add("a.png")
        try Pictures.add("b.png", age: 1)
        try Pictures.add("sub/c.png", age: 2)
        chmod(try PrivateBus.current.directory.appending("\(Pictures.home)/\(name)"), 0)
        let (_, client, account) = try await startWithUser(launcher: Refusal.launcher)
        #expect(try await client.titles(account) == (name == "sub" ? ["a", "b"] : ["a", "c"]))
        let updates = try await Signals(client.connection, account.path, .feed, "Updated")
        try await setMode(0o700, name, telling: updates)
        #expect(try await client.titles(account) == ["a", "b", "c"])
    }

    @Test func `photos of a folder that becomes unreadable remain`() async throws {
        try Pictures.add("a.png")
        try Pictures.add("sub/b.png", age: 1)
        let (_, client, account) = try await startWithUser(launcher: Refusal.launcher)
        let updates = try await Signals(client.connection, account.path, .feed, "Updated")
        let folder = try PrivateBus.current.directory.appending("\(Pictures.home)/sub")
        chmod(folder, 0)
        #expect(try await account.refresh("") == 0)
        #expect(try await client.titles(account) == ["a", "b"])
        chmod(folder, 0o700)
        try Pictures.add("sub/c.png", age: 2)
        var count = 0
        while try await client.titles(account) != ["a", "b", "c"] {
            count += 1
            _ = try await updates.messages.elements(count)
        }
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
