import EngineModel
import Logging
import LoopbackHTTP
import ProviderKit
import Storage
import System
import TestSupport

@testable import SlideshowCore

/// A slideshow over accounts in memory, with a clock that advances on demand.
@MainActor
final class SlideshowFixture {
    let photos: FakeSlideshowPhotos
    let clock = CountingClock()
    private(set) lazy var slideshow = makeSlideshow(SlideshowStore.Contents())
    let store: SlideshowStore
    /// The databases of the store, for faults.
    let data: Store
    let cache: Store
    private var random: SeededRandom

    init(_ photos: FakeSlideshowPhotos, seed: UInt64 = 1) {
        self.photos = photos
        random = SeededRandom(seed: seed)
        data = .inMemory([SlideshowStore.dataFormat])
        cache = .inMemory([SlideshowStore.cacheFormat])
        store = SlideshowStore(data: data, cache: cache)
    }

    private func makeSlideshow(_ contents: SlideshowStore.Contents) -> Slideshow {
        let hidden = HiddenPhotos(store, contents)
        let slideshow = Slideshow(
            "", store, contents, hidden, photos, clock: clock,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            makeRandom: { [unowned self] in SeededRandom(seed: random.next()) })
        hidden.slideshows = { [weak slideshow] in [slideshow].compactMap(\.self) }
        photos.slideshow = slideshow
        return slideshow
    }

    /// Replaces the slideshow by one with the same store, as after a kill of the daemon.
    func restart() async throws {
        slideshow.timer?.stop()
        slideshow.invalidate()
        slideshow.reader.background?.cancel()
        await slideshow.reader.background?.value
        await slideshow.reader.queue.run {}
        var contents = try await store.contents()
        if let image = contents.playlists[""]?.current?.image, photos.deleted.contains(image) {
            contents.missingImages = [""]
        }
        slideshow = makeSlideshow(contents)
        slideshow.start()
        await settle()
    }

    /// Reports that photos arrived in the source of the first account.
    func arrive(_ count: Int = 1) async {
        slideshow.reader.sourceChanged(photos.accounts[0].id, SourceID("all"), new: count)
        await settle()
    }

    /// Attaches a client, and waits for its photo.
    func attach() async throws {
        try await slideshow.attach(":1.1")
        await settle()
    }

    /// Waits until all searches and readings are finished.
    func settle() async {
        var quiet = 0
        while quiet < 3 {
            for _ in 0..<10 { await Task.yield() }
            let isBusy = slideshow.preparation != nil || slideshow.reader.background != nil
            _ = try? await slideshow.preparation?.value
            await slideshow.reader.background?.value
            await slideshow.navigation.run {}
            await slideshow.reader.queue.run {}
            _ = try? await slideshow.commit { _ in }
            quiet = isBusy ? 0 : quiet + 1
        }
    }

    /// Returns the photos of the source that were shown or skipped in this round: those that wait for the next one.
    func shownInRound() async throws -> Set<CombinedPhotoID> {
        let positions = Playlist.positions(slideshow.playlist.round + 1)
        return try await Set(store.waiting(positions, of: "", limit: 10_000).entries.map(\.id))
    }

    /// The number of timers, after those that were just started or stopped.
    func timerCount(_ expected: Int) async -> Int {
        // Timers are started on other threads, which a slow machine may suspend for seconds.
        let start = ContinuousClock.now
        while clock.sleeperCount != expected, ContinuousClock.now - start < .seconds(120),
            !Task.isCancelled
        {
            // Releases the processor for these threads.
            try? await Task.sleep(for: .milliseconds(1))
        }
        return clock.sleeperCount
    }

    /// Advances the clock until the running timer fires, and waits until the step is finished.
    func fireTimer() async {
        _ = await timerCount(1)
        let started = clock.startedCount
        clock.advance(by: .seconds(slideshow.settings.intervalSeconds))
        // The timer is started again after the step.
        while clock.startedCount == started { await Task.yield() }
        await settle()
    }

    /// The ID of the current photo within its account; empty if there is none.
    var current: String { slideshow.photo?.id.photo.text ?? "" }

    /// Calls `Next`, and returns the photo that is shown.
    func next() async throws -> String {
        try await slideshow.next()
        await settle()
        return current
    }

    /// Calls `Next` several times.
    func next(_ count: Int) async throws -> [String] {
        var shown: [String] = []
        for _ in 0..<count { shown.append(try await next()) }
        return shown
    }

    /// Makes a source the only one.
    func setSource(_ account: String?, _ source: String = "") async throws {
        try await slideshow.setSource(
            SlideshowSource(
                account: account.map { AccountID(stored: $0) }, source: SourceID(source)))
    }
}

extension Slideshow {
    /// Makes a source the only one.
    func setSource(_ source: SlideshowSource) async throws { try await setSources([source]) }
}

nonisolated extension SlideshowSettings {
    /// The first source. Setting it makes it the only one.
    var source: SlideshowSource {
        get { sources[0] }
        set { sources = [newValue] }
    }
}
