import FoundationEssentials
import Glibc
import ProviderKit
import Storage
import TestSupport
import Testing
import Translation

@testable import LocalProvider

@Suite(.timeLimit(.minutes(10))) struct FailureTests {
    @Test func `an image is opened, and a pipe or folder in its place is not`() async throws {
        let folder = try PhotosFixture(photos: ["a.jpg", "b.jpg"])
        let (a, b) = (try await folder.id("a"), try await folder.id("b"))
        let descriptor = try await folder.session.openImage(a, .full)
        var bytes = [UInt8](repeating: 0, count: 6)
        #expect(read(descriptor, &bytes, 6) == 6)
        #expect(bytes == PhotosFixture.jpeg)
        close(descriptor)
        unlink(folder.path("a.jpg"))
        unlink(folder.path("b.jpg"))
        try check(mkfifo(folder.path("a.jpg"), 0o600))
        try check(mkdir(folder.path("b.jpg"), 0o700))
        for id in [a, b] {
            let error = PictureFolder.noPhoto(id)
            await #expect(throws: error) { try await folder.session.openImage(id, .full) }
            await #expect(throws: error) { try await folder.session.imagePath(id, .full) }
        }
        try await folder.removed([a, b])
    }

    @Test func `sizes other than the full one are not supported`() async throws {
        let folder = try PhotosFixture(photos: ["a.jpg"])
        let id = try await folder.id("a")
        await #expect(throws: ProviderError.self) { try await folder.session.imagePath(id, .thumb) }
    }

    @Test(arguments: ["garbage", "newer", "half"])
    func `an unusable index is created again`(damage: String) async throws {
        let first = try await PhotosFixture.ready((0..<400).map { "x/\($0).jpg" })
        let ids = try await first.photos().map(\.id)
        first.session.close()
        let path = "\(first.cache)/index.sqlite"
        let database = try Database(path: path)
        try database.execute("UPDATE format SET version = 99; PRAGMA wal_checkpoint(TRUNCATE)")
        var data = try Data(contentsOf: URL(filePath: path))
        switch damage {
        case "garbage": data = Data("this is not a database".utf8)
        case "half":
            try database.execute("UPDATE format SET version = 1; PRAGMA wal_checkpoint(TRUNCATE)")
            data = try Data(contentsOf: URL(filePath: path))
            for index in 4096..<data.count { data[index] = 0x5a }
        default: break
        }
        let copy = try TemporaryDirectory()
        let pictures = copy.appending("home/Pictures")
        try FileManager.default.removeItem(atPath: pictures)
        try FileManager.default.moveItem(atPath: first.root, toPath: pictures)
        PhotosFixture.makeFolder(copy.appending("home/.cache/imagefeed"))
        try data.write(to: URL(filePath: copy.appending("home/.cache/imagefeed/index.sqlite")))
        let second = try PhotosFixture(copy)
        #expect(try await second.photos().map(\.id) == ids)
        try await second.ready()
    }

    @Test func `photos are served while the cache is deleted`() async throws {
        let folder = try await PhotosFixture.ready(["a.jpg"])
        try folder.deleteCache()
        try folder.add("b.jpg", seconds: 2_000_000)
        try await folder.shows(["b", "a"])
    }

    @Test(arguments: ["entries", "unreported", "order", "nothing"])
    func `photos are found again after a noticed loss of the index`(by next: String) async throws {
        let fixture = try await PhotosFixture.ready(["a.jpg"])
        let folder = fixture.session.folder
        let id = try await fixture.id("a")
        try fixture.deleteCache()
        // The folder itself may have noticed it first.
        _ = try? await folder.store.run { _ in }
        switch next {
        case "entries": await folder.scan([])
        case "unreported": await folder.scanUnreported()
        case "order": folder.change(LocalSettings(order: "modified"))
        default: break
        }
        #expect(try await fixture.session.photo(id).id == id)
        #expect(try await fixture.titles() == ["a"])
        try await fixture.ready()
    }

    @Test func `a file in the place of the pictures folder is reported as such`() async throws {
        let directory = try TemporaryDirectory()
        try directory.write("", to: "home/file")
        let folder = try PhotosFixture(directory, root: "home/file")
        let reason = try await folder.events.wait { $0.compactMap(\.failure).first }
        #expect(reason.english == "\(folder.root) is not a folder.")
    }

    @Test func `photos are served without a cache folder`() async throws {
        let directory = try TemporaryDirectory()
        try directory.write("a file instead of the folder", to: "home/.cache/imagefeed")
        let folder = try PhotosFixture(directory, photos: ["a.jpg"])
        #expect(try await folder.titles() == ["a"])
        try folder.add("b.jpg", seconds: 2_000_000)
        try await folder.shows(["b", "a"])
    }

    @Test func `a closed session ends its events`() async throws {
        let folder = try PhotosFixture(photos: ["a.jpg"])
        folder.session.close()
        for await _ in folder.session.events {}
    }
}
