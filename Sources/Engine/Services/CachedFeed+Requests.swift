internal import EngineModel
internal import Feeds
internal import Likes
internal import Logging
internal import ProviderKit
internal import Storage
internal import System
internal import Translation

// The requests to the service, and the merge of their responses.
extension CachedFeed {
    func fetchTop(_ source: SourceID) async throws -> FeedTables.Merge {
        if !tops.isRunning(source) { activity.recordAttempt(source, now: owner.now) }
        do {
            return try await tops.run(source) { [self] in
                defer { responseCount += 1 }
                let merge = try await fetch(source, part: nil)
                changeActivity { $0.recordSuccess(source, at: owner.now) }
                owner.report(.refreshed(source))
                return merge
            }
        } catch {
            changeActivity { $0.recordFailure(source, error) }
            throw error
        }
    }

    /// Fetches the top of a source, and the parts below it that were read within a day.
    ///
    /// - Returns: The number of new photos at the top.
    /// - Throws: The errors of the top. An error of another part ends the refresh.
    func fetchReadParts(_ source: SourceID) async throws -> Int {
        var top = try await fetchTop(source)
        // Two empty responses in succession are no fault: `Refresh` believes the service.
        if top.isDoubted, requested[source] != nil { top = try await fetchTop(source) }
        let new = top.new
        let (stored, now) = (stored(source), owner.now)
        var last: String?
        for _ in 1..<Self.refreshLimit {
            let next = try? await store.read(account) {
                [last] (tables) throws -> (state: FeedTables.SourceState, part: FeedOrder.Part)? in
                guard let state = try tables.source(stored), let depth = state.depth(now: now),
                    let part = try tables.order(of: state.key).nextPart(below: last, above: depth)
                else { return nil }
                return (state, part)
            }
            guard let next = next ?? nil,
                (try? await fetchPart(next.part, of: source, next.state)) != nil
            else { break }
            last = next.part.key
        }
        return new
    }

    /// Fetches the photos of a gap, with at most `limit` pages while they have no photos.
    ///
    /// - Returns: The number of pages.
    /// - Throws: ``ProviderError/staleCursor`` if the position of the gap was lost.
    func fill(
        _ source: SourceID, _ gap: FeedOrder.Part, _ state: FeedTables.SourceState, limit: Int
    ) async throws -> Int {
        var gap = gap
        gap.isDoubtful = isOld(gap.received) && !session.hasStablePageTokens(in: source)
        if gap.isDoubtful, isOld(state.fetched) {
            // Photos that were added above since then would be mistaken for photos of the gap.
            _ = try await fetchTop(source)
        }
        let merge = try await fills.run(Fill(source: source, key: gap.key)) { [self, gap] in
            try await fetch(source, part: gap, limit: limit)
        }
        if merge.isLost { throw ProviderError.staleCursor }
        return merge.pages
    }

    /// Fetches a part below the top of a source again, with one request unless its page has no photos.
    @discardableResult
    func fetchPart(
        _ part: FeedOrder.Part, of source: SourceID, _ state: FeedTables.SourceState
    ) async throws -> FeedTables.Merge {
        var part = part
        // Photos that were added or removed above since the token was received have shifted the other photos.
        part.isDoubtful =
            !session.hasStablePageTokens(in: source)
            && (isOld(part.received) || part.received < state.fetched)
        return try await fills.run(Fill(source: source, key: part.key)) { [self, part] in
            try await fetch(source, part: part, generation: state.generation)
        }
    }

    private func isOld(_ time: Timestamp) -> Bool {
        owner.now < time || owner.now >= time + Self.pageTokenFreshness
    }

