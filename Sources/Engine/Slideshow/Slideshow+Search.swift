internal import ProviderKit
internal import Quoting
internal import Translation

/// The steps from photo to photo, and the search for the next one, whose image is fetched before it is due.
extension Slideshow {
    /// One search and the time of its beginning.
    struct RunningSearch {
        var limits = SlideshowSearch()
        /// True if no other source follows.
        var isLastSource = true
        /// The current photo, if it was found in a source, and the position after it if that is the last source. It is
        /// the last choice, because it would be shown twice in succession.
        var current: (id: CombinedPhotoID, cursor: String?)?
        private let start = ContinuousClock.now

        var elapsed: Duration { ContinuousClock.now - start }
    }

    /// Prepares the next photo if a client is attached and the slideshow is not paused.
    func prepareIfActive() {
        guard state.isActive, state.current != nil, candidate == nil, !isExhausted else { return }
        prepare()
    }

    /// Searches again after a change of the photos or of the network.
    func photosMayBeAvailable() {
        let wasExhausted = isExhausted
        isExhausted = false
        if state.current == nil { showFirst() } else { prepareIfActive() }
        if wasExhausted { onChange() }
    }

    /// Shows the first photo to the attached clients if there is no current one.
    private func showFirst() {
        guard !state.clients.isEmpty else { return }
        Task { await showAny { !state.clients.isEmpty } }
    }

    /// Prepares the next photo, and waits for it.
    ///
    /// - Throws: The error of the search.
    func findCandidate() async throws {
        while candidate == nil {
            let started = revision
            do {
                try await prepare().value
                return
            } catch is CancellationError {
                // The order changed during the search.
                guard started != revision else { throw CancellationError() }
            }
        }
    }

    @discardableResult
    private func prepare() -> Task<Void, any Error> {
        if let preparation { return preparation }
        let started = revision
        let task = Task {
            var result: Result<Candidate, any Error>
            repeat {
                changedInSearch = []
                do { result = .success(try await search()) } catch { result = .failure(error) }
                guard revision == started else { throw CancellationError() }
                // The image may be that of an earlier content.
            } while (try? result.get()).map { changedInSearch.contains($0.shown.id) } == true
            preparation = nil
            switch result {
            case .success(let found):
                // Its image was protected when it was loaded.
                candidate = found
                onChange()
            case .failure(let error):
                if !(error is CancellationError) {
                    isExhausted = true
                    onChange()
                }
                throw error
            }
        }
        preparation = task
        return task
    }

    private func search() async throws -> Candidate {
        var search = RunningSearch()
        // The source that is shown is the last one, too: then it is read from its top on.
        var remaining = settings.sources.count
        while true {
            try await reader.updateParts()
            search.isLastSource = remaining == 0 || settings.sources.count == 1
            let found =
                try await (settings.isShuffled ? searchKnown(&search) : searchSource(&search))
            if let found { return found }
            if search.isLastSource { break }
            remaining -= 1
            try await beginNextSource()
        }
        if let current = search.current, !search.limits.hasSkipped,
            let shown = try await attempt(current.id, &search)
        {
            return Candidate(shown: shown, cursor: current.cursor)
        }
        throw failure(of: search.limits)
    }

    /// Returns the error of a search that found no photo.
    func failure(of limits: SlideshowSearch) -> any Error {
        if let error = limits.error { return error }
        guard limits.hasSkipped else { return Self.noPhoto }
        return photos.isMetered
            ? Self.notCached : HTTPError.unreachable(Message("there is no network"))
    }

    // MARK: Attempts

    /// Loads a photo within the limits of a search.
    ///
    /// - Returns: The photo; nil if it is skipped.
    /// - Throws: `CancellationError`; ``StorageError``.
    func attempt(
        _ id: CombinedPhotoID, _ search: inout RunningSearch
    ) async throws -> SlideshowState.Shown? {
        let mayFetch = photos.mayFetch(id.account)
        switch search.limits.attempt(id, mayFetch: mayFetch, elapsed: search.elapsed) {
        case .stop: return nil
        case .lookUp: return try await loadCached(id, &search)
        case .fetch:
            do {
                return try await load(id, isCached: false)
            } catch let error as CancellationError {
                throw error
            } catch {
                guard search.limits.recordFailure(error, of: id) else {
                    return try await loadCached(id, &search)
                }
                try await skip(id, error)
                return nil
            }
        }
    }

    private func loadCached(
        _ id: CombinedPhotoID, _ search: inout RunningSearch
    ) async throws -> SlideshowState.Shown? {
        do {
            return try await load(id, isCached: true)
        } catch let error as CancellationError {
            throw error
        } catch {
            if Self.isGone(error) { try await skip(id, error) }
            return nil
        }
    }

