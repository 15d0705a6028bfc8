internal import EngineModel
internal import ProviderKit
internal import Quoting
internal import System
internal import Translation

/// The steps from photo to photo, and the search for the next one, whose image is fetched before it is due.
extension Slideshow {
    /// A photo of the history that replaces the current one.
    typealias Replacement = (entry: Playlist.Entry, shown: Playlist.Shown)

    /// True if the last search failed and nothing has changed since.
    var isExhausted: Bool { searchError != nil }
    /// True if the last search found that there is no photo.
    var isEmpty: Bool { searchError as? EngineError == Self.noPhoto }

    /// Prepares the next photo if a client is attached and the slideshow is not paused.
    func prepareIfActive() {
        guard playlist.isActive, playlist.current != nil, candidate == nil, !isExhausted else {
            return
        }
        prepare()
    }

    /// Searches again after a change of the photos or of the network.
    ///
    /// - Parameter isUnknown: True if there may be no photo any more, for example with other settings.
    func photosMayBeAvailable(isUnknown: Bool = false) {
        let wasEmpty = isEmpty
        expectPhotos()
        if playlist.current != nil {
            prepareIfActive()
        } else if !playlist.clients.isEmpty {
            Task { await showAny(isForClients: true) }
        }
        if preparation == nil, wasEmpty || isUnknown { Task { await look() } }
        if wasEmpty { onChange() }
    }

    /// Finds out if there is a next photo, without fetching its image.
    func look() async {
        guard candidate == nil, !isEmpty else { return }
        try? await prepare(isLook: true).value
    }

    /// Prepares the next photo, and waits for it.
    ///
    /// - Throws: The error of the search.
    func findCandidate() async throws {
        // No event reports another date.
        let wanted = photos.parts(of: source)
        if wanted != lastParts, wanted.contains(where: \.isDated) { sourcePartsChanged() }
        while candidate == nil {
            let started = revision
            let search = prepare()
            do { try await value { try await search.value } } catch is CancellationError {
                // The order changed during the search.
                guard started != revision else { throw CancellationError() }
            }
        }
    }

    /// Returns the value of work, which continues if the task of this call is cancelled.
    private func value<Value: Sendable>(
        of work: @escaping @MainActor () async throws -> Value
    ) async throws -> Value {
        let result = OneShotResult<Value, any Error>()
        Task { result.complete(await Result(work)) }
        return try await result.valueUnlessCancelled()
    }

    /// Loads the photo that replaces the current one, so that there is one change for clients: of ``Playlist/future``, or
    /// the next one of the order.
    ///
    /// - Parameters:
    ///   - isRemoved: Returns true for the photos that leave.
    ///   - limit: The time limit.
    /// - Returns: The photo of ``Playlist/future``; nil for ``candidate``.
    @discardableResult
    func prepareReplacement(
        of isRemoved: (CombinedPhotoID) -> Bool, _ limit: Duration
    ) async -> Replacement? {
        let future = playlist.future.filter { !isRemoved($0.id) }
        return try? await withTimeLimit(limit, ContinuousClock()) { [self] () -> Replacement? in
            var search = SlideshowSearch(timeLimit: limit)
            for entry in future {
                if let shown = try await attempt(entry, &search) { return (entry, shown) }
            }
            try await findCandidate()
            return nil
        } onTimeout: {
            nil
        }
    }

    @discardableResult
    private func prepare(isLook: Bool = false) -> Task<Void, any Error> {
        if let preparation { return preparation }
        let started = revision
        let task = Task {
            do {
                var found: Candidate?
                repeat {
                    changedInSearch = []
                    found = try await search(isLook: isLook)
                    guard revision == started else { throw CancellationError() }
                    // The image may be that of an earlier content.
                } while found.map { changedInSearch.contains($0.shown.id) } ?? false
                preparation = nil
                // Its image was protected when it was loaded.
                candidate = found
                onChange()
                if isLook { prepareIfActive() }
            } catch {
                guard revision == started else { throw CancellationError() }
                preparation = nil
                if !(error is CancellationError) {
                    searchError = error
                    onChange()
                }
                throw error
            }
        }
        preparation = task
        return task
    }