    private func fetch(
        _ source: SourceID, part: FeedOrder.Part?, generation: Int64? = nil,
        limit: Int = CachedFeed.fillLimit
    ) async throws -> FeedTables.Merge {
        var request = owner.likes?.outbox.request
        var page: RemotePage
        do {
            page = try await requestPage(source, from: part?.token)
        } catch ProviderError.staleCursor {
            guard let part else { throw ProviderError.staleCursor }
            return try await replaceToken(of: part, in: source)
        }
        var pages = 1
        // The following pages are fetched while they have no photos.
        while pages < limit, page.photos.isEmpty, let next = page.next {
            page = try await requestPage(source, from: next)
            pages += 1
        }
        if page.next == nil { activity.recordEnd(source, now: owner.now) }
        let arrival = FeedTables.Arrival(
            page: page, part: part, isExact: source == likesSource,
            hasLatestLikesFirst: session.remoteLikes?.listsLatestLikesFirst == true,
            hasStablePageTokens: session.hasStablePageTokens(in: source), generation: generation,
            now: owner.now)
        request?.isExplicit = requested[source] != nil
        var merge = try await store.merge(arrival, in: stored(source), of: account, after: merges) {
            try overlay(for: request)
        } announce: { merge in
            if let request { await reconcile(page, merge, of: request) }
            await announce(merge, source, isFill: part?.isGap == true)
        }
        merge.pages = pages
        return merge
    }

    /// Fetches the part above a gap whose page token the service rejects, because its page ends with another token.
    ///
    /// - Throws: ``ProviderError/staleCursor`` for a part that is no gap; its photos belong to the part above then. The
    ///   errors of the request.
    private func replaceToken(
        of part: FeedOrder.Part, in source: SourceID
    ) async throws -> FeedTables.Merge {
        owner.stores.logger.info(
            "A service rejects a page token",
            metadata: ["account": "\(account)", "source": "\(source)"])
        try checkWanted()
        let stored = stored(source)
        let above = try await store.run(account) {
            (tables) throws -> (state: FeedTables.SourceState, part: FeedOrder.Part)? in
            guard let state = try tables.source(stored) else { return nil }
            return try tables.order(of: state.key).partAbove(joining: part).map { (state, $0) }
        }
        guard part.isGap else { throw ProviderError.staleCursor }
        guard let above else { return try await fetchTop(source) }
        return try await fetchPart(above.part, of: source, above.state)
    }

    /// Ends the priority of confirmed likes over the answers of the service that agree, or that are believed.
    private func reconcile(
        _ page: RemotePage, _ merge: FeedTables.Merge, of request: LikeOutbox.Request
    ) async {
        var states: [PhotoID: Bool] = [:]
        // A photo that is no longer liked may be missing in the page.
        for photo in merge.likeChanges { states[photo.id] = photo.isLiked }
        for photo in page.photos where photo.hasLikeState {
            states[photo.photo.id] = photo.photo.isLiked
        }
        await owner.likes?.reconcile(states, of: request)
    }

    private func requestPage(_ source: SourceID, from token: String?) async throws -> RemotePage {
        if source == likesSource { return try await fetchLikes(from: token) }
        return try await owner.perform { [session] in
            let page = try await session.fetchPage(source, from: token)
            let count = page.photos.count
            // The merge would remove all photos below. The total includes photos that cannot be shown.
            if token == nil, page.next == nil, let total = page.total, total > 2 * count + 60 {
                throw ProviderError.failed(
                    Message(
                        "The service returned only {count} of {total} photos; try again later.",
                        ["count": "\(count)", "total": "\(total)"]))
            }
            return page
        }
    }

    /// Fetches a page of the photos that the user likes, with the local likes if the service offers no likes.
    private func fetchLikes(from token: String?) async throws -> RemotePage {
        guard let likesSource else { return RemotePage([]) }
        if session.remoteLikes?.hasLocalLikes == true {
            return RemotePage(token == nil ? try await localLikes() : [])
        }
        var page: RemotePage
        do {
            page = try await owner.perform { [session] in
                try await session.fetchPage(likesSource, from: token)
            }
        } catch ProviderError.notFound, ProviderError.denied {
            page = RemotePage([])
        } catch ProviderError.notSupported where token == nil {
            // The service accepts likes and has no list of them.
            page = RemotePage(
                try await store.read(account) { try $0.photos.likedPhotos() })
        }
        let local = owner.localLikes
        guard !local.isEmpty else { return page }
        page.photos.removeAll { photo in local.contains { $0.photo == photo.photo.id } }
        guard token == nil else { return page }
        var photos: [RemotePhoto] = []
        for like in local where like.isWanted {
            // A photo that cannot be fetched is omitted.
            if let photo = try? await photo(like.photo) { photos.append(photo.remote) }
        }
        page.photos = photos + page.photos
        return page
    }

