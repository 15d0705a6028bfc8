import Contract
import DBus
import ProviderKit
import Storage
import System
import TestSupport
import Testing
import UnsplashSimulator

/// Tests with read-only folders: the data can be read, and calls that write report the reason.
@Suite(
    .privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10)),
    .enabled(if: Disk.canMount, "mounting takes root"))
@MainActor
struct ReadOnlyTests {
    /// Expects that a call fails because a file cannot be written.
    private func expectReadOnly(
        sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
    ) async {
        let reply = await errorReply(sourceLocation: sourceLocation, body)
        #expect(reply?.name == ServiceError.storageFailed.name, sourceLocation: sourceLocation)
        #expect(
            reply?.message.contains("cannot be written: ") == true, "\(reply?.message ?? "")",
            sourceLocation: sourceLocation)
    }

    @Test(arguments: [false, true], ["home", "home/.local/share/imagefeed"])
    func `a read-only folder is served at a start`(wasKilled: Bool, folder: String) async throws {
        let (fixture, ada, ids) = try await readFeed(of: UnsplashFixture(), count: 20)
        let image = try await ada.imagePath(ids[0], size: "thumb")
        #expect(try await ada.like(ids[0]) == .done)
        try await ada.setLabel("A")
        try await wasKilled ? fixture.daemon.kill() : fixture.daemon.stop()
        // The service gives the images of a photo other addresses each second.
        try await Task.sleep(for: .seconds(1.1))
        try await fixture.start(launcher: Disk.readOnly(folder))
        #expect(try await ada.ids(count: 20) == ids)
        #expect(try await ada.imagePath(ids[0], size: "thumb") == image)
        #expect(try await ada.photo(ids[0])["liked"] == .bool(true))
        #expect(try await fixture.property(ada, "Label") == .string("A"))
        try await fixture.wait(ada, "ready")
        await expectReadOnly { _ = try await ada.like(ids[1]) }
        await expectReadOnly { try await ada.setLabel("B") }
        await expectReadOnly { _ = try await fixture.client.logIn("bob") }
        #expect(try await ada.photo(ids[1])["liked"] == .bool(false))
        #expect(fixture.unsplash.likes(of: "ada") == [ids[0]])
        #expect(try await fixture.property(ada, "Label") == .string("A"))
        try await fixture.daemon.waitForLog("Accounts and likes cannot be changed")
    }

    @Test func `a data folder that cannot be created has no accounts`() async throws {
        try await Disk.remove("home/.local/share")
        _ = try await RunningDaemon(launcher: Disk.readOnly("home/.local"))
        let client = try TestClient()
        #expect(try await client.service.objects().count > 1)
        await expectReadOnly { _ = try await client.logIn("ada") }
    }

    @Test func `a read-only cache serves its images and is deleted after a logout`() async throws {
        let (fixture, ada, ids) = try await readFeed(of: UnsplashFixture(), count: 20)
        let image = try await ada.imagePath(ids[0], size: "thumb")
        try await Task.sleep(for: .seconds(1.1))
        try await fixture.restart(launcher: Disk.readOnly(Disk.cache))
        #expect(try await ada.imagePath(ids[0], size: "thumb") == image)
        let file = try await ada.openImage(ids[0], size: "thumb")
        #expect(try Destination.read(file).count > 100)
        await expectReadOnly { _ = try await ada.imagePath(ids[1], size: "thumb") }
        #expect(try await ada.like(ids[1]) == .done)
        try await fixture.wait(ada, "ready")
        try await ada.logout()
        let folder = try PrivateBus.current.directory.appending(Disk.cache)
        let images = { try DirectoryListing("\(folder)/images").names }
        func hasPhotos() throws -> Bool {
            let database = try Database(path: "\(folder)/cache.sqlite")
            return try database.exists("SELECT 1 FROM photo")
        }
        try await fixture.daemon.stop()
        #expect(try hasPhotos() && !images().isEmpty)
        try await fixture.start()
        // The images are deleted last, after the first reply; no event reports that.
        while try !images().isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        try await fixture.daemon.stop()
        #expect(try !hasPhotos())
    }
}
