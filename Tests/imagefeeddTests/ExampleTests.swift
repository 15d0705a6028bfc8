import Contract
import Foundation
import Glibc
import TestSupport
import Testing

/// Tests of the examples in `dist/examples`, if the programs that they need are installed.
@Suite(.privateBus, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct ExampleTests {
    private static let folder = repository.appending(path: "dist/examples").path

    /// Starts an example with the environment of the daemon.
    private func start(
        _ command: [String], _ settings: [String: String] = [:]
    ) throws -> ChildProcess {
        var environment = try PrivateBus.current.environment
        let programs = RunningDaemon.path.replacing("/imagefeedd", with: "")
        environment["PATH"] = "\(programs):\(Self.folder):/usr/bin:/bin"
        environment.merge(settings) { $1 }
        return try ChildProcess("/usr/bin/env", command, environment: environment)
    }

    private nonisolated static func isInstalled(_ program: String) -> Bool {
        access("/usr/bin/\(program)", X_OK) == 0
    }

    private nonisolated static let hasFastDBus = FileManager.default.fileExists(
        atPath: "/usr/lib/python3/dist-packages/dbus_fast")

    @Test(
        .enabled(if: hasFastDBus, "python3-dbus-fast is not installed"))
    func `the Python client shows new photos`() async throws {
        try await showsPhotos(["/usr/bin/python3", "\(Self.folder)/client.py"])
    }

    @Test(.enabled(if: isInstalled("gjs"), "gjs is not installed"))
    func `the JavaScript client shows new photos`() async throws {
        try await showsPhotos(["gjs", "-m", "\(Self.folder)/client.js"])
    }

    private func showsPhotos(_ command: [String]) async throws {
        let (_, _, account) = try await startWithUser(["Newest", "Older"])
        let client = try start(command)
        #expect(try await client.firstLine() == "Newest")
        let id = try await account.firstID()
        // A like changes the photo, but not the feed.
        _ = try await account.like(id)
        try await expectLine("♥ Newest", of: client)
        try Pictures.add("Newer.png", age: -10)
        try await expectLine("Newer", of: client)
        try Pictures.remove("Newer.png")
        try await expectLine("♥ Newest", of: client)
        // Each photo is printed once, although several signals announce a change.
        #expect(
            client.standardOutput.value.text == "Newest\n♥ Newest\nNewer\n♥ Newest\n")
        client.terminate()
    }

    /// Waits until a line is the last one of the output.
    private func expectLine(_ line: String, of client: ChildProcess) async throws {
        try await client.standardOutput.wait { output in
            output.text.hasSuffix("\n\(line)\n") || output.isComplete ? true : nil
        }
        #expect(client.standardOutput.value.text.hasSuffix("\n\(line)\n"))
    }
}
