import EngineModel
import Foundation
import Logging
import LoopbackHTTP
import ProviderKit
import Storage
import TestSupport
import Testing

@testable import SlideshowCore

/// Tests of slideshows whose stores or photos fail.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct SlideshowFaultTests {
    private let account = AccountID(stored: "a")
    private let data: Store
    private let cache: Store
    private let directory: TemporaryDirectory
    private let photos = FakeSlideshowPhotos(["a": (1...5).map { "p\($0)" }])

    init() throws {
        directory = try TemporaryDirectory()
        data = Store(directory.appending("data.sqlite"), .durable, [SlideshowStore.dataFormat])
        cache = Store(
            directory.appending("cache.sqlite"), .disposable, [SlideshowStore.cacheFormat])
    }

    private var store: SlideshowStore { SlideshowStore(data: data, cache: cache) }

    private func id(_ photo: String) -> CombinedPhotoID { CombinedPhotoID(account, PhotoID(photo)) }

    /// Opens the default slideshow and one with a name, as after a start.
    private func open() async throws -> (main: Slideshow, kitchen: Slideshow) {
        let contents = try await store.contents()
        let hidden = HiddenPhotos(store, contents)
        let all = ["", "kitchen"].map { name in
            Slideshow(
                name, store, contents, hidden, photos, clock: CountingClock(),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        }
        hidden.slideshows = { all }
        return (all[0], all[1])
    }

    private func refuse(_ condition: String, in store: Store) async throws {
        try await store.run {
            try $0.execute(
                "CREATE TRIGGER refuse BEFORE INSERT ON \(condition) BEGIN SELECT RAISE(ABORT, 'no'); END"
            )
        }
    }

    private func accept(in store: Store) async throws {
        try await store.run { try $0.execute("DROP TRIGGER refuse") }
    }

    @Test func `a change that cannot be stored is refused and not announced`() async throws {
        let slideshow = try await open().main
        try await refuse("slideshow", in: data)
        let changes = Observed(0)
        slideshow.onChange = { changes.update { $0 += 1 } }
        await #expect(throws: StorageError.self) { try await slideshow.setPaused(true) }
        #expect(!slideshow.settings.isPaused && changes.value == 0)
        try await accept(in: data)
        try await slideshow.setPaused(true)
        #expect(slideshow.settings.isPaused && changes.value == 1)
    }

    @Test func `a step that cannot be stored does not change the photo`() async throws {
        let slideshow = try await open().main
        try await slideshow.next()
        try await refuse("playlist_state", in: cache)
        await #expect(throws: StorageError.self) { try await slideshow.next() }
        #expect(slideshow.currentID == id("p1"))
        try await accept(in: cache)
        try await slideshow.next()
        #expect(slideshow.currentID == id("p2"))
        #expect(try await open().main.playlist.entries == slideshow.playlist.entries)
    }

    @Test func `a playlist that no client stored is reported if the disk is full`() async throws {
        let slideshow = try await open().main
        await slideshow.logging { throw StorageError.full }
        #expect(photos.fullDiskCount == 1)
        await slideshow.logging { throw StorageError.damaged(cache.path) }
        #expect(photos.fullDiskCount == 1)
    }

    @Test func `a photo that cannot be hidden durably is not hidden`() async throws {
        let (main, kitchen) = try await open()
        try await store.save(SlideshowSettings(), of: "kitchen")
        for slideshow in [main, kitchen] { try await slideshow.next() }
        try await refuse("hidden", in: data)
        await #expect(throws: StorageError.self) { try await kitchen.hide("a/p1") }
        for slideshow in [main, kitchen] {
            #expect(slideshow.hidden.isEmpty && slideshow.currentID == id("p1"))
        }
    }

    @Test(arguments: ["", "kitchen"])
    func `a hidden photo leaves slideshows that cannot be stored`(refused: String) async throws {
        try await store.save(SlideshowSettings(), of: "kitchen")
        let (main, kitchen) = try await open()
        for slideshow in [main, kitchen] { try await slideshow.next() }
        try await refuse("playlist_state WHEN NEW.name = '\(refused)'", in: cache)
        try await kitchen.hide("a/p1")
        try await accept(in: cache)
        let (laterMain, laterKitchen) = try await open()
        for slideshow in [main, kitchen, laterMain, laterKitchen] {
            #expect(slideshow.hidden == [id("p1")] && slideshow.currentID != id("p1"))
            #expect(!slideshow.playlist.contains(id("p1")))
            try await slideshow.next()
            #expect(slideshow.currentID != id("p1") && slideshow.currentID != nil)
        }
    }

    @Test func `a photo is hidden although another slideshow is removed meanwhile`() async throws {
        let (main, kitchen) = try await open()
        try await main.next()
        try await kitchen.delete()
        try await main.hide("a/p1")
        #expect(main.hidden == [id("p1")] && main.currentID != id("p1"))
    }

    @Test func `settings apply although the playlist cannot be stored`() async throws {
        let slideshow = try await open().main
        for _ in 0..<2 { try await slideshow.next() }
        try await slideshow.previous()
        try await refuse("playlist_state", in: cache)
        try await slideshow.setOrientation("portrait")
        try await accept(in: cache)
        let later = try await open().main
        #expect(later.settings.orientation == .portrait)
        photos.portraits = [PhotoID("p3")]
        for slideshow in [slideshow, later] {
            try await slideshow.next()
            #expect(slideshow.currentID == id("p3"))
        }
    }

    @Test func `after a logout, no file contains a title of the account`() async throws {
        try await store.save(SlideshowSettings(), of: "kitchen")
        let (main, kitchen) = try await open()
        var photo = Photo(id: PhotoID("p1"))
        photo.title = "SecretTitle"
        photo.description = "SecretDescription"
        for slideshow in [main, kitchen] {
            try await slideshow.next()
            try await slideshow.commit { $0.update(photo, of: id("p1")) }
        }
        func secrets() throws -> [String] {
            try FileManager.default.subpathsOfDirectory(atPath: directory.path).filter { name in
                let bytes = FileManager.default.contents(atPath: directory.appending(name))
                return bytes?.range(of: Data("Secret".utf8)) != nil
            }
        }
        #expect(try !secrets().isEmpty)
        photos.accounts[0].isLoggedIn = false
        for slideshow in [main, kitchen] { await slideshow.logOut([account]) }
        await store.scrubPlaylists(account)
        #expect(try secrets().isEmpty)
        #expect(main.photo == nil && kitchen.photo == nil)
    }

    @Test func `without the cache, settings and hidden photos remain`() async throws {
        let before = try await open().main
        try await before.setShuffled(true)
        try await before.hide("a/p1")
        try await before.next()
        try await cache.run {
            try $0.execute(
                "DELETE FROM playlist; DELETE FROM playlist_part; DELETE FROM playlist_state")
        }
        let after = try await open().main
        #expect(after.settings == before.settings && after.hidden == [id("p1")])
        #expect(after.photo == nil && !after.canGoPrevious)
        try await after.next()
        #expect(after.currentID != nil)
    }

    @Test func `a photo is hidden although a number in the cache is damaged`() async throws {
        try await open().main.next()
        try await cache.run {
            try $0.execute("UPDATE playlist_state SET hide_number = 9223372036854775807")
        }
        let slideshow = try await open().main
        try await slideshow.hide("a/p1")
        #expect(slideshow.hidden == [id("p1")])
    }

    @Test func `a photo is hidden although the number of another one is damaged`() async throws {
        try await open().main.hide("a/p1")
        try await data.run { try $0.execute("UPDATE hidden SET number = 1 << 48") }
        await data.closeFile()
        let slideshow = try await open().main
        try await slideshow.hide("a/p2")
        #expect(slideshow.hidden == [id("p1"), id("p2")])
    }

    @Test(arguments: [false, true])
    func `a step after the deletion of the cache shows a photo`(isShuffled: Bool) async throws {
        let slideshow = try await open().main
        try await slideshow.setShuffled(isShuffled)
        for _ in 0..<2 { try await slideshow.next() }
        for suffix in ["", "-shm", "-wal"] { unlink(cache.path + suffix) }
        try await slideshow.next()
        #expect(slideshow.playlist.entries.count == 3)
        #expect(try await open().main.playlist.entries == slideshow.playlist.entries)
    }

    // MARK: Photos that cannot be shown

    @Test func `CanGoNext is right after a change without a client`() async throws {
        let fixture = SlideshowFixture(FakeSlideshowPhotos(["a": ["p1", "p2"]]))
        fixture.photos.albums = ["x"]
        fixture.photos.selections["x"] = [PhotoID("p2")]
        fixture.photos.portraits = [PhotoID("p1")]
        let slideshow = fixture.slideshow
        try await slideshow.setOrientation("portrait")
        try await fixture.setSource("a", "x")
        await fixture.settle()
        #expect(!slideshow.canGoNext)
        await #expect(throws: EngineError.self) { try await slideshow.next() }
        try await fixture.setSource("a")
        await fixture.settle()
        #expect(slideshow.canGoNext)
        try await fixture.setSource("a", "x")
        await fixture.settle()
        #expect(!slideshow.canGoNext)
        try await slideshow.setOrientation("any")
        await fixture.settle()
        #expect(slideshow.canGoNext && fixture.photos.fetches.isEmpty)
    }

    @Test(arguments: [false, true])
    func `a photo hidden or removed elsewhere changes in one step`(isHidden: Bool) async throws {
        let (main, kitchen) = try await open()
        kitchen.replacementTimeLimit = .seconds(600)
        try await kitchen.show("a/p3")
        var shown: [String?] = []
        kitchen.onChange = { [unowned kitchen] in shown.append(kitchen.photo?.id.photo.text) }
        if isHidden {
            try await main.hide("a/p3")
        } else {
            photos.accounts[0].photos[PhotoID("p3")] = nil
            await kitchen.removePhotos([id("p3")])
        }
        #expect(shown.last == "p1" && !shown.contains(nil))
    }

    @Test func `the next photo of the history replaces a hidden one in one step`() async throws {
        let fixture = SlideshowFixture(photos)
        let slideshow = fixture.slideshow
        photos.accounts[0].isLocal = false
        slideshow.replacementTimeLimit = .seconds(600)
        #expect(try await fixture.next(3) == ["p1", "p2", "p3"])
        for _ in 0..<2 { try await slideshow.previous() }
        // Their images have to be fetched again, and that of one photo fails.
        photos.cached = []
        photos.failing = [id("p2")]
        var shown: [String?] = []
        slideshow.onChange = { [unowned slideshow] in shown.append(slideshow.photo?.id.photo.text) }
        try await slideshow.hide("a/p1")
        #expect(shown.last == "p3" && !shown.contains(nil))
        await fixture.settle()
    }

    @Test func `calls reply within their time limit without a response`() async throws {
        let fixture = SlideshowFixture(photos)
        let slideshow = fixture.slideshow
        photos.accounts[0].isLocal = false
        #expect(try await fixture.next() == "p1")
        photos.cached = []
        photos.images.begin()
        slideshow.callTimeLimit = .seconds(3)
        await #expect(throws: ProviderError.self) { try await slideshow.next() }
        await #expect(throws: ProviderError.self) { try await slideshow.show("a/p3") }
        // Other changes do not wait for an earlier call, or for an image.
        try await slideshow.setImageSize("full")
        #expect((slideshow.settings.imageSize, slideshow.image) == (.full, "/regular/a/p1"))
        try await slideshow.hide("a/p1")
        try await slideshow.attach(":1.1")
        #expect(slideshow.hidden == [id("p1")] && slideshow.photo == nil)
        photos.images.end()
        try await poll { slideshow.photo != nil }
        #expect(["p2", "p3"].contains(fixture.current))
        #expect(slideshow.image.hasPrefix("/full/"))
        await fixture.settle()
    }

    @Test(arguments: [false, true], [false, true])
    func `many unreadable photos are passed over`(isLocal: Bool, isShuffled: Bool) async throws {
        let names = (1...(isLocal ? 230 : 410)).map { "p\($0)" }
        let photos = FakeSlideshowPhotos(["a": names])
        photos.accounts[0].isLocal = isLocal
        photos.failing = Set(names.dropLast(4).map(id))
        let fixture = SlideshowFixture(photos)
        fixture.slideshow.callTimeLimit = .seconds(600)
        try await fixture.slideshow.setShuffled(isShuffled)
        var failures = 0
        while fixture.current.isEmpty, failures < 410 {
            do { try await fixture.slideshow.next() } catch { failures += 1 }
        }
        #expect(names.suffix(4).contains(fixture.current))
        // No service is asked for more than five images by a call.
        #expect(failures <= (isLocal ? 0 : 82))
    }

    @Test(arguments: [false, true])
    func `a search continues after pages without the orientation`(isShuffled: Bool) async throws {
        let photos = FakeSlideshowPhotos(["a": (1...40).map { "p\($0)" }])
        photos.accounts[0].isLocal = false
        photos.pageLimit = 3
        photos.passesPages = true
        photos.portraits = [PhotoID("p39")]
        let fixture = SlideshowFixture(photos)
        try await fixture.slideshow.setShuffled(isShuffled)
        try await fixture.slideshow.setOrientation("portrait")
        await fixture.settle()
        var failures = 0
        while fixture.current.isEmpty, failures < 10 {
            let pages = photos.pageCount
            do { try await fixture.slideshow.next() } catch { failures += 1 }
            #expect(photos.pageCount - pages <= SlideshowSearch.pageLimit + 2)
            #expect(fixture.slideshow.canGoNext)
        }
        #expect(fixture.current == "p39" && failures > 0)
    }
}
