import FoundationEssentials
import Glibc
import ProviderKit
import TestSupport
import Testing

@testable import LocalProvider

@Suite(.timeLimit(.minutes(10))) struct ChangesTests {
    private static func album(_ path: String) -> SourceID { SourceID("album:\(path)") }

    @Test func `a photo that was added and deleted between two reports is reported`() throws {
        var changes = IndexChanges()
        changes.add(1, in: .root)
        // A client may have read the index here.
        changes.remove(1, from: .root)
        #expect(!changes.isEmpty && changes.removed.isEmpty)
        let updates = changes.sourceEvents.compactMap { event -> String? in
            if case .updated(let source, let new) = event { "\(source) \(new)" } else { nil }
        }
        #expect(updates == ["all 0"])
    }

    @Test func `ids are the same after a restart and without the cache`() async throws {
        let first = try await PhotosFixture.ready(["a.jpg", "b/c.jpg"])
        let ids = try await first.photos().map(\.id)
        first.session.close()
        let second = try PhotosFixture(first.directory)
        #expect(try await second.photos().map(\.id) == ids)
        try await second.ready()
        second.session.close()
        try FileManager.default.removeItem(atPath: second.cache)
        let third = try PhotosFixture(first.directory)
        #expect(try await third.photos().map(\.id) == ids)
    }

    @Test func `a new photo is reported with a count`() async throws {
        let folder = try await PhotosFixture.ready(["a.jpg"])
        let before = folder.events.value.count
        try folder.add("new/b.jpg", seconds: 2_000_000)
        try await folder.shows(["b", "a"])
        try await folder.updated(.all, new: 1, after: before)
        try await folder.updated(Self.album("new"), new: 1, after: before)
    }

    /// The order of events that `cp -a`, `rsync -a` and archive programs cause.
    @Test func `a photo in a folder that changes at the same time is found once`() async throws {
        let folder = try await PhotosFixture.ready(["new/a.jpg"])
        try folder.add("new/b.jpg", seconds: 2_000_000)
        PhotosFixture.touch(folder.path("new"), seconds: 1_000_000)
        try await folder.shows(["b", "a"])
        try folder.add("c.jpg", seconds: 3_000_000)
        try await folder.shows(["c", "b", "a"])
    }

    @Test func `a file that gets its name when it is complete is found`() async throws {
        let folder = try await PhotosFixture.ready(["a.jpg"])
        try folder.directory.write("", to: "tmp/whole")
        let whole = folder.directory.appending("tmp/whole")
        try PhotosFixture.write(PhotosFixture.jpeg, to: whole)
        PhotosFixture.touch(whole, seconds: 2_000_000)
        try check(link(whole, folder.path("b.jpg")))
        try check(unlink(whole))
        try await folder.shows(["b", "a"])
    }

    @Test(arguments: [("a", 3_000_000), ("b", 500_000)])
    func `a photo with a new date moves, and is not new`(title: String, seconds: Int) async throws {
        let folder = try await PhotosFixture.ready(["x/a.jpg", "x/b.jpg"])
        let id = try await folder.id(title)
        let before = folder.events.value.count
        PhotosFixture.touch(folder.path("x/\(title).jpg"), seconds: seconds)
        try await folder.shows(["a", "b"])
        try await folder.changed(id, after: before)
        try await folder.updated(.all, new: 0, after: before)
        try await folder.updated(Self.album("x"), new: 0, after: before)
        #expect(try await folder.id(title) == id)
    }

    @Test func `a photo is removed while it is overwritten with text`() async throws {
        let folder = try await PhotosFixture.ready(["a.jpg", "b.jpg"])
        let id = try await folder.id("a")
        let path = Array(folder.path("a.jpg").utf8)
        try PhotosFixture.write(Array("dear diary".utf8), to: path)
        try await folder.removed([id])
        try PhotosFixture.write(PhotosFixture.jpeg, to: path)
        try await folder.shows(["a", "b"])
    }

    @Test func `a moved photo keeps its id`() async throws {
        let folder = try await PhotosFixture.ready(["x/a.jpg", "x/b.jpg", "y/c.jpg"])
        let id = try await folder.id("a")
        var before = folder.events.value.count
        try folder.move("x/a.jpg", to: "x/z.jpg")
        try await folder.changed(id, after: before)
        #expect(try await folder.id("z") == id)
        before = folder.events.value.count
        try folder.move("x/z.jpg", to: "y/z.jpg")
        try await folder.updated(Self.album("y"), new: 1, after: before)
        try await folder.updated(Self.album("x"), new: 0, after: before)
        #expect(try await folder.id("z") == id)
        #expect(try await folder.titles(Self.album("y")) == ["c", "z"])
        #expect(try await folder.titles(Self.album("x")) == ["b"])
        #expect(folder.events.value.flatMap(\.removed) == [])
    }

    @Test(arguments: [[3, 2, 1], [1, 2, 3]])
    func `renumbered photos keep their IDs`(_ order: [Int]) async throws {
        let folder = try await PhotosFixture.ready(["1.jpg", "2.jpg", "3.jpg"])
        var ids: [PhotoID] = []
        for number in 1...3 { ids.append(try await folder.id("\(number)")) }
        // Either up by one from the last, or down by one from the first.
        let step = order[0] == 3 ? 1 : -1
        for number in order { try folder.move("\(number).jpg", to: "\(number + step).jpg") }
        try await folder.shows((1...3).reversed().map { "\($0 + step)" })
        for number in 1...3 { #expect(try await folder.id("\(number + step)") == ids[number - 1]) }
    }

    @Test func `photos that swap their names keep their IDs`() async throws {
        let folder = try await PhotosFixture.ready(["a.jpg", "b.jpg"])
        let (a, b) = (try await folder.id("a"), try await folder.id("b"))
        for (old, new) in [("a", "c"), ("b", "a"), ("c", "b")] {
            try folder.move("\(old).jpg", to: "\(new).jpg")
        }
        try await folder.become {
            try await folder.photos().contains { $0.title == "a" && $0.id == b }
        }
        #expect(try await folder.id("b") == a)
    }

    @Test func `a photo keeps its ID when it replaces another, which is removed`() async throws {
        let folder = try await PhotosFixture.ready(["a.jpg", "b.jpg"])
        let (a, b) = (try await folder.id("a"), try await folder.id("b"))
        try folder.move("b.jpg", to: "a.jpg")
        try await folder.removed([a])
        #expect(try await folder.id("a") == b)
    }

    @Test func `a photo that is moved over another keeps its ID beside a new photo`() async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg", "b.jpg"])
        let b = try await folder.id("b")
        try folder.move("b.jpg", to: "a.jpg")
        try folder.add("b.jpg", seconds: 9_000_000, bytes: PhotosFixture.jpeg + [9])
        _ = try await folder.session.refresh(.all)
        #expect(try await folder.id("a") == b)
        #expect(try await folder.id("b") != b)
    }

    @Test func `names that differ in Unicode normalization are different albums`() async throws {
        let names = ["Alb\u{e9}", "Albe\u{301}"]
        let folder = try await PhotosFixture.ready(names.map { "\($0)/\($0.utf8.count).jpg" })
        for name in names {
            #expect(try await folder.titles(Self.album(name)) == ["\(name.utf8.count)"])
        }
        #expect(Self.album(names[0]) != Self.album(names[1]))
    }

    @Test func `the photos in a renamed folder keep their IDs`() async throws {
        let folder = try await PhotosFixture.ready(["x/a.jpg", "x/deep/b.jpg"])
        let ids = try await folder.photos().map(\.id)
        try folder.move("x", to: "y")
        try await folder.showsSources(["all", "album:y", "album:y/deep"])
        #expect(try await folder.photos().map(\.id) == ids)
        try folder.add("y/deep/c.jpg", seconds: 2_000_000)
        try await folder.shows(["c", "b"], Self.album("y/deep"))
    }

    @Test func `the photos of a deleted folder are removed`() async throws {
        let folder = try await PhotosFixture.ready(["a.jpg", "x/b.jpg", "x/deep/c.jpg"])
        let ids = try await folder.photos().prefix(2).map(\.id)
        try FileManager.default.removeItem(atPath: folder.path("x"))
        try await folder.removed(Set(ids))
        try await folder.shows(["a"])
        #expect(try await folder.sourceIDs() == ["all"])
    }

    @Test func `the photos of a folder that a file replaces are removed`() async throws {
        let folder = try await PhotosFixture.ready(["a.jpg", "x/b.jpg"])
        try check(rename(folder.path("x"), folder.directory.appending("away")))
        try folder.add("x", seconds: 2_000_000)
        try await folder.shows(["x", "a"])
    }

    /// Creates a photo, and returns its descriptor.
    private func beginWriting(_ path: String) throws -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        try check(descriptor)
        _ = PhotosFixture.jpeg.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        return descriptor
    }

    @Test(arguments: [false, true])
    func `a file is found when its writer closes it`(replacesAnother: Bool) async throws {
        let folder = try await PhotosFixture.ready(
            replacesAnother ? ["a.jpg", "w.jpg"] : ["a.jpg"])
        if replacesAnother { unlink(folder.path("w.jpg")) }
        let descriptor = try beginWriting(folder.path("w.jpg"))
        fchmod(descriptor, 0o644)
        // A file that was not written to for some seconds counts as closed, so the writer does not pause.
        let isWriting = Observed(true)
        defer { isWriting.update { $0 = false } }
        onThread {
            while isWriting.value {
                _ = PhotosFixture.jpeg.withUnsafeBytes {
                    pwrite(descriptor, $0.baseAddress, $0.count, 0)
                }
                usleep(20_000)
            }
            close(descriptor)
        }
        try folder.add("marker.jpg", seconds: 2_000_000)
        try await folder.become { try await folder.titles().contains("marker") }
        let new = try await folder.session.refresh(.all)
        #expect(new == 0)
        if !replacesAnother { #expect(try await folder.titles() == ["marker", "a"]) }
        isWriting.update { $0 = false }
        try await folder.shows(["w", "marker", "a"])
    }

    @Test func `an open file that only a scan of everything has found is shown`() async throws {
        let folder = try await PhotosFixture.ready(["a.jpg"])
        let descriptor = try beginWriting(folder.path("w.jpg"))
        defer { close(descriptor) }
        // The events of the file are not reported, as those under the former path of a folder.
        let watcher = folder.session.folder.watcher
        watcher.readPendingEvents()
        _ = watcher.takeChanges()
        _ = try await folder.session.refresh(.all)
        try await folder.shows(["w", "a"])
    }

    @Test func `hidden files and files that are not images are ignored`() async throws {
        // The title ends before an extension of at most five characters, also before an unknown one.
        let folder = try PhotosFixture(photos: ["a.other", "b.txt", ".b.jpg", ".c/d.jpg"])
        try folder.add("text.jpg", seconds: 5, bytes: Array("dear diary".utf8))
        try folder.add("empty.jpg", seconds: 5, bytes: [])
        try await folder.ready()
        #expect(try await folder.titles() == ["a"])
        #expect(try await folder.photos().first?.mediaType == "image/jpeg")
    }

    @Test func `a pictures folder that is created later or again is scanned`() async throws {
        let folder = try PhotosFixture()
        rmdir(folder.root)
        rmdir(folder.directory.appending("home"))
        try await folder.event { $0.isFailed || $0.isReady }
        for round in 1...2 {
            try folder.add("x/\(round).jpg", seconds: round)
            try await folder.shows(["\(round)"])
            try await folder.events.wait { $0.compactMap(\.status).last == .ready ? true : nil }
            let count = folder.events.value.count
            try FileManager.default.removeItem(atPath: folder.root)
            try await folder.event(after: count) { $0.isFailed }
            #expect(try await folder.titles() == [])
        }
    }
}
