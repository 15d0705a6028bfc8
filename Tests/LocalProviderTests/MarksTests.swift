import EngineModel
import FoundationEssentials
import Glibc
import ProviderKit
import Storage
import Synchronization
import System
import TestSupport
import Testing

@testable import LocalProvider

/// The IDs of marked photos, and the folders, links and disks that their files are in.
@Suite(.timeLimit(.minutes(10))) struct MarksTests {
    private func entry(_ path: String) -> FolderWatcher.Entry {
        FolderWatcher.Entry(path: RelativePath(bytes: Array(path.utf8)))
    }

    @Test(arguments: [PhotoMark.hidden, .current])
    func `a moved marked photo keeps its ID without the cache`(mark: PhotoMark) async throws {
        let folder = try await PhotosFixture.scanned(["A/a3.jpg", "B/b.jpg"])
        let id = try await folder.id("a3")
        try await folder.session.setMarked([id], mark)
        let again = try await folder.restarted(withCache: false) {
            try folder.move("A/a3.jpg", to: "B/moved.jpg")
            try folder.add("A/a3.jpg", seconds: 9_000_000, bytes: PhotosFixture.jpeg + [9])
        }
        #expect(try await again.id("moved") == id)
        #expect(try await again.id("a3") != id)
        // The ID is not kept any more.
        try await again.session.setMarked([], mark)
        let row = try #require(id.row)
        #expect(!again.session.folder.marks.contains(row))
    }

    @Test func `a like reports the number of users who like the photo`() async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg"])
        try await folder.register("bob")
        let bob = try PhotosFixture.session("bob", of: folder.provider)
        defer { bob.close() }
        let a = try await folder.id("a")
        #expect(try await folder.session.setLiked(a, true)?.photo.likes == 1)
        #expect(try await bob.setLiked(a, true)?.photo.likes == 2)
        #expect(try await folder.photos().map(\.likes) == [2])
        #expect(try await folder.session.setLiked(a, false)?.photo.likes == 1)
        #expect(try await bob.setLiked(a, false)?.photo.likes == nil)
    }

    @Test func `likes are shown without the cache and writable data`() async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg", "b.jpg"], liking: "a")
        let id = try await folder.id("a")
        let again = try await folder.restarted(withCache: false) {
            chmod(folder.directory.appending("data/data.sqlite"), 0o400)
        }
        #expect(try await again.photos().filter(\.isLiked).map(\.id) == [id])
    }

    @Test func `a like survives the deletion of the data folder`() async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg"])
        try FileManager.default.removeItem(atPath: folder.directory.appending("data"))
        try await folder.like("a")
        let again = try await folder.restarted()
        #expect(try await again.titles(.likes) == ["a"])
    }

    // MARK: Events

    @Test func `changed attributes of nested folders do not count as links`() async throws {
        let folder = try await PhotosFixture.scanned(["x/y/a.jpg"])
        let entries = [entry("x"), entry("x/y")]
        await folder.session.folder.scan(entries)
        #expect(try await folder.session.folder.readNow { try $0.aliases } == [])
    }

    @Test(arguments: ["pipe", "link.jpg", "hard.jpg"])
    func `an entry that is never written does not stay open`(name: String) async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg"])
        let path = folder.path(name)
        switch name {
        case "pipe": mkfifo(path, 0o600)
        case "link.jpg": symlink("a.jpg", path)
        default: link(folder.path("a.jpg"), path)
        }
        let watcher = folder.session.folder.watcher
        watcher.readPendingEvents()
        let changed = entry(name)
        await folder.session.folder.scan([changed])
        #expect(!watcher.isUnclosed(entry(name).path))
    }

    /// As `ln p.jpg q.jpg; rm p.jpg`.
    @Test(arguments: [true, false])
    func `a new photo renamed by a link keeps its ID`(isScanOfEverything: Bool) async throws {
        let folder = try await PhotosFixture.scanned([])
        PhotosFixture.makeFolder(folder.root)
        // The modification time is the present time.
        try folder.overwrite("p.jpg", PhotosFixture.jpeg)
        try await folder.shows(["p"])
        let id = try await folder.id("p")
        try await folder.like("p")
        try check(link(folder.path("p.jpg"), folder.path("q.jpg")))
        unlink(folder.path("p.jpg"))
        folder.session.folder.watcher.readPendingEvents()
        var added = entry("q.jpg")
        added.isClosed = false
        await folder.session.folder.scan(isScanOfEverything ? nil : [added, entry("p.jpg")])
        #expect(try await folder.titles(.likes) == ["q"])
        #expect(try await folder.id("q") == id)
    }

    @Test func `other inode numbers do not change a photo`() async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg"])
        try await folder.session.folder.store.run { database in
            try database.execute("UPDATE file SET inode = inode + 1")
        }
        let again = try await folder.restarted()
        #expect(again.events.value.flatMap(\.changed) == [])
        let stamp = try #require(FileStatus(Array(again.path("a.jpg").utf8))).stamp
        let row = try #require(try await again.id("a").row)
        #expect(try await again.session.folder.readNow { try $0.file(row)?.stamp } == stamp)
    }

    /// As after a mount of some file systems.
    @Test(arguments: ["a", "b", "c"])
    func `a like does not move to a photo with its inode number`(deleted: String) async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg"], liking: "a")
        try folder.add("b.jpg", seconds: 1_000_000)
        _ = try await folder.session.refresh(.all)
        try await folder.session.folder.store.run { database in
            try database.execute("UPDATE file SET inode = (SELECT sum(inode) FROM file) - inode")
        }
        let again = try await folder.restarted { unlink(folder.path("\(deleted).jpg")) }
        let liked = try await again.photos().filter(\.isLiked).map(\.title)
        #expect(liked == (deleted == "a" ? [] : ["a"]))
    }

    // MARK: Links

    @Test func `the target of a link to a file is followed`() async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg"])
        let target = folder.directory.appending("target.jpg")
        try PhotosFixture.write(PhotosFixture.jpeg + [1], to: target)
        PhotosFixture.touch(target, seconds: 2_000_000)
        symlink(target, folder.path("link.jpg"))
        try await folder.shows(["link", "a"])
        let before = folder.events.value.count
        try PhotosFixture.write(PhotosFixture.jpeg + [1, 2], to: target)
        try await folder.changed(folder.id("link"), after: before)
        unlink(target)
        try await folder.shows(["a"])
    }

    /// Makes the pictures folder a link, and returns its target, which does not exist.
    private func makePicturesLink(_ directory: TemporaryDirectory) throws -> String {
        let vault = directory.appending("vault/Pictures")
        rmdir(directory.appending("home/Pictures"))
        try check(symlink(vault, directory.appending("home/Pictures")))
        return vault
    }

    @Test func `a linked pictures folder is scanned when its target changes`() async throws {
        let directory = try TemporaryDirectory()
        let vault = try makePicturesLink(directory)
        let folder = try PhotosFixture(directory)
        try await folder.event { $0.isFailed }
        PhotosFixture.makeFolder(vault)
        try folder.add("a.jpg", seconds: 1_000_000)
        try await folder.shows(["a"])
        let other = directory.appending("other")
        PhotosFixture.makeFolder(other)
        try PhotosFixture.write(PhotosFixture.jpeg + [2], to: "\(other)/b.jpg")
        symlink(other, directory.appending("new"))
        try check(rename(directory.appending("new"), folder.root))
        try await folder.shows(["b"])
    }

    @Test func `the target of a linked pictures folder may appear during the scan`() async throws {
        let directory = try TemporaryDirectory()
        let root = Array(directory.appending("home/Pictures").utf8)
        let vault = try makePicturesLink(directory)
        PhotosFixture.makeFolder(vault)
        try PhotosFixture.write(PhotosFixture.jpeg, to: "\(vault)/a.jpg")
        // The target appears after the first lookup and before it is watched, so that no event is reported.
        let wasAbsent = Atomic(false)
        let files = FileThreads(
            port: FileSystemPort(fault: { path in
                path == root && !wasAbsent.exchange(true, ordering: .relaxed) ? ENOENT : 0
            }))
        let folder = try PhotosFixture(directory, files: files)
        try await folder.shows(["a"])
    }

    @Test func `an absent file that a client requests leaves the feed`() async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg", "b.jpg"])
        let b = try await folder.id("b")
        // No event is reported.
        folder.session.folder.watcher.stop()
        unlink(folder.path("b.jpg"))
        await #expect(throws: ProviderError.self) { try await folder.session.imagePath(b, .full) }
        try await folder.shows(["a"])
    }

    @Test func `a photo that a client requests while it is renamed keeps its ID`() async throws {
        let folder = try await PhotosFixture.ready(["a.jpg", "b.jpg"])
        let b = try await folder.id("b")
        try check(rename(folder.path("b.jpg"), folder.path("c.jpg")))
        _ = try? await folder.session.imagePath(b, .full)
        try await folder.become { try await folder.titles().contains("c") }
        #expect(try await folder.id("c") == b)
    }

    // MARK: Disks

    /// Creates the pictures folder, and a folder outside of it for a simulated mount point.
    private func makeMountPoint(_ directory: TemporaryDirectory) -> String {
        let mountPoint = directory.appending("media/disk")
        for folder in [mountPoint, directory.appending("home/Pictures")] {
            PhotosFixture.makeFolder(folder)
        }
        return mountPoint
    }

    @Test(arguments: [true, false])
    func `the photos of a removed disk stay until it is back`(isLink: Bool) async throws {
        let directory = try TemporaryDirectory()
        let disk = FaultyDisk()
        let mountPoint = makeMountPoint(directory)
        if isLink { try check(symlink(mountPoint, directory.appending("home/Pictures/x"))) }
        disk.faults.update { $0.mountPoints = [mountPoint] }
        let root = isLink ? "home/Pictures" : "media/disk"
        let name = isLink ? "x/b.jpg" : "b.jpg"
        let folder = try PhotosFixture(directory, root: root, photos: [name], files: disk.threads)
        try await folder.ready()
        // udisks deletes the folder of the mount point.
        disk.faults.update { $0.mountPoints = [] }
        try check(rename(mountPoint, directory.appending("away")))
        _ = try? await folder.session.refresh(.all)
        #expect(try await folder.titles() == ["b"])
        if !isLink { try await folder.event { $0.failure?.contains("not mounted") == true } }
        let b = try await folder.id("b")
        for size in [ImageSize.full, .regular] {
            await #expect(throws: PictureFolder.noResponse) {
                try await folder.session.imagePath(b, size)
            }
            await #expect(throws: PictureFolder.noResponse) {
                try await folder.session.openImage(b, size)
            }
        }
        unlink(directory.appending("away/b.jpg"))
        try PhotosFixture.write(PhotosFixture.jpeg, to: directory.appending("away/c.jpg"))
        disk.faults.update { $0.mountPoints = [mountPoint] }
        try check(rename(directory.appending("away"), mountPoint))
        try await folder.shows(["c"])
    }

    @Test(arguments: [true, false])
    func `a photo behind links to a removed disk stays`(hasOneLink: Bool) async throws {
        let directory = try TemporaryDirectory()
        let disk = FaultyDisk()
        let mountPoint = makeMountPoint(directory)
        let other = directory.appending("home/disk")
        try check(symlink("../media/disk", other))
        try check(symlink(hasOneLink ? mountPoint : other, directory.appending("home/Pictures/x")))
        disk.faults.update { $0.mountPoints = [mountPoint] }
        let folder = try PhotosFixture(directory, photos: ["x/b.jpg"], files: disk.threads)
        try await folder.ready()
        disk.faults.update { $0.mountPoints = [] }
        try check(rename(mountPoint, directory.appending("away")))
        // As after a change just before the disk was removed.
        await folder.session.folder.scan([entry("x/b.jpg")])
        #expect(try await folder.titles() == ["b"])
    }

    @Test func `a file system that is mounted on an empty folder is scanned`() async throws {
        guard geteuid() == 0 else { return }
        let folder = try await PhotosFixture.scanned(["a.jpg"])
        let mountPoint = folder.path("x")
        try check(mkdir(mountPoint, 0o700))
        let source = folder.directory.appending("source")
        try check(mkdir(source, 0o700))
        try PhotosFixture.write(PhotosFixture.jpeg + [2], to: "\(source)/b.jpg")
        _ = try await folder.session.refresh(.all)
        // A container may not permit mounts.
        guard mount(source, mountPoint, nil, UInt(MS_BIND), nil) == 0 else { return }
        defer { umount2(mountPoint, Int32(MNT_DETACH)) }
        try await folder.become { Set(try await folder.titles()) == ["a", "b"] }
    }
}
