import FoundationEssentials
import Glibc
import ProviderKit
import TestSupport
import Testing

@testable import LocalProvider

/// Files and folders that are not shown.
@Suite(.timeLimit(.minutes(10))) struct HiddenFilesTests {
    @Test(arguments: [
        ".hidden/a.jpg", "@eaDir/a.jpg", "#recycle/a.jpg", "$RECYCLE.BIN/a.jpg", "lost+found/a.jpg",
        "System Volume Information/x/a.jpg", "x/@eaDir/y/a.jpg", ".trashed-1-a.jpg", "a.jpg~",
        "a.jpg.orig", "a.jpg_original", "x/.a.jpg",
    ])
    func `a file of the system or a backup is never a photo`(name: String) async throws {
        let folder = try await PhotosFixture.ready(["b.jpg", name])
        #expect(try await folder.titles() == ["b"])
        // Also when it arrives later.
        try FileManager.default.removeItem(atPath: folder.path(name))
        try folder.add(name, seconds: 3_000_000)
        try folder.add("c.jpg", seconds: 4_000_000)
        try await folder.shows(["c", "b"])
        #expect(try await folder.titlesAfterScan() == ["c", "b"])
    }

    /// The headers of a JPEG image.
    private let picture = RawFilesTests.picture(width: 1000)

    /// A DNG file with a preview, which is as wide as `width`.
    private func raw(width: Int = 1000) -> [UInt8] {
        let preview = RawFilesTests.picture(width: width)
        let number = { RawFilesTests.little($0, $1) }
        var bytes = Array("II*\0".utf8) + [8, 0, 0, 0, 4, 0]
        // Compression, offset and size of the preview, and the version of DNG.
        for (tag, type, value) in [
            (0x103, 3, 7), (0x111, 4, 62), (0x117, 4, preview.count), (0xc612, 1, 0x401),
        ] {
            bytes +=
                number(tag, 2) + number(type, 2) + number(type == 1 ? 4 : 1, 4) + number(value, 4)
        }
        return bytes + [0, 0, 0, 0] + preview
    }

    @Test(arguments: ["x/a.jpg", "x/a.JPEG", "x/a.heic", "x/a.Jpg"])
    func `a raw file is a photo only without a picture of its name`(name: String) async throws {
        let folder = try await PhotosFixture.scanned(["b.jpg"])
        try folder.add("x/a.dng", seconds: 2_000_000, bytes: raw())
        try folder.add("x/c.NEF", seconds: 1_000_000, bytes: raw(width: 800))
        try await folder.shows(["a", "b"])
        let id = try await folder.id("a")
        _ = try await folder.session.setLiked(id, true)
        try folder.add(name, seconds: 3_000_000, bytes: picture)
        try await folder.become { try await folder.titles(.likes) == [] }
        #expect(try await folder.titles() == ["a", "b"])
        #expect(try await folder.id("a") != id)
        #expect(try await folder.titlesAfterScan() == ["a", "b"])
        unlink(folder.path(name))
        try await folder.become { try await folder.titles(.likes) == ["a"] }
        #expect(try await folder.id("a") == id)
        #expect(try await folder.titles() == ["a", "b"])
        let again = try await folder.restarted { try folder.overwrite(name, picture) }
        #expect(try await again.titles().count == 2)
        #expect(try await again.titles(.likes) == [])
    }

    @Test(arguments: [
        ("a.ori", "a.jpg"), ("a.mrw", "a.jpg"), ("a.CRW", "a.JPG"), ("a.x3f", "a.jpg"),
        ("a.k25", "a.jpg"), ("a.3FR", "a.jpg"), ("a.dng", "a.jfif"), ("a.arw", "a.jpe"),
        ("a.ORF", "a.jPg"), ("a.Raf", "a.HiF"),
    ])
    func `a picture of any ending hides a raw file of any ending`(raw: String, picture: String) {
        func path(_ name: String) -> RelativePath { RelativePath(bytes: Array("x/\(name)".utf8)) }
        let filter = PhotoFilter()
        let names = Set([path(raw), path(picture)])
        #expect(filter.pictures(besideRaw: path(raw), among: names) == [path(picture)])
        #expect(filter.pictures(besideRaw: path(raw), among: nil).contains(path(picture)))
        #expect(filter.rawFiles(besidePicture: path(picture)).contains(path(raw)))
    }

    @Test(arguments: [[], Array("no picture".utf8)])
    func `a file that is no picture hides no raw file`(bytes: [UInt8]) async throws {
        let folder = try await PhotosFixture.ready(["b.jpg"])
        try folder.overwrite("a.jpg", bytes)
        try folder.add("a.Nrw", seconds: 2_000_000, bytes: raw())
        try await folder.shows(["a", "b"])
        for _ in 0..<2 { #expect(try await folder.titlesAfterScan() == ["a", "b"]) }
        try folder.add("a.jpg", seconds: 500_000, bytes: picture)
        try await folder.shows(["b", "a"])
        try folder.overwrite("a.jpg", bytes)
        try await folder.shows(["a", "b"])
    }

    @Test func `a damaged picture hides no raw file`() async throws {
        let folder = try await PhotosFixture.ready(["b.jpg"])
        try folder.add("a.jpg", seconds: 3_000_000, bytes: [0xff, 0xd8, 0xff, 0xe0, 0, 0])
        try folder.add("a.nef", seconds: 2_000_000, bytes: raw())
        try await folder.shows(["a", "a", "b"])
        #expect(try await folder.titlesAfterScan() == ["a", "a", "b"])
    }

    @Test func `files that begin with a sign are photos`() async throws {
        let folder = try await PhotosFixture.ready(["@a.jpg", "#b.jpg", "x/c~d.jpg"])
        #expect(try await folder.titles() == ["c~d", "#b", "@a"])
    }

    @Test(arguments: [".nomedia", ".noimage", ".NoMedia"])
    func `a file hides its folder and those below while it exists`(name: String) async throws {
        let folder = try await PhotosFixture.ready(["a.jpg", "x/b.jpg", "x/y/c.jpg"])
        try PhotosFixture.write([], to: Array(folder.path("x/\(name)").utf8))
        try await folder.shows(["a"])
        #expect(try await folder.sourceIDs() == ["all"])
        // What changes in hidden folders stays hidden.
        try folder.add("x/d.jpg", seconds: 2_000_000)
        try folder.add("x/z/e.jpg", seconds: 3_000_000)
        try folder.add("f.jpg", seconds: 4_000_000)
        try await folder.shows(["f", "a"])
        unlink(folder.path("x/\(name)"))
        try await folder.shows(["f", "e", "d", "c", "b", "a"])
        let again = try await folder.restarted { try folder.overwrite(name, []) }
        #expect(try await again.titles() == [])
        unlink(folder.path(name))
        try await again.become { try await again.titles().count == 6 }
    }

    @Test func `a link shows a folder below a hidden one`() async throws {
        let folder = try PhotosFixture(photos: ["n/sub/a.jpg", "ok/b.jpg"])
        try check(symlink("../n/sub", folder.path("ok/link")))
        try await folder.ready()
        #expect(try await folder.sourceIDs() == ["all", "album:n/sub", "album:ok"])
        try folder.overwrite("n/.nomedia", [])
        try await folder.showsSources(["all", "album:ok", "album:ok/link"])
        _ = try await folder.session.refresh(.all)
        #expect(try await folder.sourceIDs() == ["all", "album:ok", "album:ok/link"])
        try folder.move("n/.nomedia", to: "ok/.nomedia")
        try await folder.showsSources(["all", "album:n/sub"])
        unlink(folder.path("ok/.nomedia"))
        try await folder.showsSources(["all", "album:n/sub", "album:ok"])
    }

    @Test func `excluded photos are in no source, and keep their likes`() async throws {
        let folder = try await PhotosFixture.scanned(
            ["a.jpg", "x/b.jpg", "x/y/c.gif", "z.gif"], liking: "b", "z")
        let ids = try await [folder.id("b"), folder.id("z")]
        folder.provider.change(LocalSettings(exclusions: PathPatterns(list: "x/*;*.gif")))
        try await folder.shows(["a"])
        #expect(try await folder.titles(.likes) == [])
        #expect(folder.session.folder.marks.count(of: "ada") == 0)
        try folder.add("y.gif", seconds: 2_000_000)
        try folder.add("d.jpg", seconds: 3_000_000)
        try await folder.shows(["d", "a"])
        folder.provider.change(LocalSettings(exclusions: PathPatterns(list: "*.gif")))
        try await folder.shows(["d", "b", "a"])
        folder.provider.change(LocalSettings(exclusions: PathPatterns(list: "")))
        try await folder.become { try await folder.titles(.likes) == ["z", "b"] }
        #expect(try await [folder.id("b"), folder.id("z")] == ids)
    }

    @Test func `folders that are too deep are mentioned in a notice`() async throws {
        let path = (0..<70).map { "f\($0)" }.joined(separator: "/")
        let folder = try await PhotosFixture.ready(["a.jpg", "\(path)/b.jpg"])
        #expect(try await folder.titles() == ["a"])
        try await folder.event { $0.notices?.contains { $0.contains("f0/f1") } == true }
        let before = folder.events.value.count
        try FileManager.default.removeItem(atPath: folder.path("f0/f1"))
        try await folder.event(after: before) {
            $0.notices?.contains { $0.contains("f0/f1") } == false
        }
    }
}