    /// Skips a photo in this round. One that no longer exists is removed.
    private func skip(_ id: CombinedPhotoID, _ error: any Error) async throws {
        let isGone = Self.isGone(error)
        try await commit { state in
            if isGone, state.current?.id != id { state.remove { $0 == id } }
            return ((), [isGone ? .removed([id]) : .shown(id)])
        }
    }

    // MARK: Order of the source

    private func searchSource(_ search: inout RunningSearch) async throws -> Candidate? {
        for id in try await store.candidates(limit: SlideshowSearch.lookupLimit) {
            if let shown = try await attempt(id, &search) {
                return Candidate(shown: shown, cursor: nil)
            }
        }
        // Without an account that is logged in, there is no photo.
        guard !photos.parts(of: source).isEmpty else { return nil }
        return try await walkSource(&search)
    }

    /// The maximum number of pages without a photo of the orientation, in sources that are read from a service.
    private static let passedPageLimit = 20

    /// Searches from the position in the source to its end, then, in the last source, from its top to its end.
    ///
    /// - Parameter search: The search.
    /// - Returns: The first photo, besides the current one, that can be shown.
    /// - Throws: See ``attempt(_:_:)``; the errors of the source.
    private func walkSource(_ search: inout RunningSearch) async throws -> Candidate? {
        let source = source
        let isEnd = state.cursor == SlideshowState.end
        if isEnd, !search.isLastSource { return nil }
        var cursor = isEnd ? "" : state.cursor
        var beginnings = 0
        var hasRead = false
        var passedPages = 0
        while !search.limits.isExhausted {
            try Task.checkCancellation()
            if cursor.isEmpty {
                if hasRead, !search.isLastSource { return nil }
                beginnings += 1
                // All photos were seen.
                if beginnings > 1 { return nil }
                try await reader.recordTops()
            }
            let found: (photo: CombinedPhotoID?, next: String)
            do {
                found = try await photos.next(in: source, after: cursor, settings.orientation)
            } catch  where Self.isLostPosition(error) && !cursor.isEmpty {
                cursor = ""
                hasRead = false
                continue
            }
            cursor = found.next
            hasRead = true
            guard let id = found.photo else {
                if cursor.isEmpty, beginnings > 0 { return nil }
                passedPages += 1
                if passedPages > Self.passedPageLimit,
                    !photos.parts(of: source).allSatisfy(\.isLocal)
                {
                    return nil
                }
                continue
            }
            guard !state.isHidden(id) else { continue }
            if id == state.current?.id {
                search.current = (id, search.isLastSource ? cursor : nil)
            } else if let shown = try await attempt(id, &search) {
                let isLastPhoto = cursor.isEmpty && settings.sources.count > 1
                return Candidate(shown: shown, cursor: isLastPhoto ? SlideshowState.end : cursor)
            }
        }
        return nil
    }

    static func isLostPosition(_ error: any Error) -> Bool {
        switch error {
        case ProviderError.staleCursor, ProviderError.invalidArgument,
            EngineError.invalidArgument:
            true
        default: false
        }
    }

    // MARK: Shuffle

    private func searchKnown(_ search: inout RunningSearch) async throws -> Candidate? {
        var hasBegunRound = false
        var attempted: Set<CombinedPhotoID> = []
        while true {
            try Task.checkCancellation()
            let additions = reader.additionCount
            let found = try await store.candidates(limit: SlideshowSearch.lookupLimit)
            let (shown, skipped) = try await attempt(found, besides: &attempted, &search)
            if let shown { return Candidate(shown: shown, cursor: nil) }
            if skipped > 0 { continue }
            // The current photo is the last choice, because it would be shown twice in succession.
            let current = state.current?.id
            if found.allSatisfy({ $0 == current }) {
                if try await reader.readPage(&search) { continue }
                if search.isLastSource, !hasBegunRound, found.isEmpty,
                    try await reader.beginRound(after: additions)
                {
                    hasBegunRound = true
                    attempted = []
                    continue
                }
                // Another task has read photos meanwhile.
                if additions != reader.additionCount { continue }
            } else if let shown = try await attemptReachable(besides: &attempted, &search) {
                return Candidate(shown: shown, cursor: nil)
            } else if try await reader.readPage(&search) {
                // Pages of other accounts, because the known photos cannot be shown.
                continue
            }
            if let current, found.contains(current) { search.current = (current, nil) }
            return nil
        }
    }

