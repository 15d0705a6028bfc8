import DBus
import Foundation
import Glibc
import TestSupport
import Testing

/// Tests of the examples in `dist/examples`, if the programs that they need are installed.
@Suite(.privateBus, .timeLimit(.minutes(1))) @MainActor
struct ExampleTests {
    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "dist/examples").path

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

    private func withUser(_ body: (TestClient) async throws -> Void) async throws {
        try Pictures.add(["Newest", "Older"])
        let daemon = try await RunningDaemon()
        let client = try TestClient()
        _ = try await client.logIn("ada")
        try await body(client)
        try await daemon.stop()
    }

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
        try await withUser { _ in
            let client = try start(command)
            #expect(try await client.firstLine() == "Newest")
            try Pictures.add("Newer.png", age: -10)
            try await client.standardOutput.wait { output in
                output.text.contains("\nNewer\n") || output.isComplete ? true : nil
            }
            #expect(client.standardOutput.value.text.hasSuffix("\nNewer\n"))
            client.terminate()
        }
    }
}
