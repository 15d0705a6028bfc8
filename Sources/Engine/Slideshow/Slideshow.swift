package import Accounts
package import Logging
package import ProviderKit
internal import Translation

/// A photo that is shown now, shared by all clients, and the order in which photos follow.
///
/// ``SlideshowState``, ``SlideshowSearch`` and ``SlideshowTables`` decide; this class has the timer, fetches images and
/// stores transitions.
package final class Slideshow {
    /// The next photo, whose image has been fetched.
    struct Candidate {
        let shown: SlideshowState.Shown
        /// The position after the photo, if it comes from the order of the source.
        var cursor: String?
    }

    /// Called after a change of the state, which is stored.
    package var onChange: () -> Void = {}
    /// Called when the timer is needed, so that resumes of the machine are reported with ``resumed()``.
    package var onAttach: () -> Void = {}

    private(set) var state: SlideshowState
    package let store: SlideshowStore
    let photos: any SlideshowPhotos
    let logger: Logger
    private(set) var timer: SlideshowTimer?
    /// Runs transitions of the state, which take as long as storing them.
    private let changes = ChangeQueue()
    /// Runs steps from photo to photo, which may fetch an image.
    let navigation = ChangeQueue()
    /// Reads the photos of the source.
    package private(set) lazy var reader = SlideshowReader(self, storedParts)
    private let storedParts: [AccountID: SlideshowTables.PartState]
    /// The next photo; nil while it is not ready.
    var candidate: Candidate?
    /// The search for the next photo.
    var preparation: Task<Void, any Error>?
    /// A number that increases when the source, the order or the image size changes. Results of searches with another
    /// number are not used.
    private(set) var revision = 0
    /// True if the last search found no photo and nothing has changed since.
    var isExhausted = false
    /// The parts when the source was last checked.
    var lastParts: [SlideshowPart] = []
    /// True if the image of the current photo was deleted while the daemon was not running.
    private var isImageMissing = false
    /// The images that were loaded last: of at most a step and a search that run at the same time.
    private var loaded: [String] = []
    /// The number of steps that clients have requested.
    var requestedSteps = 0
    /// The latest descriptions of current photos that were not stored yet.
    private var updates: [CombinedPhotoID: Photo] = [:]
    /// Runs the updates of the current photo and its image.
    private let refreshing = ChangeQueue()
    /// The photos that changed during the search for the next photo.
    var changedInSearch: Set<CombinedPhotoID> = []
    /// The chosen sources that do not exist, for example because an album was renamed.
    private var missingSources: Set<SlideshowSource> = []
    private var isCheckingSource = false
    /// The time limit of a search; tests that wait for other tasks within a search set a longer one.
    var searchTimeLimit = Duration.seconds(10)
    /// Returns the generator of the random order of one page or round.
    let makeRandom: () -> any RandomNumberGenerator & Sendable

    /// - Parameters:
    ///   - store: The store.
    ///   - contents: The contents of the store.
    ///   - photos: The photos of the accounts.
    ///   - name: The name; empty for the default slideshow.
    ///   - clock: The clock of the timer.
    ///   - logger: Receives failures of automatic steps.
    ///   - makeRandom: Returns the generator of the random order of one page or round.
    package init(
        _ store: SlideshowStore, _ contents: SlideshowStore.Contents,
        _ photos: any SlideshowPhotos, name: String = "", clock: any Clock<Duration>,
        logger: Logger,
        makeRandom: @escaping () -> any RandomNumberGenerator & Sendable = {
            SystemRandomNumberGenerator()
        }
    ) {
        self.name = name
        self.store = store
        self.photos = photos
        self.logger = logger
        self.makeRandom = makeRandom
        state = contents.state
        storedParts = contents.parts
        timer = SlideshowTimer(clock) { [weak self] in self?.timerFired() }
        isImageMissing = contents.isImageMissing
    }

    // MARK: State

    package var settings: SlideshowSettings { state.settings }
    /// The current photo; nil if there is none, or while its image is fetched after a restart.
    package var photo: (id: CombinedPhotoID, photo: Photo)? {
        isImageMissing ? nil : state.current.map { ($0.id, $0.photo) }
    }
    /// The name; empty for the default slideshow.
    package let name: String
    /// The path of the image of the current photo; empty if there is none.
    package var image: String { isImageMissing ? "" : state.current?.image ?? "" }
    package var hidden: [CombinedPhotoID] { state.hidden }
    package var canGoPrevious: Bool { !state.past.isEmpty }
    package var canGoNext: Bool {
        !state.future.isEmpty || candidate != nil
            || (!isExhausted && settings.sources.contains { !photos.parts(of: $0).isEmpty })
    }

    /// The source that is shown. Sources that do not exist are passed over; if none is left, it is the default source of
    /// the account of the first one.
    var source: SlideshowSource {
        if let index = sourceIndex(from: state.sourceIndex) { return settings.sources[index] }
        return SlideshowSource(account: settings.sources[0].account, source: SourceID(""))
    }

    /// Returns the first source that exists, from an index on and then from the first one on; nil if there is none.
    private func sourceIndex(from start: Int) -> Int? {
        let sources = settings.sources
        return sources.indices.lazy.map { (start + $0) % sources.count }
            .first { [missingSources] in !missingSources.contains(sources[$0]) }
    }

    /// Continues at the top of the source that follows the one that is shown.
    func beginNextSource() async throws {
        // No page of the source is being read then.
        try await reader.queue.run {
            try await commit { state in
                let index = sourceIndex(from: state.sourceIndex) ?? state.sourceIndex
                state.begin(sourceIndex(from: index + 1) ?? 0)
                reader.reset()
            }
            lastParts = photos.parts(of: source)
            updateWatch()
        }
    }

    /// Stores a transition with its changes of known photos, applies it, and performs its effects.
    ///
    /// - Parameter transition: Changes the state, and returns a result. It runs after all earlier transitions.
    /// - Returns: The result.
    /// - Throws: The error of `transition` or of the store. The state is unchanged then.
    @discardableResult
    func commit<Value>(
        _ transition: (inout SlideshowState) throws -> Value
    ) async throws -> Value {
        try await changes.run {
            let before = state
            var new = before
            let value = try transition(&new)
            let known = new.takeChanges()
            guard new != before || !known.isEmpty else { return value }
            if new.durable != before.durable || !known.isEmpty {
                try await store.save(new, replacing: before, known)
            }
            state = new
            if let id = new.current?.id, id != before.current?.id, id == candidate?.shown.id {
                candidate = nil
            }
            if new.current != before.current { isImageMissing = false }
            stateChanged(since: before)
            return value
        }
    }

    private func stateChanged(since before: SlideshowState) {
        timer?.update(state.timerInterval)
        if state.clients.isEmpty != before.clients.isEmpty
            || state.settings.sources != before.settings.sources
        {
            updateWatch()
        }
        onChange()
        if state.current?.image != before.current?.image { watchImage() }
        keepIDs(unlike: before)
        prepareIfActive()
    }

    /// Keeps the IDs of the current photo and of the hidden ones.
    func keepIDs(unlike before: SlideshowState = SlideshowState()) {
        if state.hidden != before.hidden { photos.mark(Set(state.hidden), .hidden) }
        if state.current?.id != before.current?.id {
            photos.mark(Set([state.current?.id].compactMap(\.self)), .current)
        }
    }

    /// Watches the image of the current photo, and fetches it again when another program deletes or replaces the file.
    private func watchImage() {
        photos.watchImage(state.current?.image ?? "") { [weak self] in
            guard let self, let current = state.current else { return }
            update([current.id: current.photo], force: true)
        }
    }

    func updateWatch() {
        photos.watch(state.clients.isEmpty ? [] : settings.sources.flatMap(photos.parts))
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
        isExhausted = false
    }

    // MARK: Clients

    /// Attaches a client. Shows the first photo if there is no current one. A second call has no effect.
    package func attach(_ client: String) async throws {
        guard !state.clients.contains(client) else { return }
        try await commit { _ = $0.clients.insert(client) }
        onAttach()
        reader.readTops()
        await showAny()
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
    func load(
        _ id: CombinedPhotoID, isCached: Bool? = nil
    ) async throws -> SlideshowState.Shown? {
        let isCached = isCached ?? !photos.mayFetch(id.account)
        let size = settings.imageSize
        // The image may be deleted before it is protected. Three deletions in succession are unlikely.
        for _ in 0..<3 {
            guard let photo = try await photos.photo(id, isCached: isCached),
                let image = try await photos.image(id, size, isCached: isCached)
            else { return nil }
            if await pin(image) { return SlideshowState.Shown(id: id, photo: photo, image: image) }
        }
        throw ProviderError.failed(
            Message(verbatim: "The image was deleted while it was fetched; try again."))
    }

    /// Returns the current photo with its image in a size, which is protected; nil if that cannot be fetched.
    func loadCurrentImage(_ size: ImageSize) async -> SlideshowState.Shown? {
        guard var shown = state.current,
            let image = try? await photos.image(
                shown.id, size, isCached: !photos.mayFetch(shown.id.account))
        else { return nil }
        shown.image = image
        await pin(image)
        return shown
    }

    /// Protects the images of the current photo, the next one, and those that are about to become one of them.
    ///
    /// - Parameter image: Another image; nil for none.
    /// - Returns: False if `image` does not exist.
    @discardableResult
    func pin(_ image: String? = nil) async -> Bool {
        if let image { loaded = loaded.suffix(1) + [image] }
        let needed = loaded + [state.current?.image, candidate?.shown.image].compactMap(\.self)
        let missing = await photos.pin(Set(needed))
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
            await navigation.run {
                // A step of a client replaces this one.
                if requested == requestedSteps, state.timerInterval != nil {
                    await logging { try await step() }
                }
                timer?.restart()
            }
        }
    }

    /// Continues after a suspend of the machine. A photo that was due meanwhile is shown once.
    package func resumed() { timer?.resumed() }

    /// Performs a change that no client waits for.
    package func logging(_ body: () async throws -> Void) async {
        do { try await body() } catch {
            logger.info("The next photo cannot be shown", metadata: ["reason": "\(error)"])
        }
    }

    // MARK: Photos that leave

    /// Removes photos, and replaces the current one if it is one of them.
    ///
    /// - Parameters:
    ///   - isRemoved: Returns true for the photos.
    ///   - transition: Removes the photos from the state.
    /// - Throws: ``StorageError``.
    func remove(
        where isRemoved: (CombinedPhotoID) -> Bool, _ transition: (inout SlideshowState) -> Void
    ) async throws {
        // The photo is loaded before the transition, so that there is one change for clients.
        var forward: SlideshowState.Shown?
        if let current = state.current, isRemoved(current.id) {
            for id in state.future where forward == nil && !isRemoved(id) {
                forward = try? await load(id, isCached: true)
            }
        }
        let isMissing = try await commit { state in
            let hadCurrent = state.current != nil
            transition(&state)
            if let id = candidate?.shown.id, isRemoved(id) { candidate = nil }
            guard hadCurrent, state.current == nil else { return false }
            // The photos of `future` precede those of the order.
            if state.future.isEmpty { return !takeCandidate(&state) }
            return !(forward.map { state.goForward(to: $0) } ?? false)
        }
        if isMissing { await showAny() } else { prepareIfActive() }
    }

    /// Shows a photo if there is no current one.
    ///
    /// - Parameter isForClients: True if no photo is needed without an attached client.
    func showAny(isForClients: Bool = false) async {
        guard state.current == nil else { return }
        await navigation.run {
            guard state.current == nil, !isForClients || !state.clients.isEmpty else { return }
            await logging { try await step() }
        }
    }

    /// Records other descriptions of photos, and fetches their images again, because the files may have changed.
    ///
    /// - Parameters:
    ///   - changed: The photos.
    ///   - force: True to fetch the images of photos with the same description.
    func update(_ changed: [CombinedPhotoID: Photo], force: Bool = false) {
        if preparation != nil { changedInSearch.formUnion(changed.keys) }
        if let shown = candidate?.shown, let photo = changed[shown.id], photo != shown.photo {
            candidate = nil
            prepareIfActive()
        }
        guard let current = state.current, let photo = changed[current.id],
            force || photo != current.photo
        else { return }
        updates[current.id] = photo
        Task {
            // Several updates are stored in their order: each task stores the latest one.
            await refreshing.run {
                guard let photo = updates.removeValue(forKey: current.id) else { return }
                await updateCurrent(current.id, photo)
            }
        }
    }

    /// Changes the description of the current photo and its image in one step.
    private func updateCurrent(_ id: CombinedPhotoID, _ photo: Photo) async {
        guard state.current?.id == id else { return }
        let size = settings.imageSize
        let shown = await loadCurrentImage(size)
        guard state.current?.id == id else { return }
        try? await commit { state in
            state.update(photo, of: id)
            if size == state.settings.imageSize { state.replaceImage(shown) }
        }
        // The file has the same path after it was written again, and is a new one.
        if shown != nil { watchImage() }
    }

    // MARK: Start and end

    /// Checks the current photo after the accounts have started.
    package func start() {
        accountsChanged()
        keepIDs()
        guard let current = state.current else { return }
        watchImage()
        Task { await restore(current) }
    }

    private func restore(_ current: SlideshowState.Shown) async {
        await navigation.run {
            guard state.current?.id == current.id else { return }
            do {
                if isImageMissing {
                    guard let shown = try await load(current.id) else { return }
                    try await commit { state in
                        state.update(shown.photo, of: shown.id)
                        state.replaceImage(shown)
                    }
                    if isImageMissing {
                        isImageMissing = false
                        onChange()
                    }
                } else {
                    await pin()
                    if let photo = try await photos.photo(current.id, isCached: true) {
                        update([current.id: photo])
                    }
                }
            } catch  where Self.isGone(error) {
                Task { await removePhotos([current.id]) }
            } catch {
                await logging { throw error }
            }
        }
    }

    /// Stops the timer and all searches.
    package func stop() {
        timer?.stop()
        invalidate()
        reader.stop()
        photos.watchImage("") {}
        photos.watch([])
    }
}
