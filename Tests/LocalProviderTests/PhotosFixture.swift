import EngineModel
import FoundationEssentials
import Glibc
import ImageMetadata
import Logging
import ProviderKit
import Storage
import System
import TestSupport
import Testing
import Translation

@testable import LocalProvider

/// A pictures folder for one test, and the session of a local user.
final class PhotosFixture: Sendable {
    /// The first bytes of a JPEG image. Tests do not decode images.
    static let jpeg: [UInt8] = [0xff, 0xd8, 0xff, 0xe0, 0, 0x10]

    let directory: TemporaryDirectory
    let root: String
    let cache: String
    let provider: LocalProvider
    let session: LocalSession
    let events = Observed<[SessionEvent]>()
    private let listening: Task<Void, Never>

    /// - Parameters:
    ///   - directory: The directory of an earlier fixture; nil for a new one.
    ///   - root: The path of the pictures folder in the directory.
    ///   - cache: The cache folder; nil for the default one.
    ///   - photos: The names of the photos to create, the oldest first.
    ///   - images: Reads and creates images.
    ///   - files: Makes the file system calls.
    ///   - clock: Measures delays.
    ///   - presentDay: Returns the present date.
    ///   - showsLocation: True if photos contain the place where they were taken.
    /// - Throws: `SystemError`, or the error of a failed write.
    init(
        _ directory: TemporaryDirectory? = nil, root: String = "home/Pictures",
        cache: String? = nil, photos: [String] = [],
        images: any ImageProcessor = UnavailableImageProcessor(),
        files: FileThreads = FileThreads(), clock: any Clock<Duration> = ManualClock(),
        presentDay: @escaping @Sendable () -> PresentDay = { CalendarDate.present() },
        showsLocation: Bool = false
    ) throws {
        let directory = try directory ?? TemporaryDirectory()
        self.directory = directory
        let root = directory.appending(root)
        self.root = root
        self.cache = cache ?? directory.appending("home/.cache/imagefeed")
        for (index, name) in photos.enumerated() {
            try Self.add(name, seconds: 1_000_000 + index, below: root, directory)
        }
        let provider = Self.provider(
            directory, root: root, cache: self.cache, images: images, files: files, clock: clock,
            presentDay: presentDay, settings: LocalSettings(showsLocation: showsLocation))
        self.provider = provider
        session = try Self.session("ada", of: provider)
        listening = Task { [events, session] in
            // The provider must exist while its events are collected.
            withExtendedLifetime(provider) {}
            for await event in session.events { events.append(event) }
            withExtendedLifetime(provider) {}
        }
    }

    deinit {
        session.close()
        listening.cancel()
    }

    /// Creates a provider whose data, and by default all other files, are in a directory.
    static func provider(
        _ directory: TemporaryDirectory, root: String? = nil, cache: String? = nil,
        images: any ImageProcessor = UnavailableImageProcessor(),
        files: FileThreads = FileThreads(), clock: any Clock<Duration> = ManualClock(),
        presentDay: @escaping @Sendable () -> PresentDay = { CalendarDate.present() },
        settings: LocalSettings = LocalSettings()
    ) -> LocalProvider {
        LocalProvider(
            pictures: Array((root ?? directory.appending("home/Pictures")).utf8),
            data: Store(
                directory.appending("data/data.sqlite"), .durable, [LocalProvider.format]),
            cache: cache ?? directory.appending("cache"), images: images, files: files,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, clock: clock,
            presentDay: presentDay, settings: settings)
    }

    static func session(_ name: String, of provider: LocalProvider) throws -> LocalSession {
        try #require(provider.openFolder(AccountIdentity(username: name)) as? LocalSession)
    }

    /// Registers a user, so that the user can like photos.
    func register(_ name: String = "ada") async throws {
        _ = try await provider.logIn(username: name, password: nil, registers: true)
    }

    /// Creates a fixture with photos, the oldest first, and waits for the end of the first scan.
    static func ready(_ photos: [String]) async throws -> PhotosFixture {
        let fixture = try PhotosFixture(photos: photos)
        try await fixture.ready()
        return fixture
    }

    /// Creates a fixture, registers its user, and waits for the end of the first scan.
    ///
    /// - Parameters:
    ///   - photos: The names of the photos to create, the oldest first.
    ///   - earlier: The directory of an earlier fixture, in which the user is registered; nil for a new one.
    ///   - liked: The titles of the photos that the user likes, in this order.
    /// - Returns: The fixture.
    /// - Throws: `SystemError`, or the error of a failed write.
    static func scanned(
        _ photos: [String], _ earlier: TemporaryDirectory? = nil, liking liked: String...
    ) async throws -> PhotosFixture {
        let fixture = try PhotosFixture(earlier, photos: photos)
        if earlier == nil { try await fixture.register() }
        try await fixture.ready()
        for title in liked { try await fixture.like(title) }
        return fixture
    }