    /// Returns the likes of a service that never has likes. Those that are not cached are fetched.
    ///
    /// - Returns: The photos, the latest like first. Photos that cannot be fetched are omitted.
    /// - Throws: The error of the service if no photo is known.
    private func localLikes() async throws -> [RemotePhoto] {
        let liked = owner.localLikes.filter(\.isWanted).map(\.photo)
        var photos: [PhotoID: RemotePhoto] = [:]
        for id in liked { photos[id] = try await knownPhoto(id)?.remote }
        var missing = liked.filter { photos[$0] == nil }[...]
        while !missing.isEmpty {
            let ids = Array(missing.prefix(Self.photosPerRequest))
            missing = missing.dropFirst(ids.count)
            do {
                let fetched = try await owner.perform { [session] in
                    try await session.fetchPhotos(ids)
                }
                for photo in fetched { photos[photo.photo.id] = photo }
            } catch  where !photos.isEmpty {
                break
            }
        }
        return liked.compactMap { photos[$0] }
    }

    /// The maximum number of photos that are fetched by their IDs at once.
    private static let photosPerRequest = 50

    private func announce(_ merge: FeedTables.Merge, _ source: SourceID, isFill: Bool) async {
        if !merge.changed.isEmpty { owner.emit(.photosChanged(merge.changed)) }
        if !merge.removed.isEmpty { owner.emit(.photosRemoved(merge.removed)) }
        if !isFill, merge.new > 0 {
            owner.emit(.updated(source, new: merge.new))
        } else if merge.hasChanged || merge.isLost {
            owner.emit(.updated(source, new: 0))
        } else if merge.new > 0 {
            owner.emit(.changed(.feed))
        }
        if !merge.likeChanges.isEmpty { await announceLikeChanges(merge.likeChanges, in: source) }
        // New photos can be liked ones.
        if session.remoteLikes != nil, merge.new > 0 || merge.hasChanged { owner.likesObserved([]) }
    }

    /// Updates the likes source after the service reported other likes in another source.
    func announceLikeChanges(_ photos: [Photo], in source: SourceID? = nil) async {
        owner.likesObserved(photos)
        guard let likesSource, source != likesSource else { return }
        let stored = stored(likesSource)
        let new = try? await store.run(account) { try $0.updateLikes(photos, in: stored) }
        if let new = new ?? nil { owner.emit(.updated(likesSource, new: new)) }
    }
}

// The times at which the top of a source is refreshed.
extension CachedFeed {
    /// Records a read of the first page, and refreshes the source in the background if its top is old.
    ///
    /// Called also for a prepared reply. Reads no database.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - refreshed: The time of the last refresh, if the caller has read it.
    func recordRead(_ source: SourceID, refreshed: Timestamp? = nil) {
        activity.recordRead(source)
        if let refreshed { activity.recordRefresh(source, at: refreshed) }
        guard activity.needsRefresh(source, now: owner.now), !owner.isMetered() else { return }
        refreshInBackground(source)
    }

    func refreshInBackground(_ source: SourceID) {
        activity.recordAttempt(source, now: owner.now)
        Task { _ = try? await fetchTop(source) }
    }

    /// Repeats failed refreshes after an outage.
    ///
    /// Only sources that are cached or watched are refreshed, the most recently read ones, and at most
    /// ``SourceActivity/retryLimit``. A source that does not exist at the service is not refreshed again.
    func retryNow() {
        guard !owner.isMetered() else { return }
        let failures = activity.failures
        guard !failures.isEmpty else { return }
        Task {
            let keys = failures.map { (source: $0, key: stored($0)) }
            let cached = try? await store.read(account) { tables in
                var cached: Set<SourceID> = []
                for (source, key) in keys where try tables.source(key) != nil {
                    cached.insert(source)
                }
                return cached
            }
            activity.takeRetries(of: failures) { source in
                cached?.contains(source) == true || owner.isWatched(source)
            }.forEach(refreshInBackground)
        }
    }

    /// Refreshes a watched source.
    func refreshWatched(_ source: SourceID) async {
        guard session.accepts(source) else { return }
        _ = try? await fetchReadParts(source)
    }

    /// Changes ``activity``, and announces a change of its problems.
    func changeActivity(_ change: (inout SourceActivity) -> Void) {
        let before = activity.problems
        change(&activity)
        if activity.problems != before { owner.emit(.changed(.state)) }
    }
}
