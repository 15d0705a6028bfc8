import Contract
import DBus
import Foundation
import ProviderKit
import TestSupport
import Testing
import UnsplashSimulator

/// Tests of the upgrade from an older version.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct UpgradeTests {
    private static let versions = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "OlderVersions")

    /// Creates the databases of an older version from SQL dumps, in the home directory of the running test.
    private func install(_ version: String, photo: String) async throws {
        let directory = try PrivateBus.current.directory
        let script = """
            import pathlib, sqlite3, sys
            for dump in pathlib.Path(sys.argv[1]).glob("*.sql"):
                database = sqlite3.connect(f"{sys.argv[2]}/{dump.stem}.sqlite")
                database.executescript(dump.read_text().replace("@photo@", sys.argv[3]))
            """
        let folder = directory.appending("home/.local/share/imagefeed")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let python = try ChildProcess(
            "/usr/bin/python3",
            ["-c", script, Self.versions.appending(path: version).path, folder, photo],
            environment: directory.environment)
        #expect(try await python.result().error == "")
    }

    @Test(arguments: ["0.1.0"])
    func `the data of an older version are used`(version: String) async throws {
        try Pictures.add(["Dune"])
        let fixture = try await UnsplashFixture()
        // The token is in the keyring, where all versions find it.
        let ada = try await fixture.logIn("ada")
        let photo = try await ada.ids()[2]
        try await fixture.daemon.kill()
        try FileManager.default.removeItem(
            atPath: PrivateBus.current.directory.appending("home/.local/share/imagefeed"))
        try FileManager.default.removeItem(
            atPath: PrivateBus.current.directory.appending("home/.cache/imagefeed"))
        try await install(version, photo: photo)
        try await fixture.start()
        let client = fixture.client
        let objects = try await client.service.objects()
        for id in ["local_ada", "unsplash_ada"] {
            let path = ServiceName.accounts.appending(id)
            #expect(objects[path]?[InterfaceName.feed.text] != nil, "\(id)")
        }
        let manager = try await client.service.manager.properties()
        #expect(manager["DefaultAccount"] == .objectPath(ada.path))
        // The pending like is delivered.
        try await fixture.unsplash.waitForRequests("POST /photos/*/like")
        try await client.wait(ada.path, .like, "Pending", .array([], of: String.signature))
        #expect(fixture.unsplash.likes(of: "ada") == [photo])
        let local = client.account("local_ada")
        try await client.wait(local.path, .account, "State", .string("ready"))
        #expect(try await client.titles(local) == ["Dune"])
    }

    @Test func `a daemon that is replaced leaves its queued likes to the new one`() async throws {
        let (fixture, ada, ids) = try await readFeed(of: UnsplashFixture())
        fixture.unsplash.stop()
        #expect(try await ada.like(ids[0]) == .queued)
        #expect(try await ada.like(ids[1]) == .queued)
        let new = try await RunningDaemon(["--replace"])
        #expect(try await fixture.daemon.process.exitStatus() == .code(0))
        #expect(
            try await ada.properties(.like)["Pending"]?.strings.map(Set.init) == Set(ids[..<2]))
        try fixture.unsplash.resume()
        try await fixture.unsplash.waitForRequests("POST /photos/*/like", count: 2)
        try await fixture.waitForLikes(ada)
        #expect(Set(fixture.unsplash.likes(of: "ada")) == Set(ids[..<2]))
        try await new.stop()
    }
}
