import Dispatch
import EngineModel
import Glibc
import ProviderKit
import Synchronization
import System
import TestSupport
import Testing

@testable import LocalProvider

/// Disks that are slow, hang or fail.
@Suite(.timeLimit(.minutes(10))) struct SlowDiskTests {
    private static let album = SourceID("album:x")
    /// Returns a folder with one liked photo that a provider has scanned and closed.
    private static func scanned() async throws -> PhotosFixture {
        let folder = try await PhotosFixture.scanned(["a.jpg", "x/b.jpg", "x/c.jpg"], liking: "b")
        folder.session.close()
        return folder
    }

    private static func titles(_ page: Page) -> [String] { page.photos.map { $0.title ?? "" } }

    @Test func `a path is tried again while a thread hangs there`() async throws {
        let directory = try TemporaryDirectory()
        let file = Array(directory.appending("a.jpg").utf8)
        try PhotosFixture.write(PhotosFixture.jpeg, to: file)
        var limits = FileThreads.Limits()
        limits.timeout = FaultyDisk.shortTimeout
        limits.retryInterval = .milliseconds(100)
        let hang = DispatchSemaphore(value: 0)
        defer { hang.signal() }
        let hasHung = Atomic(false)
        let threads = FileThreads(
            limits,
            port: FileSystemPort(fault: { _ in
                if !hasHung.exchange(true, ordering: .relaxed) { hang.wait() }
                return 0
            }))
        let found = await DispatchQueue(label: "scan").run { () -> [Bool] in
            let files = PictureFiles(threads)
            let first = files.lookUp([file])
            usleep(200_000)
            return (first + files.lookUp([file])).map { $0.status != nil }
        }
        #expect(found == [false, true])
        #expect(threads.blockedCount == 1)
    }

    // MARK: A slow scan

    @Test func `a complete index is served while the scan hangs`() async throws {
        let first = try await Self.scanned()
        let disk = FaultyDisk { $0.hanging = ["/Pictures"] }
        let folder = try PhotosFixture(first.directory, files: disk.threads)
        let session = folder.session
        #expect(try await Self.titles(session.page(.likes, after: nil, count: 10)) == ["b"])
        let page = try await session.page(Self.album, after: nil, count: 1)
        #expect(Self.titles(page) == ["c"])
        let last = try await session.page(Self.album, after: page.next, count: 1)
        #expect(Self.titles(last) == ["b"])
        #expect(last.next == nil)
        await #expect(throws: PictureFolder.noPhoto(PhotoID(row: 1))) {
            try await session.photo(PhotoID(row: 1))
        }
        #expect(try await !session.hasSource(SourceID("album:none")))
        #expect(try await session.sources().count == 4)
        _ = try await disk.hung.wait { $0.isEmpty ? nil : true }
        try folder.add("d.jpg", seconds: 2_000_000)
        let count = folder.events.value.count
        disk.faults.update { $0.hanging = [] }
        try await folder.updated(.all, new: 1, after: count)
        try await folder.shows(["d", "c", "b", "a"])
    }

    @Test func `a complete index without photos is served while the scan hangs`() async throws {
        let first = try PhotosFixture()
        PhotosFixture.makeFolder(first.root)
        try await first.ready()
        first.session.close()
        let disk = FaultyDisk { $0.hanging = ["/Pictures"] }
        let folder = try PhotosFixture(first.directory, files: disk.threads)
        #expect(try await folder.titles().isEmpty)
        disk.faults.update { $0.hanging = [] }
    }

    @Test func `a refresh has a time limit, and its scan continues`() async throws {
        let first = try await Self.scanned()
        let disk = FaultyDisk()
        let clock = ManualClock()
        let folder = try PhotosFixture(first.directory, files: disk.threads, clock: clock)
        try await folder.ready()
        disk.faults.update { $0.hanging = ["/c.jpg"] }
        try folder.add("d.jpg", seconds: 2_000_000)
        let limit = ManualClock.Instant(offset: .seconds(15))
        let before = clock.sleepers.value.count { $0 == limit }
        let refresh = Task { try await folder.session.refresh(.all) }
        _ = try await disk.hung.wait { $0.isEmpty ? nil : true }
        try await clock.sleepers.wait { sleepers in
            sleepers.count { $0 == limit } > before ? true : nil
        }
        clock.advance(by: .seconds(15))
        #expect(try await refresh.value <= 1)
        disk.faults.update { $0.hanging = [] }
        try await folder.shows(["d", "c", "b", "a"])
    }

    @Test func `calls to a new index have a time limit`() async throws {
        let disk = FaultyDisk { $0.hanging = ["/Pictures"] }
        let clock = ManualClock()
        let folder = try PhotosFixture(photos: ["a.jpg"], files: disk.threads, clock: clock)
        let page = Task { try await folder.session.page(.all, after: nil, count: 5) }
        let photo = Task { try await folder.session.photo(PhotoID(row: 1)) }
        _ = try await clock.sleepers.elements(2)
        clock.advance(by: .seconds(5))
        _ = try await clock.sleepers.elements(4)
        clock.advance(by: .seconds(10))
        let error = ProviderError.failed(
            "The pictures folder is still being read; try again later.")
        await #expect(throws: error) { try await page.value }
        await #expect(throws: error) { try await photo.value }
        disk.faults.update { $0.hanging = [] }
        try await folder.shows(["a"])
    }

    @Test func `a time limit that is reached at once ends each call`() async throws {
        let disk = FaultyDisk { $0.hanging = ["/Pictures"] }
        let folder = try PhotosFixture(
            photos: ["a.jpg"], files: disk.threads, clock: ElapsedClock())
        let session = folder.session
        for _ in 0..<200 {
            await #expect(throws: ProviderError.self) { try await session.photo(PhotoID(row: 1)) }
            #expect(try await session.refresh(.all) == 0)
        }
        disk.faults.update { $0.hanging = [] }
    }

    /// A clock on which every deadline has passed.
    private struct ElapsedClock: Clock {
        var now: ManualClock.Instant { ManualClock.Instant() }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {}
    }

    // MARK: Files that hang

    @Test func `a hanging file does not delay others`() async throws {
        let disk = FaultyDisk(timeout: FaultyDisk.shortTimeout)
        let images = ScriptedImageProcessor()
        let folder = try PhotosFixture(
            photos: ["a.jpg", "b.jpg"], images: images, files: disk.threads)
        let session = folder.session
        try await folder.ready()
        let (a, b) = (try await folder.id("a"), try await folder.id("b"))
        let thumbnail = try await session.imagePath(b, .thumb)
        disk.faults.update { $0.hanging = ["/b.jpg"] }
        await #expect(throws: PictureFolder.noResponse) { try await session.imagePath(b, .full) }
        await #expect(throws: PictureFolder.noResponse) { try await session.openImage(b, .full) }
        await #expect(throws: PictureFolder.noResponse) { try await session.imagePath(b, .regular) }
        // This thumbnail was created before.
        #expect(try await session.imagePath(b, .thumb) == thumbnail)
        #expect(try await session.imagePath(a, .full) == folder.path("a.jpg"))
        _ = try await session.imagePath(a, .thumb)
        #expect(try await folder.titles() == ["b", "a"])
        #expect(disk.hung.value.count == 1)
        disk.faults.update { $0.hanging = [] }
    }

    @Test func `a scan continues after a hanging file, and finds it later`() async throws {
        let disk = FaultyDisk(timeout: FaultyDisk.shortTimeout) { $0.hanging = ["/b.jpg"] }
        let folder = try PhotosFixture(photos: ["a.jpg", "b.jpg", "x/c.jpg"], files: disk.threads)
        #expect(try await folder.titles() == ["c", "a"])
        try await folder.ready()
        disk.faults.update { $0.hanging = [] }
        try await folder.shows(["c", "b", "a"])
    }

    @Test(arguments: ["/Pictures", "/x", "/b.jpg"])
    func `hanging paths keep their photos until they respond`(part: String) async throws {
        let first = try await Self.scanned()
        let disk = FaultyDisk(timeout: FaultyDisk.shortTimeout) { $0.hanging = [part] }
        let folder = try PhotosFixture(first.directory, files: disk.threads)
        _ = try await disk.hung.wait { $0.isEmpty ? nil : true }
        _ = try? await folder.session.refresh(.all)
        #expect(try await folder.titles() == ["c", "b", "a"])
        #expect(try await folder.titles(.likes) == ["b"])
        try folder.add("x/d.jpg", seconds: 2_000_000)
        disk.faults.update { $0.hanging = [] }
        try await folder.shows(["d", "c", "b", "a"])
        #expect(try await folder.titles(.likes) == ["b"])
    }

    @Test func `liking a hanging photo fails, and others can be liked`() async throws {
        let disk = FaultyDisk(timeout: FaultyDisk.shortTimeout)
        let folder = try PhotosFixture(photos: ["a.jpg", "b.jpg"], files: disk.threads)
        try await folder.register()
        try await folder.ready()
        let (a, b) = (try await folder.id("a"), try await folder.id("b"))
        disk.faults.update { $0.hanging = ["/b.jpg"] }
        await #expect(throws: ProviderError.failed("The file of the photo cannot be read.")) {
            try await folder.session.setLiked(b, true)
        }
        #expect(try await folder.session.setLiked(a, true)?.count == 1)
        disk.faults.update { $0.hanging = [] }
    }

    // MARK: Folders that fail

    @Test(arguments: [EIO, EHOSTDOWN, ETIMEDOUT, ESTALE, ENOTCONN, EACCES, ELOOP])
    func `an error that proves no absence keeps the photos`(code: Int32) async throws {
        for part in ["/Pictures", "/x", "/b.jpg"] {
            let first = try await Self.scanned()
            let disk = FaultyDisk { $0.errors = [part: code] }
            let clock = ManualClock()
            let folder = try PhotosFixture(first.directory, files: disk.threads, clock: clock)
            _ = try? await folder.session.refresh(.all)
            #expect(try await folder.titles() == ["c", "b", "a"], "\(part)")
            #expect(try await folder.titles(.likes) == ["b"], "\(part)")
            // No event reports that the path can be read again, so it is retried after a delay.
            try folder.add("x/d.jpg", seconds: 2_000_000)
            disk.faults.update { $0.errors = [:] }
            try await clock.waitForSleeps(until: .seconds(30))
            clock.advance(by: .seconds(30))
            try await folder.shows(["d", "c", "b", "a"])
            folder.session.close()
        }
    }

    @Test(arguments: [ENOENT, ENOTDIR])
    func `an error that proves absence removes the photos`(code: Int32) async throws {
        let first = try await Self.scanned()
        let disk = FaultyDisk { $0.errors = ["/x": code] }
        let folder = try PhotosFixture(first.directory, files: disk.threads)
        try await folder.ready()
        #expect(try await folder.titles() == ["a"])
        #expect(try await folder.titles(.likes).isEmpty)
    }

    @Test func `a changed folder that fails keeps the photos`() async throws {
        let disk = FaultyDisk()
        let folder = try PhotosFixture(photos: ["a.jpg", "x/b.jpg"], files: disk.threads)
        try await folder.ready()
        disk.faults.update { $0.errors = ["/x": EIO] }
        PhotosFixture.touch(folder.path("x/b.jpg"), seconds: 3_000_000)
        try folder.add("c.jpg", seconds: 2_000_000)
        try await folder.shows(["c", "b", "a"])
    }

    // MARK: Mount points

    @Test(arguments: ["Pictures", "Pictures/x", "link"], [false, true])
    func `a mount point without a disk keeps the photos`(
        place: String, isDeleted: Bool
    ) async throws {
        let directory = try TemporaryDirectory()
        let disk = FaultyDisk()
        var mountPoint = directory.appending("home/\(place)")
        if place == "link" {
            mountPoint = directory.appending("mnt")
            PhotosFixture.makeFolder(mountPoint)
            PhotosFixture.makeFolder(directory.appending("home/Pictures"))
            try check(symlink(mountPoint, directory.appending("home/Pictures/x")))
        }
        let mounted = mountPoint
        disk.faults.update { $0.mountPoints = [mounted] }
        let first = try PhotosFixture(directory, photos: ["x/b.jpg"], files: disk.threads)
        try await first.ready()
        first.session.close()
        let away = directory.appending("away")
        try check(rename(mountPoint, away))
        // udisks deletes the folder of the mount point, fstab keeps it.
        if !isDeleted { try check(mkdir(mountPoint, 0o700)) }
        disk.faults.update { $0.mountPoints = [] }
        let second = try PhotosFixture(directory, files: disk.threads)
        // The mount points remain known after a scan.
        for _ in 0..<2 {
            _ = try? await second.session.refresh(.all)
            #expect(try await second.titles() == ["b"])
        }
        disk.faults.update { $0.mountPoints = [mounted] }
        try check(rename(away, mountPoint))
        try await second.ready()
        unlink("\(directory.appending("home/Pictures/x/b.jpg"))")
        try await second.shows([])
    }

    @Test func `a mount point that is deleted with the folder above keeps the photos`() async throws
    {
        let directory = try TemporaryDirectory()
        let mountPoint = directory.appending("home/Pictures/x/disk")
        let disk = FaultyDisk { $0.mountPoints = [mountPoint] }
        let folder = try PhotosFixture(
            directory, photos: ["x/a.jpg", "x/disk/b.jpg"], files: disk.threads)
        try await folder.ready()
        disk.faults.update { $0.mountPoints = [] }
        try check(rename(folder.path("x"), directory.appending("away")))
        // Another scan may have noticed it already.
        await folder.session.folder.scan([
            FolderWatcher.Entry(path: .root.appending(Array("x".utf8)))
        ])
        #expect(try await folder.titles() == ["b"])
        disk.faults.update { $0.mountPoints = [mountPoint] }
        try check(rename(directory.appending("away"), folder.path("x")))
        try await folder.become { Set(try await folder.titles()) == ["a", "b"] }
    }

    @Test func `a pictures folder below an empty mount point keeps the photos`() async throws {
        let disk = FaultyDisk()
        let directory = try TemporaryDirectory()
        let mountPoint = directory.appending("home")
        disk.faults.update { $0.mountPoints = [mountPoint] }
        let first = try PhotosFixture(directory, photos: ["b.jpg"], files: disk.threads)
        // The cache must not be below the mount point.
        try await first.ready()
        first.session.close()
        try check(rename(directory.appending("home"), directory.appending("away")))
        PhotosFixture.makeFolder(mountPoint)
        disk.faults.update { $0.mountPoints = [] }
        let second = try PhotosFixture(
            directory, cache: directory.appending("away/.cache/imagefeed"), files: disk.threads)
        try await second.event { $0.isFailed }
        #expect(try await second.titles() == ["b"])
    }

    @Test func `an emptied folder that was no mount point loses its photos`() async throws {
        let first = try await Self.scanned()
        unlink(first.path("x/b.jpg"))
        unlink(first.path("x/c.jpg"))
        let folder = try PhotosFixture(first.directory)
        try await folder.ready()
        #expect(try await folder.titles() == ["a"])
    }
}
