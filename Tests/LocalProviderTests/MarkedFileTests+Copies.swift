import FoundationEssentials
import Glibc
import ProviderKit
import TestSupport
import Testing

@testable import LocalProvider

/// Likes of identical copies.
extension MarkedFileTests {
    @Test(arguments: Daemon.allCases)
    func `the likes of a deleted copy move to the other copy`(_ daemon: Daemon) async throws {
        let folder = try await copies()
        for name in ["bob", "cleo"] { try await folder.register(name) }
        for (name, title) in [("ada", "a"), ("bob", "b"), ("cleo", "a"), ("cleo", "b")] {
            let session = try PhotosFixture.session(name, of: folder.provider)
            #expect(try await session.setLiked(folder.id(title), true) != nil)
            session.close()
        }
        let again = try await change(folder, daemon) { unlink(folder.path("b.jpg")) }
        let likes = again.session.folder.marks
        let row = try #require(try await again.id("a").row)
        for name in ["ada", "bob", "cleo"] { #expect(likes.rows(of: name) == [row], "\(name)") }
        // A hidden like does not restore a like that the user has removed.
        let cleo = try PhotosFixture.session("cleo", of: again.provider)
        #expect(try await cleo.setLiked(again.id("a"), false) != nil)
        #expect(likes.count(of: "cleo") == 0)
        cleo.close()
        // The other likes are unchanged after a restart.
        let third = try await change(again, .stopped)
        #expect(third.session.folder.marks.rows(of: "ada") == [row])
        #expect(third.session.folder.marks.rows(of: "bob") == [row])
        #expect(third.session.folder.marks.rows(of: "cleo") == [])
    }

    @Test func `the user whose like moves to a copy is notified`() async throws {
        let folder = try await copies()
        try await folder.register("bob")
        let bob = try PhotosFixture.session("bob", of: folder.provider)
        #expect(try await bob.setLiked(folder.id("a"), true) != nil)
        bob.close()
        try await folder.like("b")
        let a = try await folder.id("a")
        let before = folder.events.value.count
        unlink(folder.path("b.jpg"))
        try await folder.event(after: before) { $0.changed.contains { $0.id == a && $0.isLiked } }
    }

    @Test func `a like moves to another name of its file`() async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg"])
        try check(link(folder.path("a.jpg"), folder.path("b.jpg")))
        try await scan(folder)
        try await folder.like("a")
        // No event reports the date under the other name.
        PhotosFixture.touch(folder.path("a.jpg"), seconds: 5_000_000)
        unlink(folder.path("a.jpg"))
        let path = FolderWatcher.Entry(path: RelativePath(bytes: Array("a.jpg".utf8)))
        await folder.session.folder.scan([path])
        #expect(try await liked(folder) == ["b"])
    }

    @Test func `copies that were at one path in turn are separate photos`() async throws {
        let folder = try await copies()
        for title in ["a", "b"] { try await folder.like(title) }
        unlink(folder.path("b.jpg"))
        try await scan(folder)
        try folder.move("a.jpg", to: "b.jpg")
        try await scan(folder)
        let again = try await change(folder, .wiped) {
            try folder.overwrite("c.jpg", PhotosFixture.jpeg + [1])
        }
        #expect(try await again.titles().sorted() == ["b", "c"])
        #expect(try await liked(again) == ["b", "c"])
    }

    @Test func `an edited copy with the date of its original stays marked`() async throws {
        let first = try await PhotosFixture.scanned(["a.jpg"], liking: "a")
        let (path, copy) = (first.path("a.jpg"), first.directory.appending("tmp/copy"))
        let second = try await change(
            first, .stopped,
            { try Data(contentsOf: URL(filePath: path)).write(to: URL(filePath: copy)) },
            { PhotosFixture.touch(copy, seconds: 1_000_000) },
            { try check(rename(copy, path)) })
        #expect(try await liked(second) == ["a"])
        let third = try await change(second, .stopped) {
            try second.overwrite("a.jpg", PhotosFixture.jpeg + [7])
        }
        #expect(try await liked(third) == ["a"])
    }

    @Test(arguments: [true, false])
    func `a copy of a hidden photo does not get its like`(isExcluded: Bool) async throws {
        let (folder, id) = try await likedPhoto(among: ["x/a.jpg", "y/b.jpg"])
        let marker = folder.path("x/.nomedia")
        if isExcluded {
            folder.provider.change(LocalSettings(exclusions: PathPatterns(list: "x")))
        } else {
            try PhotosFixture.write([], to: marker)
        }
        try await folder.shows(["b"])
        try FileManager.default.copyItem(
            atPath: folder.path("x/a.jpg"), toPath: folder.path("y/copy.jpg"))
        try await scan(folder)
        #expect(try await Set(folder.titles()) == ["b", "copy"])
        #expect(try await liked(folder) == [])
        if isExcluded { folder.provider.change(LocalSettings()) } else { unlink(marker) }
        try await scan(folder)
        #expect(try await likedIDs(folder) == ["a": [id]])
    }

    @Test func `a restored copy has its like again`() async throws {
        let folder = try await copies()
        for title in ["a", "b"] { try await folder.like(title) }
        let kept = folder.directory.appending("tmp/kept")
        var again = try await change(folder, .refreshing) {
            try check(rename(folder.path("a.jpg"), kept))
        }
        #expect(try await liked(again) == ["b"])
        again = try await change(again, .running) { try check(rename(kept, folder.path("c.jpg"))) }
        #expect(try await liked(again) == ["b", "c"])
    }
}