    /// Searches for the next photo: in the rest of the source, in the sources that follow, and again in the first one.
    ///
    /// - Parameter isLook: True to search for any photo, without its image.
    /// - Returns: The photo; nil for any photo.
    /// - Throws: The reason why there is none.
    private func search(isLook: Bool) async throws -> Candidate? {
        var search = SlideshowSearch(timeLimit: searchTimeLimit, isLook: isLook)
        let count = settings.sources.count
        for index in 0...count {
            if index > 0 {
                if settings.isShuffled, count == 1 {
                    guard try await reader.beginRound(after: search) else { break }
                } else {
                    let rounds = playlist.round - (search.firstRound ?? playlist.round)
                    try await beginNextSource(isRepeated: rounds >= count)
                }
            }
            try await reader.updateParts()
            let found = try await searchSource(&search)
            if found != nil || search.hasFound { return found }
            // The next search continues after the pages that were read.
            if search.isOver || search.isLimited && count == 1 { break }
        }
        if let last = search.current, !search.hasSkipped {
            if isLook { return nil }
            if let shown = try await attempt(last, &search) {
                return (shown, search.positions)
            }
        }
        throw failure(of: search)
    }

    /// Searches in the source that is read now.
    private func searchSource(_ search: inout SlideshowSearch) async throws -> Candidate? {
        while true {
            search.additionCount = reader.additionCount
            let found = try await searchWaiting(&search)
            if found != nil || search.hasFound || search.isOver { return found }
            if try await reader.readNext(&search) { continue }
            // Another task may have read photos meanwhile.
            guard search.additionCount != reader.additionCount else { return nil }
        }
    }

    /// Searches in the photos that were read and not shown yet.
    private func searchWaiting(_ search: inout SlideshowSearch) async throws -> Candidate? {
        var positions = playlist.next
        positions = max(positions.lowerBound, searchPosition)..<positions.upperBound
        search.begin()
        // The first photo whose image is not looked up any more. The next search begins there, unless it may fetch images.
        var stop: Int64?
        while !positions.isEmpty {
            let (found, round) = try await waiting(positions, limit: SlideshowSearch.lookupLimit)
            search.firstRound = search.firstRound ?? round
            for entry in found {
                try Task.checkCancellation()
                if !settings.isShuffled { search.positions.append(entry.position) }
                if hiddenPhotos.contains(entry.id) { continue }
                // The current photo is the last choice, because it would be shown twice in succession.
                if entry.id == playlist.current?.id {
                    search.current = entry
                    continue
                }
                search.rest.insert(entry.id)
                guard search.attempted.insert(entry.id).inserted else { continue }
                if search.isLook {
                    search.hasFound = true
                    return nil
                }
                let isStopped = search.isStopped
                if let shown = try await attempt(entry, &search) {
                    if settings.orientation.accepts(shown.photo) {
                        searchPosition = 0
                        return (shown, search.positions)
                    }
                    // The photo was edited since its page was read.
                    try await skip(entry, isGone: false, &search)
                }
                if search.isStopped, !isStopped {
                    if !photos.mayFetch(entry.id.account) { stop = entry.position }
                    search.isOver = !playlist.parts.keys.contains {
                        photos.mayFetch($0)
                            && search.mayFetchImage(of: $0, isLocal: photos.isLocal($0))
                    }
                }
                if search.isOver || search.isTimeOver {
                    search.isOver = true
                    searchPosition = stop ?? 0
                    return nil
                }
            }
            guard let last = found.last else { break }
            positions = last.position + 1..<max(last.position + 1, positions.upperBound)
        }
        searchPosition = stop ?? 0
        return nil
    }

    /// Returns the error of a search that found no photo.
    private func failure(of search: SlideshowSearch) -> any Error {
        if let error = search.error { return error }
        guard search.hasSkipped else { return search.isLimited ? Self.notFoundYet : Self.noPhoto }
        return photos.isMetered
            ? Self.notCached : HTTPError.unreachable(Message("there is no network"))
    }

    private static let noPhoto = EngineError.notFound(
        "The source of the slideshow has no other photo.")
    private static let notFoundYet = EngineError.notFound(
        "The part of the source that was read has no photo to show; try again.")
    private static let notCached = EngineError.notFound(
        "The image is not cached, and the network is metered or not available.")

    // MARK: Attempts

    /// Loads a photo within the limits of a search.
    ///
    /// - Returns: The photo; nil if it is skipped.
    /// - Throws: `CancellationError`; ``StorageError``.
    private func attempt(
        _ entry: Playlist.Entry, _ search: inout SlideshowSearch
    ) async throws -> Playlist.Shown? {
        let account = entry.id.account
        let attempt = search.attempt(
            entry.id, mayFetch: photos.mayFetch(account), isLocal: photos.isLocal(account))
        guard var mayFetch = attempt else { return nil }
        while true {
            do { return try await load(entry.id, isCached: !mayFetch) } catch {
                if error is CancellationError { throw error }
                if mayFetch, !search.recordFailure(error, of: entry.id) {
                    mayFetch = false
                    continue
                }
                let isGone = Self.isGone(error)
                if isGone || mayFetch { try await skip(entry, isGone: isGone, &search) }
                return nil
            }
        }
    }

