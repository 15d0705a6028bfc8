import FoundationEssentials
import Glibc
import ProviderKit
import System
import TestSupport
import Testing

@testable import LocalProvider

@Suite(.timeLimit(.minutes(10))) struct LinksTests {
    @Test func `links to files are separate photos`() async throws {
        let folder = try await PhotosFixture.ready(["a.jpg"])
        try check(link(folder.path("a.jpg"), folder.path("hard.jpg")))
        try check(symlink("a.jpg", folder.path("soft.jpg")))
        try check(symlink("nowhere", folder.path("broken.jpg")))
        try await folder.become { try await Set(folder.titles()) == ["a", "hard", "soft"] }
        unlink(folder.path("hard.jpg"))
        try await folder.become { try await Set(folder.titles()) == ["a", "soft"] }
    }

    @Test(arguments: [false, true])
    func `links to parent folders add no photos`(isThereFirst: Bool) async throws {
        let folder = try PhotosFixture(photos: ["a.jpg", "x/b.jpg", "x/y/c.jpg"])
        if !isThereFirst { try await folder.ready() }
        let made = folder.directory.appending("tmp/made")
        PhotosFixture.makeFolder(made)
        let links = [
            "self": "self", "root": folder.root, "home": folder.directory.path, "top": "/",
            "x": "../x",
        ]
        for (name, target) in links { try check(symlink(target, "\(made)/\(name)")) }
        try check(symlink("../..", folder.path("x/y/up")))
        try check(rename(made, folder.path("made")))
        try folder.add("z.jpg", seconds: 9_000_000)
        try await folder.shows(["z", "c", "b", "a"])
        #expect(try await folder.sourceIDs() == ["all", "album:x", "album:x/y"])
        try folder.add("x/later.jpg", seconds: 9_000_001)
        try await folder.shows(["later", "b"], SourceID("album:x"))
        _ = try await folder.session.refresh(.all)
        #expect(try await folder.sourceIDs() == ["all", "album:x", "album:x/y"])
    }

    @Test func `a link to a folder outside of the pictures folder is followed once`() async throws {
        let folder = try PhotosFixture(photos: ["a.jpg"])
        let elsewhere = folder.directory.appending("elsewhere")
        try folder.add("../../elsewhere/deep/b.jpg", seconds: 5)
        try await folder.ready()
        try check(symlink(elsewhere, folder.path("one")))
        try await folder.shows(["a", "b"])
        try check(symlink(elsewhere, folder.path("two")))
        try check(symlink("\(elsewhere)/deep", folder.path("three")))
        try folder.add("one/deep/c.jpg", seconds: 6)
        try await folder.shows(["a", "c", "b"])
        #expect(try await folder.sourceIDs() == ["all", "album:one/deep"])
        unlink(folder.path("one"))
        try await folder.become { try await !folder.sourceIDs().contains("album:one/deep") }
        try await folder.shows(["a", "c", "b"])
        #expect(try await folder.sourceIDs().count == 2)
    }

    @Test func `names other than UTF-8 are percent-encoded and served by a link`() async throws {
        let folder = try PhotosFixture(photos: ["100%/a.jpg"])
        let name = Array(folder.root.utf8) + [0x2f, 0xe9, 0x2f]
        try check(withCPath(name) { mkdir($0, 0o700) })
        try PhotosFixture.write(PhotosFixture.jpeg, to: name + [0xfc, 0x2e, 0x6a])
        try await folder.ready()
        #expect(try await folder.sourceIDs() == ["all", "album:100%25", "album:%E9"])
        let photo = try #require(try await folder.photos(SourceID("album:%E9")).first)
        #expect(photo.title == "\u{fffd}")
        let path = try await folder.session.imagePath(photo.id, .full)
        #expect(path.hasPrefix(folder.cache))
        #expect(try Data(contentsOf: URL(filePath: path)) == Data(PhotosFixture.jpeg))
        try folder.deleteCache()
        let again = try await folder.session.imagePath(photo.id, .full)
        #expect(try Data(contentsOf: URL(filePath: again)) == Data(PhotosFixture.jpeg))
    }

    @Test(arguments: ["deleted", "text", "renamed", "folder"])
    func `the link to a photo in the cache is removed with the photo`(change: String) async throws {
        let folder = try PhotosFixture(photos: ["a.jpg"])
        let name = Array(folder.root.utf8) + [0x2f, 0xfc, 0x2e, 0x6a]
        try PhotosFixture.write(PhotosFixture.jpeg, to: name)
        try await folder.ready()
        let id = try await folder.id("\u{fffd}")
        let link = try await folder.session.imagePath(id, .full)
        #expect(readTarget(Array(link.utf8)) != nil)
        switch change {
        case "deleted": try check(withCPath(name) { unlink($0) })
        case "text": try PhotosFixture.write(Array("dear diary".utf8), to: name)
        case "renamed":
            try check(withCPath(name) { rename($0, folder.path("b.jpg")) })
        default:
            folder.session.close()
            let other = try PhotosFixture(folder.directory, root: "elsewhere")
            try await other.event { $0.isFailed }
        }
        if change == "renamed" { try await folder.changed(id) }
        if ["deleted", "text"].contains(change) { try await folder.removed([id]) }
        #expect(readTarget(Array(link.utf8)) == nil)
    }

    @Test(arguments: ["x", "elsewhere", ""])
    func `the photos of a former target of a link are removed`(target: String) async throws {
        let folder = try PhotosFixture(photos: ["a.jpg", "x/b.jpg"])
        try folder.add("../../old/c.jpg", seconds: 5)
        try folder.add("../../old/deep/e.jpg", seconds: 6)
        try folder.add("../../elsewhere/d.jpg", seconds: 4)
        try check(symlink(folder.directory.appending("elsewhere"), folder.path("other")))
        try check(symlink(folder.directory.appending("old"), folder.path("link")))
        try await folder.ready()
        #expect(try await folder.titles() == ["b", "a", "e", "c", "d"])
        let new = target == "elsewhere" ? folder.directory.appending(target) : folder.path(target)
        try check(symlink(new, folder.directory.appending("tmp/new")))
        try check(rename(folder.directory.appending("tmp/new"), folder.path("link")))
        try await folder.shows(["b", "a", "d"])
    }

    @Test(arguments: ["replaced", "deleted", "moved", "folder deleted"])
    func `a link's target is watched while the link exists`(change: String) async throws {
        let folder = try PhotosFixture(photos: ["a.jpg", "x/y/b.jpg"])
        let target = folder.directory.appending("target.jpg")
        try PhotosFixture.write(PhotosFixture.jpeg + [7], to: target)
        let link = folder.path("x/y/link.jpg")
        try check(symlink(target, link))
        try await folder.ready()
        func links() -> [String] {
            folder.session.folder.watcher.links(near: [Array(target.utf8)]).map {
                String(decoding: $0.bytes, as: UTF8.self)
            }
        }
        #expect(links() == ["x/y/link.jpg"])
        let before = folder.events.value.count
        switch change {
        case "replaced": try folder.add("x/y/link.jpg", seconds: 9_000_000)
        case "deleted": unlink(link)
        case "moved": try check(rename(link, folder.path("link.jpg")))
        default: try FileManager.default.removeItem(atPath: folder.path("x"))
        }
        _ = try await folder.events.elements(before + 1)
        // Waits for the end of the scan.
        await folder.session.folder.scan([])
        #expect(links() == (change == "moved" ? ["link.jpg"] : []))
    }

    @Test(arguments: ["", "a", "a/b", "%", "ä/😀", "%25", "a//b", "a\nb", "a\u{202e}"])
    func `the path of an album is restored from its ID`(path: String) {
        let relative = RelativePath(bytes: Array(path.utf8))
        #expect(RelativePath(percentEncoded: relative.percentEncoded) == relative)
    }

    @Test func `the ID of an album has no controls and no characters that change the direction`() {
        let path = RelativePath(bytes: Array("ä b\n\u{85}\u{202e}".utf8))
        #expect(path.percentEncoded == "ä b%0A%C2%85%E2%80%AE")
    }

    @Test(arguments: ["%", "%4", "%zz", "%41", "%e9", "a%", "a\nb"])
    func `an invalid album ID is rejected`(text: String) {
        #expect(RelativePath(percentEncoded: text) == nil)
    }
}
