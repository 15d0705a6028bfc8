import Glibc
import ImageMetadata
import ProviderKit
import System
import TestSupport
import Testing
import Translation

@testable import LocalProvider

/// Thumbnails in the folder that the programs of a desktop share.
@Suite(.timeLimit(.minutes(10))) struct ThumbnailTests {
    private let images = ScriptedImageProcessor()
    private let fixture: PhotosFixture
    private let id: PhotoID

    init() async throws {
        fixture = try PhotosFixture(photos: ["a b.jpg"], images: images)
        id = try await fixture.id("a b")
    }

    @discardableResult
    private func thumbnail(_ size: ImageSize = .thumb) async throws -> String {
        try await fixture.session.imagePath(id, size)
    }

    private var shared: String { fixture.directory.appending("home/.cache/thumbnails") }

    private func texts(_ path: String) -> [String: String]? {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        return PNGFile.texts(FileBytes(descriptor: descriptor))
    }

    /// Writes a thumbnail as another program does.
    private func writeThumbnail(_ texts: [String: String], at path: String) throws {
        PhotosFixture.makeParent(of: path)
        try PhotosFixture.write(PNGFile.plain(1, width: 1, height: 1, texts: texts), to: path)
    }

    @Test(arguments: [
        (ImageSize.thumb, "large", 256), (.small, "x-large", 512), (.regular, "xx-large", 1024),
    ])
    func `a thumbnail is created once, and contains the URI of its photo`(
        size: ImageSize, folder: String, pixels: Int
    ) async throws {
        let path = try await thumbnail(size)
        #expect(path.hasPrefix("\(shared)/\(folder)/") && path.hasSuffix(".png"))
        let texts = try #require(self.texts(path))
        #expect(texts["Thumb::URI"] == "file://\(fixture.root)/a%20b.jpg")
        #expect(texts["Thumb::MTime"] == "1000000")
        #expect(try await thumbnail(size) == path)
        #expect(images.made.value == ["\(pixels)"])
        // The folder is private to the user.
        var status = stat()
        #expect(stat("\(shared)/\(folder)", &status) == 0 && status.st_mode & 0o777 == 0o700)
    }

    /// Returns the thumbnail of a file outside of the pictures folder.
    private func thumbnail(of file: String) async throws -> String {
        let thumbnails = Thumbnails(
            folder: shared, ownFolder: fixture.directory.appending("own"), version: "1",
            images: images, photos: FileThreads())
        let stamp = FileStamp(inode: 0, sizeBytes: 0, modified: 0)
        let large = try #require(Thumbnails.size(.thumb))
        return try await thumbnails.path(of: Array(file.utf8), stamp, large)
    }

    @Test func `the file name of a thumbnail follows the standard`() async throws {
        let folder = fixture.directory.appending("home/photos")
        PhotosFixture.makeFolder(folder)
        try PhotosFixture.write([1], to: "\(folder)/me.png")
        let path = try await thumbnail(of: "\(folder)/me.png")
        let uri = "file://\(folder)/me.png"
        #expect(texts(path)?["Thumb::URI"] == uri)
        let sum = path.dropLast(4).suffix(32)
        #expect(sum.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) } && sum.count == 32)
    }

    /// Tumbler writes the fraction of a time, and a time before 1970 without its sign.
    @Test(
        arguments: [
            (1_000_000, 0, "1000000", "1000000"),
            (1_000_000, 500_000_999, "1000000.500000", "1000000.5"),
            (1_000_000, 500_000_999, "1000000.500000", "1000000.500000"),
            (-315_619_201, 750_000_000, nil, "18446744073393932288.000000"),
        ] as [(Int, Int, String?, String)])
    func `a thumbnail of another program is used`(
        seconds: Int, nanoseconds: Int, ours: String?, time: String
    ) async throws {
        let photo = fixture.path("a b.jpg")
        PhotosFixture.touch(photo, seconds: seconds, nanoseconds: nanoseconds)
        let path = try await thumbnail()
        if let ours { #expect(texts(path)?["Thumb::MTime"] == ours) }
        unlink(path)
        try writeThumbnail(
            ["Thumb::URI": "file://\(fixture.root)/a%20b.jpg", "Thumb::MTime": time], at: path)
        #expect(try await thumbnail() == path)
        #expect(images.made.value.count == 1)
        #expect(texts(path)?["Software"] == nil)
    }

    @Test(arguments: [
        ["Thumb::URI": "file:///elsewhere.jpg", "Thumb::MTime": "1000000"],
        ["Thumb::URI": "", "Thumb::MTime": "999999"],
        ["Thumb::URI": "", "Thumb::MTime": "1000000", "Thumb::Size": "1"], [:],
    ])
    func `a thumbnail of another photo or date is replaced`(texts: [String: String]) async throws {
        var texts = texts
        if texts["Thumb::URI"] == "" { texts["Thumb::URI"] = "file://\(fixture.root)/a%20b.jpg" }
        let path = try await thumbnail()
        try writeThumbnail(texts, at: path)
        #expect(try await thumbnail() == path)
        #expect(images.made.value.count == 2)
    }

    @Test func `thumbnails are in our folder if the shared one cannot be used`() async throws {
        PhotosFixture.makeFolder(fixture.directory.appending("home/.cache"))
        symlink("/dev/null", shared)
        let path = try await thumbnail()
        #expect(path.hasPrefix("\(fixture.cache)/thumbnails/large/"))
        #expect(try await thumbnail() == path)
        #expect(images.made.value.count == 1)
    }

    @Test func `a changed photo gets a new thumbnail`() async throws {
        try await thumbnail()
        PhotosFixture.touch(fixture.path("a b.jpg"), seconds: 2_000_000)
        let path = try await thumbnail()
        #expect(texts(path)?["Thumb::MTime"] == "2000000")
    }

    @Test func `concurrent requests create one thumbnail`() async throws {
        images.isHeld.update { $0 = true }
        let calls = (0..<5).map { _ in Task { try await fixture.session.openImage(id, .thumb) } }
        _ = try await images.made.elements(1)
        images.isHeld.update { $0 = false }
        for call in calls { close(try await call.value) }
        #expect(images.made.value.count == 1)
    }

    @Test func `a descriptor stays valid when the thumbnail is deleted`() async throws {
        let descriptor = try await fixture.session.openImage(id, .thumb)
        defer { close(descriptor) }
        unlink(try await thumbnail())
        var bytes: [UInt8] = [0, 0, 0, 0]
        #expect(read(descriptor, &bytes, 4) == 4 && bytes[1...] == Array("PNG".utf8)[...])
        // The next request creates it again.
        close(try await fixture.session.openImage(id, .thumb))
        #expect(images.made.value.count == 2)
    }

    @Test func `a damaged photo is not decoded again until it changes`() async throws {
        images.error.update { $0 = .damaged }
        for _ in 0..<2 { await #expect(throws: ProviderError.self) { try await thumbnail() } }
        #expect(images.made.value.count == 1)
        PhotosFixture.touch(fixture.path("a b.jpg"), seconds: 2_000_000)
        images.error.update { $0 = nil }
        try await thumbnail()
        #expect(images.made.value.count == 2)
    }

    @Test func `a photo that has changed within a minute is decoded again`() async throws {
        PhotosFixture.touch(fixture.path("a b.jpg"), seconds: time(nil))
        images.error.update { $0 = .damaged }
        await #expect(throws: ProviderError.self) { try await thumbnail() }
        images.error.update { $0 = nil }
        try await thumbnail()
        #expect(images.made.value.count == 2)
    }

    @Test(arguments: [
        ImageProcessorError.notSupported(Message(verbatim: "install it")), .storageFull,
        .failed(Message(verbatim: "the helper crashed")),
    ])
    func `a temporary failure is tried again`(error: ImageProcessorError) async throws {
        images.error.update { $0 = error }
        await #expect(throws: error.providerError) { try await thumbnail() }
        images.error.update { $0 = nil }
        try await thumbnail()
    }

    @Test func `a photo that cannot be decoded is a notice until it can be`() async throws {
        func waitForNotice(_ isExpected: Bool) async throws {
            try await fixture.events.wait { events in
                let last = events.compactMap(\.notices).last
                let isShown = last?.contains("a b.jpg cannot be shown: It is a float.") == true
                return isShown == isExpected ? true : nil
            }
        }
        images.error.update { $0 = .notSupported(Message(verbatim: "It is a float.")) }
        await #expect(throws: ProviderError.self) { try await thumbnail() }
        try await waitForNotice(true)
        images.error.update { $0 = nil }
        try await thumbnail()
        try await waitForNotice(false)
    }

    @Test func `a thumbnail is its own thumbnail`() async throws {
        let path = "\(shared)/normal/x.png"
        #expect(try await thumbnail(of: path) == path)
        await #expect(throws: ProviderError.self) { try await thumbnail(of: "/nowhere/x.png") }
        #expect(images.made.value.isEmpty)
    }
}