    /// Attempts photos other than the current one.
    ///
    /// - Parameters:
    ///   - found: The photos, in the order of the round.
    ///   - attempted: The photos that were attempted before. The new ones are added.
    ///   - search: The search.
    /// - Returns: The first photo that can be shown, or the number of attempted photos.
    /// - Throws: See ``attempt(_:_:)``.
    private func attempt(
        _ found: [CombinedPhotoID], besides attempted: inout Set<CombinedPhotoID>,
        _ search: inout RunningSearch
    ) async throws -> (SlideshowState.Shown?, skipped: Int) {
        var skipped = 0
        for id in found where id != state.current?.id && attempted.insert(id).inserted {
            if let shown = try await attempt(id, &search) {
                if settings.orientation.accepts(shown.photo) { return (shown, 0) }
                // The photo was edited since its page was read.
                try await commit { _ in ((), [.shown(id)]) }
            }
            skipped += 1
        }
        return (nil, skipped)
    }

    /// Attempts the photos of accounts whose images may be fetched, because many others are not available now.
    private func attemptReachable(
        besides attempted: inout Set<CombinedPhotoID>, _ search: inout RunningSearch
    ) async throws -> SlideshowState.Shown? {
        let accounts = reader.parts.keys.filter(photos.mayFetch)
        guard accounts.count < reader.parts.count, !accounts.isEmpty else { return nil }
        let found = try await store.candidates(
            limit: SlideshowSearch.lookupLimit, of: Set(accounts))
        return try await attempt(found, besides: &attempted, &search).0
    }

    // MARK: Steps

    /// Shows the next photo.
    ///
    /// - Throws: ``EngineError/notFound(_:)`` without any photo; otherwise the error of the last photo that could not be
    ///   fetched.
    package func next() async throws {
        requestedSteps += 1
        try await navigation.run { try await step() }
    }

    /// Shows the photo that was shown before the current one. Photos that can no longer be shown are skipped.
    ///
    /// - Throws: ``EngineError/notFound(_:)`` if there is none.
    package func previous() async throws {
        requestedSteps += 1
        try await navigation.run {
            guard !state.past.isEmpty else {
                throw EngineError.notFound("No photo was shown before this one.")
            }
            var search = RunningSearch()
            for id in state.past.reversed() {
                guard let shown = try await attempt(id, &search) else { continue }
                if try await commit({ state in (state.goBack(to: shown), [.shown(id)]) }) {
                    return stepped()
                }
            }
            throw failure(of: search.limits)
        }
    }

    /// Shows a photo.
    ///
    /// - Throws: ``EngineError/notFound(_:)`` or ``ProviderError/notFound(_:)`` if it does not exist; the errors of its
    ///   image.
    package func show(_ text: String) async throws {
        let id = try parse(text)
        requestedSteps += 1
        try await navigation.run {
            // Without a network, the error of the fetch states the reason.
            guard let shown = try await load(id, isCached: photos.isMetered) else {
                throw Self.notCached
            }
            try await commit { state in
                state.show(shown)
                return ((), [.shown(id)])
            }
            stepped()
        }
    }

    func parse(_ text: String) throws -> CombinedPhotoID {
        guard let id = CombinedPhotoID(text) else {
            throw EngineError.notFound("There is no photo \(text.quoted).")
        }
        return id
    }

    /// Shows the next photo: of ``SlideshowState/future``, or of the order.
    func step() async throws {
        var search = RunningSearch()
        for id in state.future {
            guard let shown = try await attempt(id, &search) else { continue }
            if try await commit({ state in (state.goForward(to: shown), [.shown(id)]) }) {
                return stepped()
            }
        }
        // The candidate may be removed or hidden while it is about to be shown. Ten repetitions are unlikely.
        for _ in 0..<10 {
            try await findCandidate()
            await pinImages()
            guard candidate != nil else { continue }
            let isShown = try await commit { state in takeCandidate(&state) }
            if isShown { return stepped() }
        }
        throw Self.noPhoto
    }

    /// Shows the next photo of the order, if it is ready.
    func takeCandidate(
        _ state: inout SlideshowState
    ) -> (Bool, [SlideshowTables.Change]) {
        guard let candidate, isUsable(candidate, state) else {
            self.candidate = nil
            return (false, [])
        }
        self.candidate = nil
        state.advance(to: candidate.shown)
        if let cursor = candidate.cursor { state.cursor = cursor }
        return (true, [.shown(candidate.shown.id)])
    }

    private func isUsable(_ candidate: Candidate, _ state: SlideshowState) -> Bool {
        !state.isHidden(candidate.shown.id) && photos.isLoggedIn(candidate.shown.id.account)
    }

    private func stepped() {
        timer?.restart()
        prepareIfActive()
        reader.readAhead()
    }
}
