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

    @Test func `the Waybar module follows the feed and a shortcut likes its photo`()
        async throws
    {
        try await withUser { _ in
            let module = try start(["waybar-photo"])
            #expect(
                try await module.firstLine()
                    == #"{"text":"Newest","tooltip":"","class":"photo"}"#)
            try Pictures.add("A & B.png", age: -10)
            try await module.standardOutput.wait { output in
                output.text.contains(#""A &amp; B""#) || output.isComplete ? true : nil
            }
            #expect(module.standardOutput.value.text.contains(#""A &amp; B""#))
            // The shortcut prints the result.
            let (exit, output, _) = try await start(["like-photo"]).result()
            #expect(exit == .code(0))
            #expect(output.contains("liked"), "\(output)")
            module.terminate()
        }
    }

    @Test func `the Waybar module without an account shows the next step`() async throws {
        let daemon = try await RunningDaemon()
        let module = try start(["waybar-photo"])
        let line = try await module.firstLine()
        #expect(line.contains(#""class":"error""#))
        #expect(line.contains("imagefeedctl login"))
        module.terminate()
        try await daemon.stop()
    }

    @Test func `a photo becomes the wallpaper through the portal`() async throws {
        try await withUser { _ in
            let wallpaper = try await FakeWallpaperPortal()
            let (exit, _, error) = try await start(["wallpaper-photo"]).result()
            #expect(exit == .code(0), "\(error)")
            #expect(wallpaper.images.value == [Pictures.png.count])
        }
    }
}

/// A simulated desktop portal that can set wallpapers.
@MainActor
private final class FakeWallpaperPortal {
    /// The sizes of the received files in bytes.
    let images = Observed<[Int]>([])
    private let connection: BusConnection
    private let tree: ObjectTree
    private let object: ExportedObject

    init() async throws {
        let path: ObjectPath = "/org/freedesktop/portal/desktop"
        object = ExportedObject(path)
        connection = try PrivateBus.current.connect()
        tree = ObjectTree(connection, root: path) { ErrorReply(.failed, "\($0)") }
        object.add(Self.interface, on: self)
        tree.export(object)
        tree.start()
        _ = try await connection.requestName(
            "org.freedesktop.portal.Desktop", replacing: false, onLost: {})
    }

    private static let interface = BusInterface<FakeWallpaperPortal>(
        "org.freedesktop.portal.Wallpaper",
        [
            .method("SetWallpaperFile", in: ["parent", "file", "options"], out: ["handle"]) {
                (portal, _: String, file: FileDescriptor, _: [String: Variant]) -> ObjectPath in
                var status = stat()
                fstat(file.rawValue, &status)
                portal.images.append(Int(status.st_size))
                return "/org/freedesktop/portal/desktop/request/1"
            }
        ])
}