    /// Skips a photo in this round.
    private func skip(
        _ entry: Playlist.Entry, isGone: Bool, _ search: inout SlideshowSearch
    ) async throws {
        search.rest.remove(entry.id)
        let positions = Playlist.waiting.contains(entry.position) ? [entry.position] : []
        try await commit {
            $0.skip(entry.id, isGone: isGone, key: randomKey(), passed: positions)
        }
    }

    // MARK: Steps

    /// Runs a call of a client after all earlier steps, within ``callTimeLimit``. The call is cancelled after that; the
    /// search or the fetch that it waits for continues, so that a later call finds the image.
    func navigate(_ call: @escaping @MainActor () async throws -> Void) async throws {
        try await withTimeLimit(callTimeLimit, ContinuousClock()) { [self] in
            try await navigation.run {
                try Task.checkCancellation()
                try await call()
            }
        } onTimeout: {
            throw ProviderError.failed(
                Message("The service did not respond in time; try again later."))
        }
    }

    /// Waits for work, which continues after the time limit.
    func wait(atMost limit: Duration, for work: @escaping @MainActor () async -> Void) async {
        let task = Task { await work() }
        try? await withTimeLimit(limit, ContinuousClock()) {
            await task.value
        } onTimeout: {
        }
    }

    /// Shows the next photo.
    ///
    /// - Throws: ``EngineError/notFound(_:)`` without any photo; otherwise the error of the last photo that could not be
    ///   fetched.
    package func next() async throws {
        requestedSteps += 1
        try await navigate { [self] in try await step() }
    }

    /// Shows the photo that was shown before the current one. Photos that can no longer be shown are skipped.
    ///
    /// - Throws: ``EngineError/notFound(_:)`` if there is none.
    package func previous() async throws {
        requestedSteps += 1
        try await navigate { [self] in
            guard canGoPrevious else {
                throw EngineError.notFound("No photo was shown before this one.")
            }
            var search = SlideshowSearch(timeLimit: searchTimeLimit)
            guard try await stepInHistory(playlist.past.reversed(), &search) else {
                throw failure(of: search)
            }
        }
    }

    /// Shows a photo.
    ///
    /// - Throws: ``EngineError/notFound(_:)`` or ``ProviderError/notFound(_:)`` if it does not exist; the errors of its
    ///   image.
    package func show(_ text: String) async throws {
        let id = try parse(text)
        requestedSteps += 1
        try await navigate { [self] in
            // Without a network, the error of the fetch states the reason.
            let loaded = try await value { [self] in
                try await load(id, isCached: photos.isMetered)
            }
            guard let shown = loaded else { throw Self.notCached }
            try await commit { $0.show(shown, key: randomKey()) }
            stepped()
        }
    }

    func parse(_ text: String) throws -> CombinedPhotoID {
        guard let id = CombinedPhotoID(text) else {
            throw EngineError.notFound("There is no photo \(text.quoted).")
        }
        return id
    }

    /// Shows the next photo: of ``Playlist/future``, or of the order.
    func step() async throws {
        var search = SlideshowSearch(timeLimit: searchTimeLimit)
        if try await stepInHistory(Array(playlist.future), &search) { return }
        // The candidate may be removed or hidden while it is about to be shown. Ten repetitions are unlikely.
        for _ in 0..<10 {
            try await findCandidate()
            // Another program may have deleted its image since it was prepared.
            await pin()
            if try await commit({ takeCandidate(&$0) }) { return stepped() }
        }
        throw Self.noPhoto
    }

    /// Shows the first of some photos of the history that can be shown.
    ///
    /// - Returns: False if there is none.
    private func stepInHistory(
        _ entries: [Playlist.Entry], _ search: inout SlideshowSearch
    ) async throws -> Bool {
        for entry in entries {
            guard let shown = try await attempt(entry, &search) else { continue }
            if try await commit({ $0.move(to: entry, shown, key: randomKey()) }) {
                stepped()
                return true
            }
        }
        return false
    }

    /// Shows the next photo of the order, if it is ready.
    func takeCandidate(_ playlist: inout Playlist) -> Bool {
        defer { candidate = nil }
        guard let candidate, !hiddenPhotos.contains(candidate.shown.id),
            photos.isLoggedIn(candidate.shown.id.account)
        else { return false }
        playlist.advance(to: candidate.shown, key: randomKey(), passed: candidate.positions)
        return true
    }

    private func stepped() {
        timer?.restart()
        // The photo may have changed while its image was fetched.
        Task { await checkCurrent() }
        prepareIfActive()
        reader.readAhead()
    }
}
