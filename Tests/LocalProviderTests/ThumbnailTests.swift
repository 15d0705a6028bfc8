import Glibc
import ImageMetadata
import ProviderKit
import System
import TestSupport
import Testing

@testable import LocalProvider

/// Smaller images of photos, in the folder that the programs of a desktop share.
@Suite(.timeLimit(.minutes(1)))
struct ThumbnailTests {
    private let images = ScriptedWorkshop()
    private let world: PhotosFixture

    init() throws { world = try PhotosFixture(photos: ["a b.jpg"], images: images) }

    private var shared: String { world.directory.appending("home/.cache/thumbnails") }

    private func texts(_ path: String) -> [String: String]? {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        return PNGFile.texts(FileBytes(descriptor: descriptor))
    }

    /// Writes a thumbnail as another program would.
    private func place(_ texts: [String: String], at path: String) throws {
        PhotosFixture.makeFolder(String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]))
        try PhotosFixture.write(
            PNGFile.plain(RGBColor(1), width: 1, height: 1, texts: texts), to: Array(path.utf8))
    }

    @Test(arguments: [
        (ImageSize.thumb, "large", 256), (.small, "x-large", 512), (.regular, "xx-large", 1024),
    ])
    func `a thumbnail is made once, and says of what`(
        size: ImageSize, folder: String, pixels: Int
    ) async throws {
        let id = try await world.id("a b")
        let path = try await world.session.imagePath(id, size)
        #expect(path.hasPrefix("\(shared)/\(folder)/") && path.hasSuffix(".png"))
        let texts = try #require(self.texts(path))
        #expect(texts["Thumb::URI"] == "file://\(world.root)/a%20b.jpg")
        #expect(texts["Thumb::MTime"] == "1000000")
        #expect(try await world.session.imagePath(id, size) == path)
        #expect(images.made.value == ["\(pixels)"])
        // Only the user can look into the folder.
        var status = stat()
        #expect(stat("\(shared)/\(folder)", &status) == 0 && status.st_mode & 0o777 == 0o700)
    }

    private func photo(_ path: String) -> Thumbnails.Photo {
        Thumbnails.Photo(
            path: Array(path.utf8), stamp: FileStamp(inode: 0, sizeBytes: 0, modified: 0))
    }

    @Test func `its name is the one that all programs know`() async throws {
        let other = Thumbnails(
            folder: shared, version: "1", images: images, photos: FileThreads())
        let folder = world.directory.appending("home/photos")
        PhotosFixture.makeFolder(folder)
        try PhotosFixture.write([1], to: Array("\(folder)/me.png".utf8))
        let path = try await other.path(of: photo("\(folder)/me.png"), .large)
        let uri = "file://\(folder)/me.png"
        #expect(texts(path)?["Thumb::URI"] == uri)
        let sum = path.dropLast(4).suffix(32)
        #expect(sum.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) } && sum.count == 32)
    }

    @Test func `what another program has made is used`() async throws {
        let id = try await world.id("a b")
        let path = try await world.session.imagePath(id, .thumb)
        unlink(path)
        try place(
            ["Thumb::URI": "file://\(world.root)/a%20b.jpg", "Thumb::MTime": "1000000"], at: path)
        #expect(try await world.session.imagePath(id, .thumb) == path)
        #expect(images.made.value.count == 1)
        #expect(texts(path)?["Software"] == nil)
    }

    @Test(arguments: [
        ["Thumb::URI": "file:///elsewhere.jpg", "Thumb::MTime": "1000000"],
        ["Thumb::URI": "", "Thumb::MTime": "999999"],
        ["Thumb::URI": "", "Thumb::MTime": "1000000", "Thumb::Size": "1"], [:],
    ])
    func `what is of another photo, or of another time, is made anew`(
        texts: [String: String]
    ) async throws {
        var texts = texts
        if texts["Thumb::URI"] == "" { texts["Thumb::URI"] = "file://\(world.root)/a%20b.jpg" }
        let id = try await world.id("a b")
        let path = try await world.session.imagePath(id, .thumb)
        try place(texts, at: path)
        #expect(try await world.session.imagePath(id, .thumb) == path)
        #expect(images.made.value.count == 2)
    }

    @Test func `a photo that changed gets another thumbnail`() async throws {
        let id = try await world.id("a b")
        _ = try await world.session.imagePath(id, .thumb)
        PhotosFixture.touch(world.path("a b.jpg"), seconds: 2_000_000)
        let path = try await world.session.imagePath(id, .thumb)
        #expect(texts(path)?["Thumb::MTime"] == "2000000")
    }

    @Test func `what many want at once is made once`() async throws {
        let id = try await world.id("a b")
        images.isHeld.update { $0 = true }
        let calls = (0..<5).map { _ in
            Task { try await world.session.openImage(id, .thumb) }
        }
        _ = try await images.made.elements(1)
        images.isHeld.update { $0 = false }
        for call in calls { close(try await call.value) }
        #expect(images.made.value.count == 1)
    }

    @Test func `a descriptor stays good when the thumbnail is deleted`() async throws {
        let id = try await world.id("a b")
        let descriptor = try await world.session.openImage(id, .thumb)
        defer { close(descriptor) }
        unlink(try await world.session.imagePath(id, .thumb))
        var bytes: [UInt8] = [0, 0, 0, 0]
        #expect(read(descriptor, &bytes, 4) == 4 && bytes[1...] == Array("PNG".utf8)[...])
        // And the next one is made again.
        close(try await world.session.openImage(id, .thumb))
        #expect(images.made.value.count == 2)
    }

    @Test func `a photo that cannot be decoded is not tried again until it changes`() async throws {
        let id = try await world.id("a b")
        images.error.update { $0 = .damaged }
        for _ in 0..<2 {
            await #expect(throws: ProviderError.self) {
                try await world.session.imagePath(id, .thumb)
            }
        }
        #expect(images.made.value.count == 1)
        PhotosFixture.touch(world.path("a b.jpg"), seconds: 2_000_000)
        images.error.update { $0 = nil }
        _ = try await world.session.imagePath(id, .thumb)
        #expect(images.made.value.count == 2)
    }

    @Test(arguments: [
        ImageProcessorError.notSupported("install it"), .storageFull, .failed("it broke down"),
    ])
    func `what may be better next time is tried again`(error: ImageProcessorError) async throws {
        let id = try await world.id("a b")
        images.error.update { $0 = error }
        await #expect(throws: error.asProviderError) {
            try await world.session.imagePath(id, .thumb)
        }
        images.error.update { $0 = nil }
        _ = try await world.session.imagePath(id, .thumb)
    }

    @Test func `a thumbnail is its own thumbnail`() async throws {
        let thumbnails = Thumbnails(
            folder: shared, version: "1", images: images, photos: FileThreads())
        let path = "\(shared)/normal/x.png"
        #expect(try await thumbnails.path(of: photo(path), .large) == path)
        await #expect(throws: ProviderError.self) {
            try await thumbnails.path(of: photo("/nowhere/x.png"), .large)
        }
        #expect(images.made.value.isEmpty)
    }
}