    /// Ends the session, changes something, and opens the same folder in a new provider.
    func restarted(
        withCache: Bool = true, _ change: () throws -> Void = {}
    ) async throws -> PhotosFixture {
        session.close()
        try change()
        if !withCache { try FileManager.default.removeItem(atPath: cache) }
        return try await Self.scanned([], directory)
    }

    /// Likes the photo with a title.
    func like(_ title: String) async throws {
        #expect(try await session.setLiked(id(title), true) != nil)
    }

    // MARK: Files

    func path(_ name: String) -> String { "\(root)/\(name)" }

    func move(_ name: String, to other: String) throws {
        try check(rename(path(name), path(other)))
    }

    func exchange(_ name: String, _ other: String) throws {
        try Self.exchange(path(name), path(other))
    }

    /// Exchanges the names of two files with the C function `renameat2`, which the module Glibc does not have.
    static func exchange(_ path: String, _ other: String) throws {
        typealias Exchange =
            @convention(c) (
                Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32
            ) -> Int32
        let exchange = unsafeBitCast(try #require(dlsym(nil, "renameat2")), to: Exchange.self)
        let flags: UInt32 = 2  // RENAME_EXCHANGE
        try check(exchange(AT_FDCWD, path, AT_FDCWD, other, flags))
    }

    /// Adds a complete file to the pictures folder by a rename.
    func add(_ name: String, seconds: Int, bytes: [UInt8] = jpeg) throws {
        try Self.add(name, seconds: seconds, bytes: bytes, below: root, directory)
    }

    private static func add(
        _ name: String, seconds: Int, bytes: [UInt8] = jpeg, below root: String,
        _ directory: TemporaryDirectory
    ) throws {
        let staged = directory.appending("tmp/staged")
        try write(bytes + Array(name.utf8), to: Array(staged.utf8))
        touch(staged, seconds: seconds)
        let path = "\(root)/\(name)"
        makeParent(of: path)
        try check(rename(staged, path))
    }

    /// A JPEG file with a capture time.
    static func jpeg(
        taken: String, fraction: String = "", _ pixels: [UInt8]
    ) -> [UInt8] {
        func word(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xff)] }
        func long(_ value: Int) -> [UInt8] { word(value >> 16) + word(value & 0xffff) }
        let text = Array(taken.utf8) + [0]
        let digits =
            Array(fraction.utf8.prefix(3)) + [0, 0, 0, 0].prefix(4 - min(3, fraction.utf8.count))
        // The first table leads to the second one, which has two fields and is followed by the time.
        let second = 8 + 2 + 12 + 4
        let tiff =
            Array("MM".utf8) + word(42) + long(8) + word(1) + word(0x8769) + word(4) + long(1)
            + long(second) + long(0) + word(2) + word(0x9003) + word(2) + long(text.count)
            + long(second + 2 + 24 + 4) + word(0x9291) + word(2) + long(4) + digits + long(0)
            + text
        let exif = Array("Exif\0\0".utf8) + tiff
        let size: [UInt8] = [0xff, 0xc0, 0, 11, 8, 0, 10, 0, 10, 1, 1, 0x11, 0]
        let scan: [UInt8] = [0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0]
        return [0xff, 0xd8, 0xff, 0xe1] + word(exif.count + 2) + exif + size + scan + pixels + [
            0xff, 0xd9,
        ]
    }

    static func makeFolder(_ path: String) {
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    static func makeParent(of path: String) {
        makeFolder(String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]))
    }

    static func write(_ bytes: [UInt8], to path: String) throws {
        try write(bytes, to: Array(path.utf8))
    }

    static func write(_ bytes: [UInt8], to path: [UInt8]) throws {
        let descriptor = withCPath(path) { open($0, O_WRONLY | O_CREAT | O_TRUNC, 0o600) }
        try check(descriptor)
        defer { close(descriptor) }
        _ = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }

    /// Writes a file in place.
    func overwrite(_ name: String, _ bytes: [UInt8]) throws {
        try Self.write(bytes, to: path(name))
    }

    static func touch(_ path: String, seconds: Int, nanoseconds: Int = 0) {
        let time = timespec(tv_sec: seconds, tv_nsec: nanoseconds)
        let times = [timespec](repeating: time, count: 2)
        utimensat(AT_FDCWD, path, times, 0)
    }

    /// Deletes the cache of a running session. The folder is renamed first, because files may be written while it is
    /// deleted.
    func deleteCache() throws {
        try check(rename(cache, "\(cache).deleted"))
        try FileManager.default.removeItem(atPath: "\(cache).deleted")
    }

    // MARK: Photos

    /// Returns all photos of a source, page by page.
    func photos(_ source: SourceID = .all, pageSize: Int = 100) async throws -> [Photo] {
        var photos: [Photo] = []
        var cursor: String?
        repeat {
            let page = try await session.page(source, after: cursor, count: pageSize)
            photos += page.photos
            cursor = page.next
        } while cursor != nil
        return photos
    }

    /// Returns the titles of a source; none if it does not exist.
    func titles(_ source: SourceID = .all) async throws -> [String] {
        guard try await session.hasSource(source) else { return [] }
        return try await photos(source).map { $0.title ?? "" }
    }

    /// Returns the titles of all photos after a scan of everything.
    func titlesAfterScan() async throws -> [String] {
        _ = try await session.refresh(.all)
        return try await titles()
    }

    func id(_ title: String) async throws -> PhotoID {
        try #require(try await photos().first { $0.title == title }?.id)
    }

    /// Returns the IDs of all sources except the likes and memories, which always exist.
    func sourceIDs() async throws -> [String] {
        try await session.sources().map(\.id.text).filter { !["likes", "memories"].contains($0) }
    }

    /// Waits until a source has these titles. Checks again after each event.
    func shows(_ titles: [String], _ source: SourceID = .all) async throws {
        try await become { try await self.titles(source) == titles }
    }

    /// Waits until these are the IDs of all sources except the likes and memories.
    func showsSources(_ ids: [String]) async throws {
        try await become { try await sourceIDs() == ids }
    }

    func become(_ isSo: () async throws -> Bool) async throws {
        var seen = 0
        while true {
            seen = max(seen, events.value.count)
            if try await isSo() { return }
            _ = try await events.elements(seen + 1)
        }
    }

    /// Waits for the end of the first scan.
    func ready() async throws {
        try await event { $0.isReady }
        _ = try await session.refresh(.all)
    }

    /// Requests all photos, and waits until their metadata was read.
    func examine() async throws {
        try await ready()
        try await poll {
            _ = try await photos()
            return try await session.folder.readNow { try $0.notExamined(limit: 1).isEmpty }
        }
    }

    /// Waits for an event that meets a condition, after the first `count` events.
    func event(
        after count: Int = 0, where isExpected: @escaping @Sendable (SessionEvent) -> Bool
    ) async throws {
        try await events.wait { $0.dropFirst(count).contains(where: isExpected) ? true : nil }
    }

    /// Waits for an `updated` event after the first `count` events.
    func updated(_ source: SourceID, new: Int, after count: Int) async throws {
        try await event(after: count) { $0.isUpdate(source, new) }
    }

    func removed(_ ids: Set<PhotoID>, after count: Int = 0) async throws {
        try await events.wait { events in
            ids.isSubset(of: events.dropFirst(count).flatMap(\.removed)) ? true : nil
        }
    }

    func changed(_ id: PhotoID, after count: Int = 0) async throws {
        try await event(after: count) { $0.changed.contains { $0.id == id } }
    }
}

/// Requires that a C function has succeeded.
func check(_ result: Int32) throws {
    try #require(result >= 0, "\(String(cString: strerror(errno)))")
}

extension SourceID {
    static let all = SourceID("all")
    static let likes = SourceID("likes")
    static let memories = SourceID("memories")
}

extension SessionEvent {
    var status: SessionStatus? { if case .status(let status) = self { status } else { nil } }

    var isReady: Bool { status == .ready }

    /// The reason of a failed session.
    var failure: Message? { if case .failed(let reason, _) = status { reason } else { nil } }

    var isFailed: Bool { failure != nil }

    /// The changed photos.
    var changed: [Photo] { if case .changed(let photos) = self { photos } else { [] } }

    /// The IDs of removed photos.
    var removed: [PhotoID] { if case .removed(let ids) = self { ids } else { [] } }

    var likes: Int? { if case .likes(let count) = self { count } else { nil } }

    var notices: [String]? { if case .notices(let texts) = self { texts } else { nil } }

    func isUpdate(_ source: SourceID, _ count: Int) -> Bool {
        if case .updated(let id, let new) = self { id == source && new == count } else { false }
    }
}
