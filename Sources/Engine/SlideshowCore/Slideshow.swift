package import EngineModel
package import Logging
package import ProviderKit
internal import Storage
internal import System
internal import Translation

/// A photo that is shown now, shared by all clients, and the order in which photos follow.
///
/// ``Playlist`` and ``SlideshowSearch`` decide; this class has the timer, fetches images and stores transitions.
package final class Slideshow {
    /// The next photo, whose image has been fetched, and the positions of it and of the photos that were passed over in
    /// the search for it.
    typealias Candidate = (shown: Playlist.Shown, positions: [Int64])

    /// Called after a change of the state, which is stored.
    package var onChange: () -> Void = {}
    /// Called when the timer is needed, so that resumes of the machine are reported with ``resumed()``.
    package var onAttach: () -> Void = {}

    /// The name; empty for the default slideshow.
    package let name: String
    private(set) var playlist: Playlist
    /// The playlist that was stored last.
    private var stored: Playlist
    package let hiddenPhotos: HiddenPhotos
    let store: SlideshowStore
    let photos: any SlideshowPhotos
    package let logger: Logger
    private(set) var timer: SlideshowTimer?
    /// Runs transitions of the playlist, which take as long as storing them.
    private let changes = ChangeQueue()
    /// Runs steps from photo to photo, which may fetch an image.
    let navigation = ChangeQueue()
    /// Reads the photos of the source.
    package private(set) lazy var reader = SlideshowReader(self)
    /// The next photo; nil while it is not ready.
    var candidate: Candidate?
    /// The search for the next photo.
    var preparation: Task<Void, any Error>?
    /// A number that increases when the source, the order or the image size changes. Results of searches with another
    /// number are not used.
    private(set) var revision = 0
    /// The error of the last search; nil if something has changed since. While there is one, no search begins without a
    /// call.
    var searchError: (any Error)?
    /// The first position of the next search, because the one before reached its limit.
    var searchPosition: Int64 = 0
    /// The parts when the source was last checked.
    var lastParts: [SlideshowPart] = []
    /// True if the image of the current photo was deleted while the daemon was not running.
    private var isImageMissing: Bool
    /// True if the image of the current photo was lost, or may have another size than that of the settings. It is fetched
    /// again until that succeeds.
    var isImageOutdated: Bool
    /// The images that were loaded last: of at most a step and a search that run at the same time.
    private var loaded: [String] = []
    /// The number of steps that clients have requested.
    var requestedSteps = 0
    /// The latest description of the current photo; nil if it is stored.
    private var latest: Photo?
    /// Runs the updates of the current photo and its image.
    private let refreshing = ChangeQueue()
    /// The update that has not begun yet.
    private var waitingRefresh: Task<Void, Never>?
    /// The update after an image that could not be fetched.
    var retry: Task<Void, Never>?
    /// True if the account of the current photo was ready at its last change.
    var wasReady = false
    /// The pauses before ``retry``.
    private(set) var backoff = Backoff(first: .seconds(20), factor: 2, longest: .seconds(3600))
    /// The photos that changed during the search for the next photo.
    var changedInSearch: Set<CombinedPhotoID> = []
    /// The chosen sources that do not exist, for example because an album was renamed.
    private var missingSources: Set<SlideshowSource> = []
    private var isCheckingSource = false
    private var isDeleted = false
    /// The time in which the next photo is searched for before the current one is removed, and for which a call waits for an
    /// image in another size.
    var replacementTimeLimit = Duration.seconds(1)
    /// The time limit of a call of a client, which ends before the timeout of the client and includes the wait for earlier
    /// steps. Tests that wait for other tasks within a call set a longer one.
    var callTimeLimit = Duration.seconds(18)
    /// The time limit of a search, which leaves time for the fetch that is in progress then.
    var searchTimeLimit: Duration { callTimeLimit * 3 / 4 }
    /// Returns the generator of the random order of one page or step.
    let makeRandom: () -> any RandomNumberGenerator

    /// - Parameters:
    ///   - name: The name; empty for the default slideshow.
    ///   - store: The store.
    ///   - contents: The contents of the store. A slideshow that is not in it is new.
    ///   - hidden: The hidden photos.
    ///   - photos: The photos of the accounts.
    ///   - clock: The clock of the timer.
    ///   - logger: Receives failures of automatic steps.
    ///   - makeRandom: Returns the generator of the random order of one page or step.
    package init(
        _ name: String, _ store: SlideshowStore, _ contents: SlideshowStore.Contents,
        _ hidden: HiddenPhotos, _ photos: any SlideshowPhotos, clock: any Clock<Duration>,
        logger: Logger,
        makeRandom: @escaping () -> any RandomNumberGenerator = { SystemRandomNumberGenerator() }
    ) {
        self.name = name
        self.store = store
        hiddenPhotos = hidden
        self.photos = photos
        self.logger = logger
        self.makeRandom = makeRandom
        playlist =
            contents.playlists[name]
            ?? .unread(SlideshowSettings(), hideNumber: hidden.lastNumber)
        stored = playlist
        isImageMissing = contents.missingImages.contains(name)
        isImageOutdated = playlist.current != nil
        timer = SlideshowTimer(clock) { [weak self] in self?.timerFired() }
    }

    // MARK: State

    package var settings: SlideshowSettings { playlist.settings }
    /// The current photo; nil if there is none, or while its image is fetched after a restart.
    package var photo: (id: CombinedPhotoID, photo: Photo)? {
        isImageMissing ? nil : playlist.current.map { ($0.id, $0.photo) }
    }
    /// The path of the image of the current photo; empty if there is none.
    package var image: String { isImageMissing ? "" : playlist.current?.image ?? "" }
    package var canGoPrevious: Bool { !playlist.past.isEmpty }
    package var canGoNext: Bool {
        !playlist.future.isEmpty || candidate != nil
            || (!isEmpty && settings.sources.contains { !photos.parts(of: $0).isEmpty })
    }

    /// The images that must not be evicted: of the current photo, the next one, and those that are about to become one of
    /// them.
    package var neededImages: Set<String> {
        Set(loaded + [playlist.current?.image, candidate?.shown.image].compactMap(\.self))
    }

    /// The current photo, whose ID is kept.
    package var currentID: CombinedPhotoID? { playlist.current?.id }

    /// The source that is shown. Sources that do not exist are passed over; if none is left, it is the default source of
    /// the account of the first one.
    var source: SlideshowSource {
        if let index = sourceIndex(from: playlist.sourceIndex) { return settings.sources[index] }
        return SlideshowSource(account: settings.sources[0].account, source: SourceID(""))
    }

    /// Returns the first source that exists, from an index on and then from the first one on; nil if there is none.
    private func sourceIndex(from start: Int) -> Int? {
        let sources = settings.sources
        return sources.indices.lazy.map { (start + $0) % sources.count }
            .first { [missingSources] in !missingSources.contains(sources[$0]) }
    }

    /// Continues at the top of the source that follows the one that is shown.
    ///
    /// - Parameter isRepeated: True if the photos that follow were read before, without shuffle.
    /// - Throws: ``StorageError``.
    func beginNextSource(isRepeated: Bool) async throws {
        // No page of the source is being read then.
        try await reader.queue.run {
            try await commit { playlist in
                let index = sourceIndex(from: playlist.sourceIndex) ?? playlist.sourceIndex
                let next = sourceIndex(from: index + 1) ?? 0
                if playlist.settings.isShuffled {
                    playlist.begin(next)
                } else {
                    playlist.walk(next, isRepeated: isRepeated)
                }
                reader.reset()
            }
            lastParts = photos.parts(of: source)
            updateWatch()
        }
    }

    /// Returns the random part of a position in the next round.
    func randomKey() -> Int64 {
        var random = makeRandom()
        return Playlist.randomKey(using: &random)
    }

    // MARK: Transitions

    /// Stores a transition of the playlist, applies it, and performs its effects.
    ///
    /// - Parameters:
    ///   - isForced: True to apply the transition even if the playlist cannot be stored; it is stored with the next one. A
    ///     change of the settings is applied, too, as soon as the settings are stored.
    ///   - transition: Changes the playlist, and returns a result. It runs after all earlier transitions.
    /// - Returns: The result.
    /// - Throws: The error of `transition` or of the store. The playlist is unchanged then.
    @discardableResult
    func commit<Value>(
        isForced: Bool = false, _ transition: (inout Playlist) throws -> Value
    ) async throws -> Value {
        try await commitCounting(isForced: isForced, transition).value
    }

    /// Performs ``commit(isForced:_:)``. Also returns the number of photos that got a position.
    func commitCounting<Value>(
        isForced: Bool = false, _ transition: (inout Playlist) throws -> Value
    ) async throws -> (value: Value, added: Int) {
        try await changes.run {
            guard !isDeleted else { throw EngineError.notFound("The slideshow was removed.") }
            let before = playlist
            var new = before
            let value = try transition(&new)
            guard new != before else { return (value, 0) }
            var added = 0
            if new.settings != before.settings { try await store.save(new.settings, of: name) }
            if new.durable != stored {
                do {
                    do {
                        added = try await store.save(new, replacing: stored, of: name)
                    } catch StorageError.damaged {
                        // The cache was replaced by an empty one.
                        new.begin(new.sourceIndex)
                        added = try await store.save(new, replacing: Playlist(), of: name)
                    }
                    new.changes = []
                    stored = new.durable
                } catch  where isForced || new.settings != before.settings {
                    logger.notice(
                        "The playlist cannot be stored", metadata: ["reason": "\(error)"])
                }
            }
            playlist = new
            if let id = new.current?.id, id != before.current?.id, id == candidate?.shown.id {
                candidate = nil
            }
            if new.current?.image != before.current?.image { isImageMissing = false }
            if new.current?.id != before.current?.id { latest = nil }
            changed(since: before)
            return (value, added)
        }
    }

    /// Returns photos that were not shown yet; see ``SlideshowStore/waiting(_:of:limit:)``. There are none if the cache was
    /// replaced by an empty one: the source is read again from the top, also by a search in progress.
    func waiting(
        _ positions: Range<Int64>, limit: Int
    ) async throws -> (entries: [Playlist.Entry], round: Int64?) {
        do {
            return try await store.waiting(positions, of: name, limit: limit)
        } catch StorageError.damaged {
            try await commit { playlist in
                stored = Playlist()
                playlist.begin(playlist.sourceIndex)
            }
            invalidate()
            photosMayBeAvailable(isUnknown: true)
            return ([], nil)
        }
    }

    private func changed(since before: Playlist) {
        timer?.update(playlist.timerInterval)
        if playlist.clients.isEmpty != before.clients.isEmpty
            || settings.sources != before.settings.sources
        {
            updateWatch()
        }
        onChange()
        if playlist.current?.image != before.current?.image { watchImage() }
        if playlist.current?.id != before.current?.id {
            photos.keepIDs()
            refresh()
        }
        prepareIfActive()
    }

    /// Watches the image of the current photo, and fetches it again when another program deletes or replaces the file.
    private func watchImage() {
        photos.watchImage(playlist.current?.image ?? "") { [weak self] in
            self?.isImageOutdated = true
            self?.refresh()
        }
    }

    func updateWatch() {
        photos.watch(playlist.clients.isEmpty ? [] : settings.sources.flatMap(photos.parts))
    }

    /// Checks if the chosen sources exist, once for all events that arrive together.
    func checkSourceSoon() {
        guard settings.sources.contains(where: { $0.account != nil }), !isCheckingSource else {
            return
        }
        isCheckingSource = true
        Task {
            isCheckingSource = false
            await checkSource()
        }
    }

    func checkSource() async {
        let chosen = settings.sources
        var missing: Set<SlideshowSource> = []
        for source in chosen where await !photos.exists(source) { missing.insert(source) }
        guard chosen == settings.sources, missing != missingSources else { return }
        missingSources = missing
        sourcePartsChanged()
    }

    /// Discards the next photo and searches in progress.
    func invalidate() {
        revision += 1
        preparation?.cancel()
        preparation = nil
        candidate = nil
        expectPhotos()
    }

    /// Expects that the next search finds a photo.
    func expectPhotos() {
        searchError = nil
        searchPosition = 0
    }

    // MARK: Clients

    /// Attaches a client. Shows the first photo if there is no current one. A second call has no effect.
    package func attach(_ client: String) async throws {
        guard !playlist.clients.contains(client) else { return }
        try await commit { _ = $0.clients.insert(client) }
        onAttach()
        if retry == nil { refresh() }
        reader.readTops()
        await wait(atMost: callTimeLimit) { [self] in await showAny() }
    }

    /// Detaches a client that may be attached.
    package func detach(_ client: String) async throws {
        try await commit { _ = $0.clients.remove(client) }
    }

    // MARK: Images

    /// Returns a photo with its image, which is protected from being evicted.
    ///
    /// - Returns: nil if the image is not cached and must not be fetched.
    /// - Throws: The errors of ``SlideshowPhotos``.
    func load(_ id: CombinedPhotoID, isCached: Bool) async throws -> Playlist.Shown? {
        // The image may be deleted before it is protected, or another size may be set. Three times in succession are
        // unlikely.
        for _ in 0..<3 {
            let size = settings.imageSize
            guard let photo = try await photos.photo(id, isCached: isCached),
                let image = try await photos.image(id, size, isCached: isCached)
            else { return nil }
            if await pin(image), size == settings.imageSize {
                return Playlist.Shown(id: id, photo: photo, image: image)
            }
        }
        throw ProviderError.failed(
            Message(verbatim: "The image was deleted while it was fetched; try again."))
    }

    /// Protects ``neededImages``.
    ///
    /// - Parameter image: Another image; nil for none.
    /// - Returns: False if `image` does not exist.
    @discardableResult
    func pin(_ image: String? = nil) async -> Bool {
        if let image { loaded = loaded.suffix(1) + [image] }
        let missing = await photos.pin()
        if let next = candidate?.shown.image, missing.contains(next) { candidate = nil }
        return image.map { !missing.contains($0) } ?? true
    }

    nonisolated static func isGone(_ error: any Error) -> Bool {
        switch error {
        case ProviderError.notFound, EngineError.notFound: true
        default: false
        }
    }

    // MARK: Timer

    private func timerFired() {
        let requested = requestedSteps
        Task {
            // A step of a client replaces this one.
            await step { requested == requestedSteps && playlist.timerInterval != nil }
            timer?.restart()
        }
    }

    /// Performs a step that no client waits for, if it is still needed after the search.
    private func step(if isNeeded: () -> Bool) async {
        await logging {
            // Calls of clients do not wait for the search.
            if playlist.future.isEmpty { try await findCandidate() }
            try await navigation.run { if isNeeded() { try await step() } }
        }
    }

    /// Continues after a suspend of the machine. A photo that was due meanwhile is shown once.
    package func resumed() { timer?.resumed() }

    /// Performs a change that no client waits for.
    func logging(_ body: () async throws -> Void) async {
        do { try await body() } catch {
            if case StorageError.full = error { photos.recordFullDisk() }
            logger.info("The next photo cannot be shown", metadata: ["reason": "\(error)"])
        }
    }

    // MARK: Photos that leave

    /// Removes photos, and replaces the current one if it is one of them.
    ///
    /// - Parameters:
    ///   - isRemoved: Returns true for the photos.
    ///   - isForced: False if the call must fail if the playlist cannot be stored.
    ///   - transition: Removes the photos from the playlist.
    /// - Returns: False if no other photo was ready to replace the current one; see ``showAny(isForClients:)``.
    /// - Throws: ``StorageError``.
    func remove(
        where isRemoved: (CombinedPhotoID) -> Bool, isForced: Bool = true,
        _ transition: (inout Playlist) -> Void
    ) async throws -> Bool {
        // The photo is loaded before the transition, so that there is one change for clients.
        var forward: Replacement?
        if let current = playlist.current, isRemoved(current.id) {
            if let id = candidate?.shown.id, isRemoved(id) { candidate = nil }
            forward = await prepareReplacement(of: isRemoved, replacementTimeLimit)
        }
        let isReplaced = try await commit(isForced: isForced) { playlist in
            let hadCurrent = playlist.current != nil
            transition(&playlist)
            if let id = candidate?.shown.id, isRemoved(id) { candidate = nil }
            guard hadCurrent, playlist.current == nil else { return true }
            if let (entry, shown) = forward, playlist.move(to: entry, shown, key: randomKey()) {
                return true
            }
            return takeCandidate(&playlist)
        }
        if isReplaced { prepareIfActive() }
        return isReplaced
    }

    /// Shows a photo if there is no current one.
    ///
    /// - Parameter isForClients: True if no photo is needed without an attached client.
    func showAny(isForClients: Bool = false) async {
        guard playlist.current == nil else { return }
        await step {
            playlist.current == nil && (!isForClients || !playlist.clients.isEmpty)
        }
    }

    /// Records other descriptions of photos, and fetches their images again, because the files may have changed.
    func update(_ changed: [CombinedPhotoID: Photo]) {
        if preparation != nil { changedInSearch.formUnion(changed.keys) }
        if let shown = candidate?.shown, let photo = changed[shown.id], photo != shown.photo {
            candidate = nil
            prepareIfActive()
        }
        guard let current = playlist.current, let photo = changed[current.id],
            photo != latest ?? current.photo
        else { return }
        latest = photo
        refresh()
    }

    /// Refreshes the description and the image of the current photo, unless they are the latest.
    @discardableResult
    func refresh() -> Task<Void, Never> {
        if let waitingRefresh { return waitingRefresh }
        let task = Task {
            await refreshing.run {
                waitingRefresh = nil
                if isImageOutdated || latest != nil { await refreshCurrent() }
            }
        }
        waitingRefresh = task
        return task
    }

    /// Stores the latest description of the current photo and its image in one step.
    private func refreshCurrent() async {
        guard let id = playlist.current?.id else { return }
        let (photo, size) = (latest, settings.imageSize)
        var image: String?
        do {
            // The service is asked if the content may be another one, or is not cached.
            if photo == nil { image = try await photos.image(id, size, isCached: true) }
            if image == nil {
                image = try await photos.image(id, size, isCached: !photos.mayFetch(id.account))
            }
        } catch  where isImageMissing && Self.isGone(error) {
            return await removeGone(id)
        } catch {}
        if let image { await pin(image) }
        // The refresh of a later description follows.
        guard playlist.current?.id == id, latest == photo else { return }
        try? await commit(isForced: true) { playlist in
            guard playlist.current?.id == id else { return }
            if let photo { playlist.update(photo, of: id) }
            guard let image, size == playlist.settings.imageSize else { return }
            playlist.replaceImage(image)
            isImageOutdated = false
        }
        if latest == photo { latest = nil }
        retry?.cancel()
        retry = nil
        guard image != nil else {
            isImageOutdated = true
            // No event reports that a host of images responds again. Without a client, the next one leads to another attempt.
            guard !playlist.clients.isEmpty, photos.mayFetch(id.account) else { return }
            backoff.recordFailure()
            retry = ContinuousClock().after(backoff.pause) { [weak self] in
                self?.retry = nil
                self?.refresh()
            }
            return
        }
        backoff.recordSuccess()
        // The file has the same path after it was written again, and is a new one.
        watchImage()
        if isImageMissing, !isImageOutdated {
            isImageMissing = false
            onChange()
        }
    }

    /// Applies the present description of the current photo, or removes the photo if it no longer exists.
    func checkCurrent() async {
        guard let current = playlist.current else { return }
        let before = latest ?? current.photo
        do {
            guard let photo = try await photos.photo(current.id, isCached: true) else { return }
            // A description that has arrived since may be later.
            if before == latest ?? playlist.current?.photo { update([current.id: photo]) }
        } catch  where Self.isGone(error) {
            await removeGone(current.id)
        } catch {
            await logging { throw error }
        }
    }

    /// Removes a photo that no longer exists, with the photos of its account in the history that do not exist either, for
    /// example because the account has another folder.
    private func removeGone(_ id: CombinedPhotoID) async {
        var gone: Set = [id]
        for other in playlist.entries.map(\.id) where other.account == id.account {
            do { _ = try await photos.photo(other, isCached: true) } catch {
                if Self.isGone(error) { gone.insert(other) }
            }
        }
        await removePhotos(gone)
    }

    // MARK: Start and end

    /// Checks the current photo after the accounts have started.
    package func start() {
        accountsChanged()
        guard playlist.current != nil else { return }
        watchImage()
        Task {
            await pin()
            await checkCurrent()
        }
        refresh()
    }

    /// Stops the slideshow and deletes its data.
    ///
    /// - Throws: ``StorageError``. The slideshow continues then.
    package func delete() async throws {
        try await changes.run {
            try await store.delete(name)
            stop()
            isDeleted = true
            (playlist, loaded) = (Playlist(), [])
        }
    }

    /// Stops the timer and all searches.
    package func stop() {
        timer?.stop()
        retry?.cancel()
        invalidate()
        reader.stop()
        photos.watchImage("") {}
        photos.watch([])
    }
}
