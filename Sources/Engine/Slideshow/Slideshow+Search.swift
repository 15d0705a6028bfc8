internal import Accounts
internal import ProviderKit
internal import Quoting
internal import Translation

/// The steps from photo to photo, and the search for the next one, whose image is fetched before it is due.
extension Slideshow {
    /// Prepares the next photo if a client is attached and the slideshow is not paused.
    func prepareIfActive() {
        guard state.isActive, state.current != nil, candidate == nil, !isExhausted else { return }
        prepare()
    }

    /// Searches again after a change of the photos or of the network.
    func photosMayBeAvailable() {
        let wasExhausted = isExhausted
        isExhausted = false
        if state.current != nil {
            prepareIfActive()
        } else if !state.clients.isEmpty {
            Task { await showAny(isForClients: true) }
        }
        if wasExhausted { onChange() }
    }

    /// Prepares the next photo, and waits for it.
    ///
    /// - Throws: The error of the search.
    func findCandidate() async throws {
        while candidate == nil {
            let started = revision
            do { return try await prepare().value } catch is CancellationError {
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
            do {
                var found: Candidate
                repeat {
                    changedInSearch = []
                    found = try await search()
                    guard revision == started else { throw CancellationError() }
                    // The image may be that of an earlier content.
                } while changedInSearch.contains(found.shown.id)
                preparation = nil
                // Its image was protected when it was loaded.
                candidate = found
                onChange()
            } catch {
                guard revision == started else { throw CancellationError() }
                preparation = nil
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
        var search = SlideshowSearch(timeLimit: searchTimeLimit)
        let count = settings.sources.count
        // The source that is shown is the last one, too: then it is read from its top on.
        for index in 0...count {
            if index > 0 { try await beginNextSource() }
            try await reader.updateParts()
            search.isLastSource = index == count || settings.sources.count == 1
            let found =
                try await (settings.isShuffled ? searchKnown(&search) : searchSource(&search))
            if let found { return found }
            if search.isLastSource { break }
        }
        if let current = search.current, !search.hasSkipped,
            let shown = try await attempt(current.id, &search)
        {
            return Candidate(shown: shown, cursor: current.cursor)
        }
        throw failure(of: search)
    }

    /// Returns the error of a search that found no photo.
    private func failure(of search: SlideshowSearch) -> any Error {
        if let error = search.error { return error }
        guard search.hasSkipped else { return Self.noPhoto }
        return photos.isMetered
            ? Self.notCached : HTTPError.unreachable(Message("there is no network"))
    }

    private static let noPhoto = EngineError.notFound(
        "The source of the slideshow has no other photo.")
    private static let notCached = EngineError.notFound(
        "The image is not cached, and the network is metered or not available.")

    // MARK: Attempts

    /// Loads a photo within the limits of a search.
    ///
    /// - Returns: The photo; nil if it is skipped.
    /// - Throws: `CancellationError`; ``StorageError``.
    private func attempt(
        _ id: CombinedPhotoID, _ search: inout SlideshowSearch
    ) async throws -> SlideshowState.Shown? {
        let attempt = search.attempt(id, mayFetch: photos.mayFetch(id.account))
        guard attempt != .stop else { return nil }
        var isCached = attempt == .lookUp
        while true {
            do { return try await load(id, isCached: isCached) } catch {
                if error is CancellationError { throw error }
                if !isCached, !search.recordFailure(error, of: id) {
                    isCached = true
                    continue
                }
                let isGone = Self.isGone(error)
                if isGone || !isCached { try await commit { $0.skip(id, isGone: isGone) } }
                return nil
            }
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
        _ search: inout SlideshowSearch
    ) async throws -> (SlideshowState.Shown?, skipped: Int) {
        var skipped = 0
        for id in found where id != state.current?.id && attempted.insert(id).inserted {
            if let shown = try await attempt(id, &search) {
                if settings.orientation.accepts(shown.photo) { return (shown, 0) }
                // The photo was edited since its page was read.
                try await commit { $0.skip(id, isGone: false) }
            }
            skipped += 1
        }
        return (nil, skipped)
    }

    // MARK: Order of the source

    private func searchSource(_ search: inout SlideshowSearch) async throws -> Candidate? {
        for id in try await store.candidates(limit: SlideshowSearch.lookupLimit) {
            if let shown = try await attempt(id, &search) { return Candidate(shown: shown) }
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
    private func walkSource(_ search: inout SlideshowSearch) async throws -> Candidate? {
        let source = source
        let isEnd = state.cursor == SlideshowState.end
        if isEnd, !search.isLastSource { return nil }
        var cursor = isEnd ? "" : state.cursor
        var hasBegun = false
        var hasRead = false
        var passedPages = 0
        while !search.isExhausted {
            try Task.checkCancellation()
            if cursor.isEmpty {
                // After a second beginning, all photos were seen.
                if hasBegun || hasRead && !search.isLastSource { return nil }
                hasBegun = true
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
                if cursor.isEmpty, hasBegun { return nil }
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

    private func searchKnown(_ search: inout SlideshowSearch) async throws -> Candidate? {
        var hasBegunRound = false
        var attempted: Set<CombinedPhotoID> = []
        while true {
            try Task.checkCancellation()
            let additions = reader.additionCount
            let found = try await store.candidates(limit: SlideshowSearch.lookupLimit)
            var (shown, skipped) = try await attempt(found, besides: &attempted, &search)
            // The current photo is the last choice, because it would be shown twice in succession.
            let current = state.current?.id
            let isAtEnd = found.allSatisfy { $0 == current }
            if shown == nil, skipped == 0, !isAtEnd {
                shown = try await attemptReachable(besides: &attempted, &search)
            }
            if let shown { return Candidate(shown: shown) }
            // Pages of other accounts are read if the known photos cannot be shown.
            if skipped > 0 { continue }
            if try await reader.readPage(&search) { continue }
            if isAtEnd {
                if search.isLastSource, !hasBegunRound, found.isEmpty,
                    try await reader.beginRound(after: additions)
                {
                    hasBegunRound = true
                    attempted = []
                    continue
                }
                // Another task has read photos meanwhile.
                if additions != reader.additionCount { continue }
            }
            if let current, found.contains(current) { search.current = (current, nil) }
            return nil
        }
    }

    /// Attempts the photos of accounts whose images may be fetched, because many others are not available now.
    private func attemptReachable(
        besides attempted: inout Set<CombinedPhotoID>, _ search: inout SlideshowSearch
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
            var search = SlideshowSearch(timeLimit: searchTimeLimit)
            guard
                try await stepInHistory(
                    state.past.reversed(), &search, { $0.goBack(to: $1) })
            else { throw failure(of: search) }
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
            try await commit { $0.show(shown) }
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
        var search = SlideshowSearch(timeLimit: searchTimeLimit)
        if try await stepInHistory(state.future, &search, { $0.goForward(to: $1) }) { return }
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
        _ ids: [CombinedPhotoID], _ search: inout SlideshowSearch,
        _ transition: (inout SlideshowState, SlideshowState.Shown) -> Bool
    ) async throws -> Bool {
        for id in ids {
            guard let shown = try await attempt(id, &search) else { continue }
            if try await commit({ transition(&$0, shown) }) {
                stepped()
                return true
            }
        }
        return false
    }

    /// Shows the next photo of the order, if it is ready.
    func takeCandidate(_ state: inout SlideshowState) -> Bool {
        defer { candidate = nil }
        guard let candidate, !state.isHidden(candidate.shown.id),
            photos.isLoggedIn(candidate.shown.id.account)
        else { return false }
        state.advance(to: candidate.shown)
        if let cursor = candidate.cursor { state.cursor = cursor }
        return true
    }

    private func stepped() {
        timer?.restart()
        prepareIfActive()
        reader.readAhead()
    }
}
