import EngineModel
import FoundationEssentials
import Glibc
import ProviderKit
import Storage
import Synchronization
import TestSupport
import Testing

@testable import LocalProvider

/// The likes of local users, and their files.
@Suite(.timeLimit(.minutes(10))) struct LikesTests {
    /// The number of files that were read for their content.
    private func reads(_ fixture: PhotosFixture) -> Int {
        fixture.session.folder.marks.digests.reads.load(ordering: .relaxed)
    }

    /// Copies a photo as other programs do: to another file, with another date.
    private func copy(_ name: String, to other: String, _ fixture: PhotosFixture) throws {
        let bytes = try Data(contentsOf: URL(filePath: fixture.path(name)))
        PhotosFixture.makeParent(of: fixture.path(other))
        try fixture.overwrite(other, Array(bytes))
    }

    @Test func `liked photos are marked in all sources and listed newest first`() async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg", "x/b.jpg", "c.jpg"])
        #expect(try await folder.photos(.likes) == [])
        let a = try await folder.id("a")
        let change = try #require(try await folder.session.setLiked(a, true))
        #expect(change.photo.isLiked)
        #expect((change.photo.id, change.count) == (a, 1))
        #expect(try await folder.session.setLiked(a, true) == nil)
        try await folder.like("b")
        #expect(try await folder.titles(.likes) == ["b", "a"])
        #expect(try await folder.photos(.likes, pageSize: 1).map(\.title) == ["b", "a"])
        #expect(try await folder.photos().map(\.isLiked) == [false, true, true])
        #expect(try await folder.session.photo(a).isLiked)
        let source = try #require(try await folder.session.sources().first { $0.kind == .likes })
        #expect(source.count == 2)
        #expect(source.cover == (try await folder.id("b")))
        #expect(try await folder.session.setLiked(a, false)?.count == 1)
        #expect(try await folder.session.setLiked(a, false) == nil)
        #expect(try await folder.titles(.likes) == ["b"])
        await #expect(throws: ProviderError.self) {
            try await folder.session.setLiked(PhotoID("0123456789abcdef"), true)
        }
    }

    @Test func `liking a photo whose file was just deleted reports its absence`() async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg"])
        let a = try await folder.id("a")
        try FileManager.default.removeItem(atPath: folder.path("a.jpg"))
        await expectThrown(ProviderError.notFound) { try await folder.session.setLiked(a, true) }
    }

    @Test func `each user has separate likes`() async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg", "b.jpg"])
        try await folder.register("bob")
        let bob = try PhotosFixture.session("bob", of: folder.provider)
        try await folder.like("a")
        let a = try await folder.id("a")
        #expect(try await !bob.photo(a).isLiked)
        #expect(try await bob.setLiked(a, true)?.count == 1)
        #expect(reads(folder) == 1)
        _ = try await folder.session.setLiked(a, false)
        #expect(try await bob.photo(a).isLiked)
        try await folder.provider.removeUser(AccountIdentity(username: "bob"))
        #expect(try await !bob.photo(a).isLiked)
        let database = try Database(
            path: folder.directory.appending("data/data.sqlite"), isDurable: true)
        for table in ["marked", "mark"] {
            #expect(try database.first("SELECT count(*) FROM \(table)") { $0.integer(0) } == 0)
        }
        bob.close()
    }

    @Test(arguments: [true, false])
    func `a like survives a restart, and no file is read`(withCache: Bool) async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg", "x/b.jpg"], liking: "b")
        let again = try await folder.restarted(withCache: withCache)
        #expect(try await again.titles(.likes) == ["b"])
        try await again.event { $0.likes == 1 }
        #expect(reads(again) == 0)
    }

    @Test func `a moved file keeps its like`() async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg", "x/b.jpg"], liking: "b")
        try folder.move("x", to: "y")
        try await folder.become { try await folder.sourceIDs().contains("album:y") }
        #expect(try await folder.titles(.likes) == ["b"])
        let again = try await folder.restarted {
            PhotosFixture.makeFolder(folder.path("z"))
            try folder.move("y/b.jpg", to: "z/c.jpg")
        }
        try await again.shows(["c"], .likes)
        #expect(reads(again) == 0)
        // Without the index, the file is found by its content.
        let third = try await again.restarted(withCache: false) {
            try folder.move("z/c.jpg", to: "d.jpg")
        }
        try await third.shows(["d"], .likes)
        #expect(reads(third) == 1)
    }

    @Test(arguments: [true, false])
    func `a file that is moved by copying keeps its like`(isRunning: Bool) async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg", "b.jpg"], liking: "a")
        func move() throws {
            try copy("a.jpg", to: "new/a.jpg", folder)
            unlink(folder.path("a.jpg"))
        }
        var again = folder
        if isRunning { try move() } else { again = try await folder.restarted(move) }
        try await again.become {
            let moved = try await again.photos(.all).filter(\.isLiked).map(\.id)
            let likes = try await again.photos(.likes).map(\.id)
            guard try await again.session.hasSource(SourceID("album:new")) else { return false }
            let album = try await again.photos(SourceID("album:new")).map(\.id)
            return album.count == 1 && moved == album && likes == album
        }
        #expect(again.session.folder.marks.count(of: "ada") == 1)
    }

    @Test func `an edited file keeps its like, which then follows the new content`() async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg", "b.jpg"], liking: "a")
        let id = try await folder.id("a")
        let before = folder.events.value.count
        try folder.add("a.jpg", seconds: 5_000_000, bytes: PhotosFixture.jpeg + [1, 2, 3])
        try await folder.changed(id, after: before)
        #expect(try await folder.titles(.likes) == ["a"])
        let files = try folder.session.folder.marks.storedFiles([#require(id.row)])
        #expect(files.map(\.stamp.modified) == [5_000_000_000_000_000])
        let again = try await folder.restarted(withCache: false) {
            try folder.move("a.jpg", to: "z.jpg")
        }
        try await again.shows(["z"], .likes)
    }

    /// The order of operations of `exiftool`, whose backups are no photos.
    @Test func `a replaced photo keeps its like, and its backup is no photo`() async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg"], liking: "a")
        try folder.move("a.jpg", to: "a.jpg_original")
        try folder.add("a.jpg", seconds: 2_000_000, bytes: PhotosFixture.jpeg + [1, 2, 3])
        try await folder.become {
            try await folder.photos(.likes).first?.created
                == Timestamp(secondsSince1970: 2_000_000)
        }
        #expect(try await folder.titles() == ["a"])
        #expect(try await folder.titles(.likes) == ["a"])
    }

    /// The order of operations of `mogrify`, with a scan before it writes the new file.
    @Test func `a photo that a scan found as a backup only keeps its like`() async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg"], liking: "a")
        let id = try await folder.photos().map(\.id)
        try folder.move("a.jpg", to: "a.jpg~")
        try await folder.shows([])
        try folder.add("a.jpg", seconds: 2_000_000, bytes: PhotosFixture.jpeg + [1, 2, 3])
        try check(unlink(folder.path("a.jpg~")))
        try await folder.shows(["a"], .likes)
        #expect(try await folder.photos().map(\.id) == id)
        // A name that was deleted is free.
        try check(unlink(folder.path("a.jpg")))
        try await folder.shows([])
        try folder.add("a.jpg", seconds: 4_000_000, bytes: PhotosFixture.jpeg + [5])
        try await folder.shows(["a"])
        #expect(try await folder.titles(.likes) == [])
    }

    @Test(arguments: [true, false])
    func `another pictures folder has separate likes`(isIndexLost: Bool) async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg"], liking: "a")
        folder.session.close()
        if isIndexLost { try folder.deleteCache() }
        let other = folder.directory.appending("other")
        PhotosFixture.makeFolder(other)
        try PhotosFixture.write(PhotosFixture.jpeg + [1, 2, 3], to: "\(other)/a.jpg")
        #expect(folder.provider.setPicturesFolder(Array(other.utf8)))
        let there = try PhotosFixture.session("ada", of: folder.provider)
        _ = try await there.refresh(.all)
        let marks = try await there.page(.all, after: nil, count: 9).photos
            .map(\.isLiked)
        #expect(marks == [false])
        there.close()
        #expect(folder.provider.setPicturesFolder(Array(folder.root.utf8)))
        let back = try PhotosFixture.session("ada", of: folder.provider)
        _ = try await back.refresh(.all)
        try await poll {
            let page = try await back.page(.all, after: nil, count: 9)
            return page.photos.allSatisfy(\.isLiked)
        }
    }

    @Test func `the like of a deleted photo is hidden, and restored with the photo`() async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg", "b.jpg"], liking: "a")
        let before = folder.events.value.count
        let kept = folder.directory.appending("tmp/kept")
        try check(rename(folder.path("a.jpg"), kept))
        try await folder.event(after: before) { $0.likes == 0 }
        #expect(try await folder.photos(.likes) == [])
        let again = try await folder.restarted()
        #expect(try await again.photos(.likes) == [])
        PhotosFixture.makeFolder(again.path("back"))
        try check(rename(kept, again.path("back/z.jpg")))
        try await again.shows(["z"], .likes)
        try await again.event { $0.isUpdate(.likes, 1) }
    }

    @Test func `files of the same size are read once, and not at each start`() async throws {
        let names = (0..<9).map { "\($0).jpg" }
        let folder = try await PhotosFixture.scanned(names, liking: "4")
        let second = try await folder.restarted { unlink(folder.path("4.jpg")) }
        #expect(try await second.photos(.likes) == [])
        let read = reads(second)
        #expect(read >= 8)
        #expect(reads(second) == read)
        let third = try await second.restarted()
        #expect(reads(third) == 0)
    }

    @Test func `two files of the same content have separate likes`() async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg"])
        try copy("a.jpg", to: "b.jpg", folder)
        try await folder.become { try await folder.titles().count == 2 }
        try await folder.like("a")
        #expect(try await folder.titles(.likes) == ["a"])
        try await folder.like("b")
        let again = try await folder.restarted(withCache: false)
        #expect(try await Set(again.titles(.likes)) == ["a", "b"])
        _ = try await again.session.setLiked(again.id("a"), false)
        #expect(try await again.titles(.likes) == ["b"])
    }

    @Test func `concurrent likes are all stored`() async throws {
        let names = (0..<20).map { "\($0).jpg" }
        let folder = try await PhotosFixture.scanned(names)
        let ids = try await folder.photos().map(\.id)
        let session = folder.session
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in ids + ids { group.addTask { _ = try await session.setLiked(id, true) } }
            try await group.waitForAll()
        }
        #expect(try await folder.photos(.likes).count == 20)
        let again = try await folder.restarted()
        #expect(try await again.photos(.likes).count == 20)
    }

    @Test func `liked photos are selected by row`() throws {
        let database = try Database.inMemory([PictureIndex.format])
        var plan = ""
        try database.query(
            "EXPLAIN QUERY PLAN " + PictureIndex.photosQuery(.rows([])),
            [.integer(0), .integer(0), .integer(0), .integer(1), .text("[1]")]
        ) { row throws(StorageError) in plan += row.text(3) + "\n" }
        #expect(plan.contains("USING INDEX sqlite_autoindex_file_1 (id=?)"), "\(plan)")
    }
}
