internal import Logging
package import ProviderKit
internal import Translation

/// A photo that is shown now, shared by all clients, and the order in which photos follow.
///
/// ``SlideshowState`` and ``SlideshowTables`` decide; this class has the timer, fetches images and stores transitions.
package final class Slideshow {
    /// The next photo, whose image has been fetched.
    struct Candidate {
        var shown: SlideshowState.Shown
        /// The position after the photo, if it comes from the order of the source.
        let cursor: String?
    }

    /// Called after a change of the state, which is stored.
    package var onChange: () -> Void = {}
    /// Called when the timer is needed, so that resumes of the machine are reported with ``resumed()``.
    package var onAttach: () -> Void = {}

    private(set) var state: SlideshowState
    let store: SlideshowStore
    let photos: any SlideshowPhotos
    let logger: Logger
    private(set) var timer: SlideshowTimer?
    /// Runs transitions of the state, which take as long as storing them.
    private let changes = ChangeQueue()
    /// Runs steps from photo to photo, which may fetch an image.
    let navigation = ChangeQueue()
    /// Reads the photos of the source.
    private(set) lazy var reader = SlideshowReader(
        self, store, photos, storedParts, makeSeed: makeSeed)
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
    /// Returns the seed of the next random order.
    private let makeSeed: () -> UInt64

    /// - Parameters:
    ///   - store: The store.
    ///   - contents: The contents of the store.
    ///   - photos: The photos of the accounts.
    ///   - name: The name; empty for the default slideshow.
    ///   - clock: The clock of the timer.
    ///   - logger: Receives failures of automatic steps.
    ///   - makeSeed: Returns the seed of the next random order.
    init(
        _ store: SlideshowStore, _ contents: SlideshowStore.Contents,
        _ photos: any SlideshowPhotos, name: String = "", clock: any Clock<Duration>,
        logger: Logger,
        makeSeed: @escaping () -> UInt64 = { .random(in: 0...UInt64.max) }
    ) {
        self.name = name
        self.store = store
        self.photos = photos
        self.logger = logger
        self.makeSeed = makeSeed
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
                return ((), [.clear])
            }
            lastParts = photos.parts(of: source)
            updateWatch()
        }
    }

    /// Stores a transition, applies it, and performs its effects.
    ///
    /// - Parameter transition: Changes the state, and returns a result and the changes of known photos. It runs after all
    ///   earlier transitions.
    /// - Returns: The result.
    /// - Throws: The error of `transition` or of the store. The state is unchanged then.
    @discardableResult
    func commit<Value>(
        _ transition: (inout SlideshowState) throws -> (Value, [SlideshowTables.Change])
    ) async throws -> Value {
        try await changes.run {
            let before = state
            var new = before
            let (value, known) = try transition(&new)
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

    /// Performs ``commit(_:)`` without a change of known photos.
    func change(_ transition: (inout SlideshowState) throws -> Void) async throws {
        try await commit { state in
            try transition(&state)
            return ((), [])
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
        if state.current?.image != before.current?.image { imageChanged() }
        if state.hidden != before.hidden { photos.mark(Set(state.hidden), .hidden) }
        if state.current?.id != before.current?.id { markCurrent() }
        prepareIfActive()
    }

    private func imageChanged() {
        Task { await pinImages() }
        photos.watchImage(state.current?.image ?? "") { [weak self] in self?.imageWasLost() }
    }

    private func markCurrent() {
        photos.mark(Set([state.current?.id].compactMap(\.self)), .current)
    }

    /// Keeps the IDs of the current photo and of the hidden ones.
    func keepIDs() {
        if !state.hidden.isEmpty { photos.mark(Set(state.hidden), .hidden) }
        if state.current != nil { markCurrent() }
    }

    /// Fetches the image of the current photo again, because another program has deleted or replaced the file.
    private func imageWasLost() {
        guard let current = state.current else { return }
        update([current.id: current.photo], force: true)
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

    func updateWatch() {
        photos.watch(state.clients.isEmpty ? [] : settings.sources.flatMap(photos.parts))
    }

    /// Protects the images of the current photo, the next one, and those that are about to become one of them.
    func pinImages() async {
        let missing = await photos.pin(neededImages)
        if let image = candidate?.shown.image, missing.contains(image) { candidate = nil }
    }

    private var neededImages: Set<String> {
        Set(loaded + [state.current?.image, candidate?.shown.image].compactMap { $0 })
    }

    // MARK: Clients

    /// Attaches a client. Shows the first photo if there is no current one.
    package func attach(_ client: String) async throws {
        guard !state.clients.contains(client) else { return }
        try await change { $0.attach(client) }
        onAttach()
        reader.readTops()
        await showAny { true }
    }

    /// Detaches a client that may be attached.
    package func detach(_ client: String) async throws {
        try await change { $0.detach(client) }
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
            let shown = SlideshowState.Shown(id: id, photo: photo, image: image)
            if await pin(shown) { return shown }
        }
        throw ProviderError.failed(
            Message(verbatim: "The image was deleted while it was fetched; try again."))
    }

    /// Protects the image of a photo that is about to be shown, besides the others that are needed.
    ///
    /// - Returns: False if the image does not exist.
    @discardableResult
    func pin(_ shown: SlideshowState.Shown) async -> Bool {
        loaded = loaded.suffix(1) + [shown.image]
        return await !photos.pin(neededImages).contains(shown.image)
    }

    nonisolated static func isGone(_ error: any Error) -> Bool {
        switch error {
        case ProviderError.notFound, EngineError.notFound: true
        default: false
        }
    }

    static let noPhoto = EngineError.notFound("The source of the slideshow has no other photo.")
    static let notCached = EngineError.notFound(
        "The image is not cached, and the network is metered or not available.")

    // MARK: Timer

    private func timerFired() {
        let requested = requestedSteps
        Task {
            await navigation.run {
                // A step of a client replaces this one.
                if requested == requestedSteps, state.timerInterval != nil {
                    do { try await step() } catch { logFailure(error) }
                }
                timer?.restart()
            }
        }
    }

    /// Continues after a suspend of the machine. A photo that was due meanwhile is shown once.
    package func resumed() { timer?.resumed() }

    func logFailure(_ error: any Error) {
        logger.info("The next photo cannot be shown", metadata: ["reason": "\(error)"])
    }

    // MARK: Photos that leave

    /// Removes photos, and replaces the current one if it is one of them.
    ///
    /// - Parameters:
    ///   - changes: The changes of known photos.
    ///   - isRemoved: Returns true for the photos.
    ///   - transition: Removes the photos from the state; nil to remove only those.
    /// - Throws: ``StorageError``.
    func remove(
        _ changes: [SlideshowTables.Change], where isRemoved: (CombinedPhotoID) -> Bool,
        transition: ((inout SlideshowState) -> Void)? = nil
    ) async throws {
        // The photo is loaded before the transition, so that there is one change for clients.
        let forward = await cachedForwardPhoto(besides: isRemoved)
        let isMissing = try await commit { state in
            let hadCurrent = state.current != nil
            if let transition { transition(&state) } else { state.remove(where: isRemoved) }
            if let id = candidate?.shown.id, isRemoved(id) { candidate = nil }
            guard hadCurrent, state.current == nil else { return (false, changes) }
            // The photos of `future` precede those of the order.
            guard state.future.isEmpty else {
                guard let forward, state.goForward(to: forward) else { return (true, changes) }
                return (false, changes + [.shown(forward.id)])
            }
            let (isShown, shown) = takeCandidate(&state)
            return (!isShown, changes + shown)
        }
        guard isMissing else { return prepareIfActive() }
        await showAny { true }
    }

    /// Shows a photo if there is no current one.
    func showAny(while isWanted: () -> Bool) async {
        guard state.current == nil else { return }
        await navigation.run {
            guard state.current == nil, isWanted() else { return }
            do { try await step() } catch { logFailure(error) }
        }
    }

    /// Returns the photo of ``SlideshowState/future`` that replaces the current one if the current one is removed.
    ///
    /// - Parameter isRemoved: Returns true for photos that are removed.
    /// - Returns: The first photo whose image is cached; nil if the current photo stays.
    private func cachedForwardPhoto(
        besides isRemoved: (CombinedPhotoID) -> Bool
    ) async -> SlideshowState.Shown? {
        guard let current = state.current, isRemoved(current.id) else { return nil }
        for id in state.future where !isRemoved(id) {
            if let shown = try? await load(id, isCached: true) { return shown }
        }
        return nil
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
        let size = settings.imageSize
        let image = try? await photos.image(id, size, isCached: !photos.mayFetch(id.account))
        guard var shown = state.current, shown.id == id else { return }
        if let image {
            shown.image = image
            await pin(shown)
        }
        try? await change { state in
            state.update(photo, of: id)
            if let image, state.current?.id == id, size == state.settings.imageSize {
                state.replaceImage(image)
            }
        }
        // The file has the same path after it was written again, and is a new one.
        if image != nil { imageChanged() }
    }

    // MARK: Start and end

    /// Checks the current photo after the accounts have started.
    package func start() {
        accountsChanged()
        keepIDs()
        guard let current = state.current else { return }
        imageChanged()
        Task { await restore(current) }
    }

    private func restore(_ current: SlideshowState.Shown) async {
        await navigation.run {
            guard state.current?.id == current.id else { return }
            do {
                if isImageMissing {
                    guard let shown = try await load(current.id) else { return }
                    try await change { state in
                        guard state.current?.id == shown.id else { return }
                        state.update(shown.photo, of: shown.id)
                        state.replaceImage(shown.image)
                    }
                    if isImageMissing {
                        isImageMissing = false
                        onChange()
                    }
                } else {
                    await pinImages()
                    if let photo = try await photos.photo(current.id, isCached: true) {
                        update([current.id: photo])
                    }
                }
            } catch  where Self.isGone(error) {
                Task { await removePhotos([current.id]) }
            } catch {
                logFailure(error)
            }
        }
    }

    /// Stops the timer and all searches.
    func stop() {
        timer?.stop()
        invalidate()
        reader.stop()
        photos.watchImage("") {}
        photos.watch([])
    }
}
