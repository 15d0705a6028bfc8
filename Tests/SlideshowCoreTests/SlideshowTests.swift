import EngineModel
import Logging
import LoopbackHTTP
import ProviderKit
import Storage
import System
import TestSupport
import Testing

@testable import SlideshowCore

/// Tests of the slideshow with accounts in memory.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct SlideshowTests {
    private let nine = (1...9).map { "p\($0)" }

    private func fixture(_ photos: [String]? = nil) -> SlideshowFixture {
        SlideshowFixture(FakeSlideshowPhotos(["local_ada": photos ?? nine]))
    }

    private func expectNotFound(_ body: () async throws -> Void) async {
        await #expect { try await body() } throws: { Slideshow.isGone($0) }
    }

    // MARK: Steps

    @Test func `the photos come in the order of the source, then again`() async throws {
        let fixture = fixture(["a", "b", "c"])
        #expect(fixture.current.isEmpty && fixture.slideshow.image.isEmpty)
        #expect(try await fixture.next(7) == ["a", "b", "c", "a", "b", "c", "a"])
        #expect(fixture.slideshow.image == "/regular/local_ada/a")
    }

    @Test func `next after previous goes forward through the history, then on`() async throws {
        let fixture = fixture()
        _ = try await fixture.next(3)
        try await fixture.slideshow.previous()
        try await fixture.slideshow.previous()
        #expect(fixture.current == "p1")
        #expect(!fixture.slideshow.canGoPrevious && fixture.slideshow.canGoNext)
        await expectNotFound { try await fixture.slideshow.previous() }
        #expect(fixture.current == "p1")
        #expect(try await fixture.next(4) == ["p2", "p3", "p4", "p5"])
    }

    @Test func `without photos, next fails and there is no current photo`() async throws {
        let fixture = fixture([])
        await expectNotFound { try await fixture.slideshow.next() }
        #expect(fixture.slideshow.photo == nil && !fixture.slideshow.canGoNext)
        fixture.photos.add("new", to: 0)
        await fixture.arrive()
        #expect(fixture.slideshow.canGoNext)
        #expect(try await fixture.next() == "new")
    }

    @Test func `a selected photo is shown, and an unknown one is not found`() async throws {
        let fixture = fixture()
        try await fixture.slideshow.show("local_ada/p7")
        #expect(fixture.current == "p7")
        for unknown in ["local_ada/x", "local_bob/p1", "p1", ""] {
            await expectNotFound { try await fixture.slideshow.show(unknown) }
        }
        #expect(fixture.current == "p7")
        #expect(try await fixture.next() == "p1")
    }

    @Test func `next shows another photo than the current one at the top`() async throws {
        let fixture = fixture(["a", "b"])
        try await fixture.slideshow.show("local_ada/a")
        #expect(try await fixture.next(2) == ["b", "a"])
        try await fixture.setSource("local_ada")
        #expect(try await fixture.next(3) == ["b", "a", "b"])
        fixture.photos.accounts[0].photos[PhotoID("a")] = nil
        #expect(try await fixture.next(2) == ["b", "b"])
    }

    @Test func `a photo whose image cannot be fetched is skipped`() async throws {
        let fixture = fixture()
        fixture.photos.failing = [id("p1"), id("p3")]
        #expect(try await fixture.next(3) == ["p2", "p4", "p5"])
    }

    @Test func `if no image can be fetched, the photo remains, with few tries`() async throws {
        let fixture = fixture()
        fixture.photos.accounts[0].isLocal = false
        #expect(try await fixture.next() == "p1")
        fixture.photos.accounts[0].isUnreachable = true
        await #expect(throws: HTTPError.self) { try await fixture.slideshow.next() }
        #expect((fixture.current, fixture.photos.fetches.count) == ("p1", 2))
        fixture.photos.accounts[0].isUnreachable = false
        #expect(try await fixture.next() == "p2")
    }

    @Test func `on a metered network, only cached images are shown`() async throws {
        let fixture = fixture()
        fixture.photos.accounts[0].isLocal = false
        fixture.photos.isMetered = true
        await expectNotFound { try await fixture.slideshow.next() }
        fixture.photos.cached = [id("p4"), id("p6")]
        #expect(try await fixture.next(3) == ["p4", "p6", "p4"])
        #expect(fixture.photos.fetches.isEmpty)
        await expectNotFound { try await fixture.slideshow.show("local_ada/p1") }
    }

    // MARK: Timer and preparation

    @Test func `the first client sees the first photo, and one timer runs`() async throws {
        let fixture = fixture()
        try await fixture.slideshow.attach(":1.1")
        try await fixture.slideshow.attach(":1.1")
        try await fixture.slideshow.attach(":1.2")
        await fixture.settle()
        #expect(fixture.current == "p1")
        #expect(await fixture.timerCount(1) == 1)
        #expect(fixture.photos.watched.map(\.source.text) == ["all"])
        fixture.clock.advance(by: .seconds(1799))
        await fixture.settle()
        #expect(fixture.current == "p1")
        fixture.clock.advance(by: .seconds(1))
        try await poll { fixture.current == "p2" }
        await fixture.settle()
        #expect(await fixture.timerCount(1) == 1)
        try await fixture.slideshow.detach(":1.1")
        #expect(await fixture.timerCount(1) == 1)
        try await fixture.slideshow.detach(":1.2")
        #expect(await fixture.timerCount(0) == 0)
        #expect(fixture.photos.watched.isEmpty)
    }

    @Test func `the next image is fetched before it is due, both are protected`() async throws {
        let fixture = fixture()
        try await fixture.attach()
        #expect(fixture.photos.fetches.map(\.photo.text) == ["p1", "p2"])
        #expect(fixture.photos.pinned == ["/regular/local_ada/p1", "/regular/local_ada/p2"])
        _ = try await fixture.next()
        #expect(fixture.photos.pinned == ["/regular/local_ada/p2", "/regular/local_ada/p3"])
        _ = try await fixture.next(5)
        #expect(fixture.photos.pinned == ["/regular/local_ada/p7", "/regular/local_ada/p8"])
    }

    @Test func `paused or without a client, no image is fetched, and no timer runs`() async throws {
        let fixture = fixture()
        _ = try await fixture.next()
        #expect(fixture.photos.fetches.count == 1)
        try await fixture.slideshow.setPaused(true)
        try await fixture.attach()
        #expect(fixture.photos.fetches.count == 1)
        #expect(await fixture.timerCount(0) == 0)
        try await fixture.slideshow.setPaused(false)
        await fixture.settle()
        #expect(fixture.photos.fetches.count == 2)
        #expect(await fixture.timerCount(1) == 1)
        try await fixture.slideshow.setInterval(seconds: 0)
        #expect(await fixture.timerCount(0) == 0)
    }

    @Test func `next restarts the timer`() async throws {
        let fixture = fixture()
        try await fixture.attach()
        #expect(await fixture.timerCount(1) == 1)
        fixture.clock.advance(by: .seconds(1000))
        #expect(try await fixture.next() == "p2")
        #expect(await fixture.timerCount(1) == 1)
        fixture.clock.advance(by: .seconds(1000))
        await fixture.settle()
        #expect(fixture.current == "p2")
    }

    @Test func `a photo that is due is shown when its image arrives`() async throws {
        let fixture = fixture()
        try await fixture.attach()
        _ = await fixture.timerCount(1)
        fixture.photos.images.begin()
        let step = Task { try await fixture.slideshow.next() }
        try await poll { fixture.current == "p2" && fixture.photos.images.count == 1 }
        try await step.value
        _ = await fixture.timerCount(1)
        // The next image is still being fetched when it is due.
        fixture.clock.advance(by: .seconds(1800))
        for _ in 0..<50 { await Task.yield() }
        #expect(fixture.current == "p2")
        fixture.photos.images.end()
        try await poll { fixture.current == "p3" }
        await fixture.settle()
        #expect(fixture.current == "p3")
        #expect(await fixture.timerCount(1) == 1)
    }

    @Test func `an interval is 0 or at least 5 seconds`() async throws {
        let fixture = fixture()
        for seconds: UInt32 in 1...4 {
            await #expect(throws: EngineError.self) {
                try await fixture.slideshow.setInterval(seconds: seconds)
            }
        }
        for seconds: UInt32 in [0, 5, .max] {
            try await fixture.slideshow.setInterval(seconds: seconds)
            #expect(fixture.slideshow.settings.intervalSeconds == seconds)
        }
        await #expect(throws: EngineError.self) { try await fixture.slideshow.setImageSize("huge") }
    }

    @Test func `another image size applies to the current photo at once`() async throws {
        let fixture = fixture()
        fixture.slideshow.replacementTimeLimit = .seconds(600)
        _ = try await fixture.next()
        fixture.photos.cached = []
        try await fixture.slideshow.setImageSize("full")
        #expect(fixture.slideshow.image == "/full/local_ada/p1")
        #expect(fixture.slideshow.settings.imageSize == .full)
    }

    @Test func `another image size applies during a step that waits for a service`() async throws {
        let fixture = fixture()
        let slideshow = fixture.slideshow
        fixture.photos.accounts[0].isLocal = false
        slideshow.callTimeLimit = .seconds(600)
        slideshow.replacementTimeLimit = .zero
        _ = try await fixture.next()
        fixture.photos.cached = []
        fixture.photos.images.begin()
        let step = Task { try await slideshow.next() }
        try await poll { fixture.photos.images.count == 1 }
        try await slideshow.setImageSize("full")
        #expect((slideshow.settings.imageSize, slideshow.image) == (.full, "/regular/local_ada/p1"))
        fixture.photos.images.end()
        try await step.value
        #expect(slideshow.image == "/full/local_ada/p2")
        await fixture.settle()
    }

    @Test(arguments: ["state", "size", "restart"])
    func `an image that failed in another size is fetched later`(event: String) async throws {
        let fixture = fixture()
        fixture.slideshow.replacementTimeLimit = .seconds(600)
        fixture.photos.accounts[0].isLocal = false
        _ = try await fixture.next()
        fixture.photos.cached = []
        fixture.photos.accounts[0].isUnreachable = true
        try await fixture.slideshow.setImageSize("full")
        #expect(fixture.slideshow.image == "/regular/local_ada/p1")
        // Without a client, nothing is repeated.
        #expect(fixture.slideshow.retry == nil)
        fixture.photos.accounts[0].isUnreachable = false
        switch event {
        case "state": fixture.slideshow.handle(.changed(.state), of: local)
        case "size": try await fixture.slideshow.setImageSize("full")
        default: try await fixture.restart()
        }
        try await poll { fixture.slideshow.image == "/full/local_ada/p1" }
    }

    @Test(arguments: [AccountChange.state, .session])
    func `an image is fetched when its account becomes ready`(change: AccountChange) async throws {
        let fixture = fixture()
        let slideshow = fixture.slideshow
        slideshow.replacementTimeLimit = .seconds(600)
        fixture.photos.accounts[0].isLocal = false
        try await fixture.attach()
        fixture.photos.cached = []
        fixture.photos.accounts[0].isUnreachable = true
        try await slideshow.setImageSize("full")
        slideshow.handle(.changed(.state), of: local)
        #expect(slideshow.retry != nil)
        fixture.photos.accounts[0].isUnreachable = false
        slideshow.handle(.changed(change), of: local)
        // The pause would end later.
        #expect(slideshow.retry == nil)
        try await poll { slideshow.image == "/full/local_ada/p1" }
    }

    // MARK: Photos that arrive and leave

    @Test func `new photos at the top come next, then the walk continues`() async throws {
        let fixture = fixture()
        #expect(try await fixture.next(3) == ["p1", "p2", "p3"])
        fixture.photos.add("n1", to: 0)
        fixture.photos.add("n2", to: 0)
        await fixture.arrive(2)
        #expect(try await fixture.next(4) == ["n2", "n1", "p4", "p5"])
    }

    @Test func `the next photo replaces the current one that is removed or hidden`() async throws {
        let fixture = fixture()
        try await fixture.attach()
        fixture.photos.accounts[0].photos[PhotoID("p1")] = nil
        await fixture.slideshow.removePhotos([id("p1")])
        #expect(fixture.current == "p2")
        await fixture.settle()
        try await fixture.slideshow.hide("local_ada/p2")
        #expect((fixture.current, fixture.slideshow.hidden.map(\.text)) == ("p3", ["local_ada/p2"]))
        #expect(!fixture.slideshow.canGoPrevious)
        await fixture.settle()
        #expect(try await fixture.next(7) == ["p4", "p5", "p6", "p7", "p8", "p9", "p3"])
        try await fixture.slideshow.unhide("local_ada/p2")
        await expectNotFound { try await fixture.slideshow.unhide("local_ada/p2") }
        await expectNotFound { try await fixture.slideshow.hide("local_ada/x") }
    }

    @Test func `hiding a hidden photo again removes it from the slideshow`() async throws {
        let fixture = fixture()
        try await fixture.slideshow.hide("local_ada/p5")
        try await fixture.slideshow.show("local_ada/p5")
        #expect(fixture.current == "p5")
        try await fixture.slideshow.hide("local_ada/p5")
        #expect(fixture.current == "p1")
        try await fixture.slideshow.show("local_ada/p5")
        #expect(try await fixture.next() == "p2")
        try await fixture.slideshow.hide("local_ada/p5")
        try await fixture.slideshow.previous()
        #expect((fixture.current, fixture.slideshow.hidden.map(\.text)) == ("p1", ["local_ada/p5"]))
    }

    @Test func `an account that logs out leaves the slideshow at once`() async throws {
        let fixture = SlideshowFixture(
            FakeSlideshowPhotos(["a": ["a1", "a2"], "b": ["b1", "b2"]]))
        fixture.photos.accounts[0].photos = [PhotoID("a1"): 10, PhotoID("a2"): 9]
        #expect(try await fixture.next() == "a1")
        fixture.photos.accounts[0].isLoggedIn = false
        fixture.slideshow.accountsChanged()
        try await poll { fixture.current == "b1" }
        await fixture.settle()
        #expect(try await fixture.next(2) == ["b2", "b1"])
        fixture.photos.accounts[1].isLoggedIn = false
        fixture.slideshow.accountsChanged()
        try await poll { fixture.slideshow.photo == nil }
        await fixture.settle()
        await expectNotFound { try await fixture.slideshow.next() }
        fixture.photos.accounts[0].isLoggedIn = true
        fixture.slideshow.accountsChanged()
        #expect(try await fixture.next() == "a1")
    }

    @Test func `the source is the combined account after its account is removed`() async throws {
        let fixture = SlideshowFixture(FakeSlideshowPhotos(["a": ["a1"], "b": ["b1"]]))
        let account = AccountID(stored: "b")
        try await fixture.setSource("b")
        #expect(try await fixture.next(2) == ["b1", "b1"])
        fixture.photos.accounts.remove(at: 1)
        await fixture.slideshow.accountRemoved(account)
        try await poll { fixture.current == "a1" }
        #expect(fixture.slideshow.settings.source == .initial)
    }

    @Test func `a source that does not exist is not found`() async throws {
        let fixture = fixture()
        await expectNotFound { try await fixture.setSource(nil, "nothing") }
        await expectNotFound { try await fixture.setSource("x") }
        #expect(fixture.slideshow.settings.source == .initial)
    }

    // MARK: Shuffle

    @Test func `shuffle shows all photos before any twice, and none twice in a row`() async throws {
        let fixture = fixture()
        try await fixture.slideshow.setShuffled(true)
        let first = try await fixture.next(9)
        #expect(first.sorted() == nine)
        #expect(first != nine)
        let second = try await fixture.next(9)
        #expect(second.sorted() == nine)
        #expect(first != second)
        #expect(first.last != second.first)
    }

    @Test func `a round begins if no photo of the last one can be fetched`() async throws {
        let fixture = fixture()
        fixture.photos.failing = Set(nine.dropFirst(2).map { id($0) })
        try await fixture.slideshow.setShuffled(true)
        #expect(try await Set(fixture.next(10)) == ["p1", "p2"])
    }

    @Test func `no round begins while another task reads photos of this round`() async throws {
        let fixture = fixture(["p1", "p2", "p3"])
        let (slideshow, photos) = (fixture.slideshow, fixture.photos)
        photos.pageLimit = 1
        slideshow.callTimeLimit = .seconds(600)
        try await slideshow.setShuffled(true)
        photos.failing = [CombinedPhotoID(photos.accounts[0].id, PhotoID("p1"))]
        photos.images.begin()
        photos.laterPages.begin()
        let step = Task { try await slideshow.next() }
        // The image of the first photo is fetched, and the background reads the later ones.
        try await poll { photos.images.count == 1 }
        slideshow.reader.readAhead()
        try await poll { photos.laterPages.count == 1 }
        photos.images.end()
        try await poll { !photos.failures.isEmpty }
        // The search finds no other known photo, and waits until the background has read.
        for _ in 0..<10 {
            for _ in 0..<10 { await Task.yield() }
            try await slideshow.commit { _ in }
        }
        photos.laterPages.end()
        try await step.value
        await fixture.settle()
        #expect(["p2", "p3"].contains(fixture.current))
        #expect(slideshow.playlist.round == 0)
    }

    @Test func `a selected photo of another source is no part of the round`() async throws {
        let fixture = SlideshowFixture(FakeSlideshowPhotos(["a": ["a1", "a2"], "b": ["b1"]]))
        try await fixture.setSource("a")
        try await fixture.slideshow.setShuffled(true)
        for _ in 0..<2 {
            try await fixture.slideshow.show("b/b1")
            #expect(fixture.current == "b1")
            #expect(try await fixture.next(4).sorted() == ["a1", "a1", "a2", "a2"])
        }
    }

    @Test func `an unreachable account does not hide the photos of unread accounts`() async throws {
        let photos = FakeSlideshowPhotos(["a": ["a1", "a2", "a3"], "b": ["b1"]])
        for index in photos.accounts.indices { photos.accounts[index].isLocal = false }
        photos.mayReadAhead = false
        let fixture = SlideshowFixture(photos)
        try await fixture.slideshow.setShuffled(true)
        #expect(try await fixture.next().hasPrefix("a"))
        photos.accounts[0].isUnreachable = true
        #expect(try await fixture.next() == "b1")
    }

    @Test(arguments: [true, false])
    func `a new photo behind others of another orientation is next`(isSized: Bool) async throws {
        let photos = FakeSlideshowPhotos(["a": ["a1", "a2", "a3"]])
        photos.accounts[0].isLocal = false
        photos.mayReadAhead = false
        photos.pageLimit = 1
        let fixture = SlideshowFixture(photos)
        try await fixture.slideshow.setShuffled(true)
        try await fixture.slideshow.setOrientation("landscape")
        _ = try await fixture.next()
        photos.add("new", to: 0)
        photos.add("other", to: 0)
        if isSized {
            photos.portraits = [PhotoID("other")]
        } else {
            photos.unknown = [PhotoID("other")]
        }
        await fixture.arrive(2)
        #expect(try await fixture.next() == "new")
    }

    @Test(arguments: [
        nil, AccountEvent.changed(.session), .changed(.feed), .photosChanged([]),
        .photosRemoved([PhotoID("p1")]),
    ])
    func `a removed photo is replaced after a restart or event`(event: AccountEvent?) async throws {
        let fixture = fixture()
        _ = try await fixture.next()
        fixture.photos.accounts[0].photos[PhotoID("p1")] = nil
        if let event {
            fixture.slideshow.handle(event, of: local)
        } else {
            try await fixture.restart()
        }
        try await poll { fixture.current == "p2" }
    }

    @Test(arguments: [[], ["n1", "n2"]])
    func `the history has no photo that another folder lacks`(names: [String]) async throws {
        let fixture = fixture()
        let slideshow = fixture.slideshow
        slideshow.replacementTimeLimit = .seconds(600)
        _ = try await fixture.next(4)
        try await slideshow.previous()
        await fixture.settle()
        var shown: [String] = []
        slideshow.onChange = { [unowned fixture] in shown.append(fixture.current) }
        fixture.photos.accounts[0].photos = [:]
        for name in names.reversed() { fixture.photos.add(name, to: 0) }
        slideshow.handle(.photosChanged([]), of: local)
        try await poll { slideshow.canGoNext != names.isEmpty && shown.last == names.first ?? "" }
        #expect(!slideshow.canGoPrevious && (names.isEmpty || !shown.contains("")))
        await fixture.settle()
    }

    // MARK: Changes of the current photo, its image and its source

    private let local = AccountID(stored: "local_ada")

    private func id(_ photo: String) -> CombinedPhotoID { CombinedPhotoID(local, PhotoID(photo)) }

    private func edited(_ photo: String) -> Photo {
        var photo = Photo(id: PhotoID(photo))
        photo.title = "edited"
        return photo
    }

    @Test func `an edit changes the current photo and its image in one step`() async throws {
        let fixture = fixture()
        _ = try await fixture.next()
        var seen: [(title: String?, image: String)] = []
        fixture.slideshow.onChange = { [unowned fixture] in
            let (photo, image) = (fixture.slideshow.photo?.photo, fixture.slideshow.image)
            if seen.last?.image != image || seen.last?.title != photo?.title {
                seen.append((photo?.title, image))
            }
        }
        fixture.photos.versions[id("p1")] = 2
        fixture.slideshow.update([id("p1"): edited("p1")])
        await fixture.settle()
        #expect((seen.map(\.title), seen.map(\.image)) == (["edited"], ["/regular/local_ada/p1-2"]))
        #expect(fixture.photos.pinned.contains("/regular/local_ada/p1-2"))
    }

    @Test(arguments: [false, true])
    func `an edit of the next photo changes its image`(isSearching: Bool) async throws {
        let fixture = fixture()
        if isSearching {
            _ = try await fixture.next()
            fixture.photos.images.begin()
            try await fixture.slideshow.attach(":1.1")
            while fixture.photos.images.count == 0 { await Task.yield() }
        } else {
            try await fixture.attach()
            #expect(fixture.slideshow.candidate?.shown.image == "/regular/local_ada/p2")
        }
        fixture.photos.versions[id("p2")] = 2
        fixture.slideshow.update([id("p2"): edited("p2")])
        fixture.photos.images.end()
        await fixture.settle()
        #expect(try await fixture.next() == "p2")
        #expect(fixture.slideshow.image == "/regular/local_ada/p2-2")
    }

    @Test(arguments: [false, true])
    func `an image that another program deletes is fetched again`(isRestart: Bool) async throws {
        let fixture = fixture()
        _ = try await fixture.next()
        let path = fixture.slideshow.image
        #expect(fixture.photos.watchedImage == path)
        (fixture.photos.deleted, fixture.photos.cached) = ([path], [])
        if isRestart { try await fixture.restart() } else { fixture.photos.loseImage() }
        await fixture.settle()
        try await poll { fixture.current == "p1" }
        #expect(fixture.photos.deleted.isEmpty)
        #expect(fixture.slideshow.image == path)
    }

    @Test func `a photo that changes before it is shown has its latest description`() async throws {
        let fixture = fixture()
        fixture.photos.images.begin()
        let step = Task { try await fixture.slideshow.show("local_ada/p3") }
        try await poll { fixture.photos.images.count == 1 }
        fixture.photos.portraits = [PhotoID("p3")]
        let changed = fixture.photos.described(PhotoID("p3"))
        fixture.slideshow.handle(.photosChanged([changed]), of: local)
        fixture.photos.images.end()
        try await step.value
        try await poll { fixture.slideshow.photo?.photo == changed }
    }

    @Test(arguments: [false, true])
    func `the last description counts, also if the image is lost`(isLost: Bool) async throws {
        let fixture = fixture()
        _ = try await fixture.next()
        let before = try #require(fixture.slideshow.photo?.photo)
        fixture.photos.cached = []
        fixture.photos.images.begin()
        fixture.slideshow.update([id("p1"): edited("p1")])
        try await poll { fixture.photos.images.count == 1 }
        // This happens while the image is fetched for the later description.
        if isLost {
            fixture.photos.loseImage()
        } else {
            fixture.slideshow.update([id("p1"): fixture.photos.described(PhotoID("p1"))])
        }
        fixture.photos.images.end()
        await fixture.settle()
        let shown = try #require(fixture.slideshow.photo?.photo)
        #expect(isLost ? shown.title == "edited" : shown == before)
    }

    @Test func `there is no next photo if all photos are hidden`() async throws {
        let fixture = fixture(["a", "b"])
        for photo in ["a", "b"] { try await fixture.slideshow.hide("local_ada/\(photo)") }
        await fixture.settle()
        #expect(!fixture.slideshow.canGoNext)
        await expectNotFound { try await fixture.slideshow.next() }
        try await fixture.restart()
        #expect(!fixture.slideshow.canGoNext)
    }

    @Test func `an attached client gets a photo when one is unhidden`() async throws {
        let fixture = fixture(["a"])
        try await fixture.slideshow.hide("local_ada/a")
        try await fixture.attach()
        #expect(fixture.current.isEmpty)
        try await fixture.slideshow.unhide("local_ada/a")
        await fixture.settle()
        #expect(fixture.current == "a")
    }

    @Test func `an attached client gets a photo when the source is set`() async throws {
        let fixture = SlideshowFixture(FakeSlideshowPhotos(["local_ada": [], "local_bob": ["b"]]))
        try await fixture.setSource(local.text, "all")
        try await fixture.attach()
        #expect(fixture.current.isEmpty)
        try await fixture.slideshow.setSource(.initial)
        await fixture.settle()
        #expect(fixture.current == "b")
    }

    @Test(arguments: [false, true])
    func `a source is replaced by the default source while missing`(isShuffled: Bool) async throws {
        let fixture = fixture()
        fixture.photos.albums = ["album:x"]
        try await fixture.slideshow.setShuffled(isShuffled)
        try await fixture.setSource(local.text, "album:x")
        try await fixture.attach()
        fixture.photos.albums = []
        fixture.slideshow.handle(.updated(SourceID("album:x"), new: 0), of: local)
        await fixture.settle()
        #expect(fixture.slideshow.source.source.text.isEmpty)
        #expect(fixture.slideshow.settings.source.source.text == "album:x")
        for _ in 0..<4 { _ = try await fixture.next() }
        fixture.photos.albums = ["album:x"]
        fixture.slideshow.handle(.updated(SourceID("album:x"), new: 0), of: local)
        await fixture.settle()
        #expect(fixture.slideshow.source.source.text == "album:x")
        _ = try await fixture.next()
    }

    @Test func `the IDs of the current photo and of the hidden ones are kept`() async throws {
        let fixture = fixture()
        _ = try await fixture.next(2)
        try await fixture.slideshow.hide("local_ada/p1")
        #expect((fixture.slideshow.currentID, fixture.slideshow.hidden) == (id("p2"), [id("p1")]))
        let before = fixture.photos.keepCount
        try await fixture.slideshow.unhide("local_ada/p1")
        #expect(fixture.slideshow.hidden.isEmpty && fixture.photos.keepCount == before + 1)
        _ = try await fixture.next()
        #expect(fixture.photos.keepCount == before + 2)
    }

    @Test func `a touched file does not read the source again`() async throws {
        let fixture = SlideshowFixture(
            FakeSlideshowPhotos(["local_ada": (1...500).map { "p\($0)" }]))
        try await fixture.slideshow.setShuffled(true)
        _ = try await fixture.next()
        await fixture.settle()
        let before = fixture.photos.pageCount
        await fixture.arrive()
        #expect(fixture.photos.pageCount == before)
    }
}
