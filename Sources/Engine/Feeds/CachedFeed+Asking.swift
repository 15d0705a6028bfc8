internal import ProviderKit
internal import Storage

// What is asked of the service, and what becomes of its answers.
extension CachedFeed {
    func fetchTop(_ source: SourceID) async throws -> FeedTables.Merge {
        if !tops.isRunning(source) { activity.recordAttempt(source, now: owner.now) }
        do {
            return try await tops.run(source) { [self] in
                defer { answers += 1 }
                let merge = try await fetch(source, gap: nil)
                recordRefresh(source)
                return merge
            }
        } catch {
            activity.recordFailure(source, error)
            throw error
        }
    }

    /// Asks for what follows a gap.
    ///
    /// - Throws: ``ProviderError/staleCursor`` when nobody can tell where that is.
    func fill(
        _ source: SourceID, _ gap: FeedTables.Gap, _ state: FeedTables.SourceState
    ) async throws {
        var gap = gap
        gap.placeLasts = session.placesLast
        gap.isDoubtful = isOld(gap.told) && !session.placesLast
        if gap.isDoubtful, isOld(state.fetched) {
            // What has come since then would be taken for what is down there.
            _ = try await fetchTop(source)
        }
        let merge = try await fills.run(Fill(source: source, gap: gap.position)) { [self, gap] in
            try await fetch(source, gap: gap)
        }
        if merge.isLost { throw ProviderError.staleCursor }
    }

    private func isOld(_ time: Timestamp) -> Bool {
        owner.now < time || owner.now >= time + Self.placeFreshness
    }

    private func fetch(_ source: SourceID, gap: FeedTables.Gap?) async throws -> FeedTables.Merge {
        let isLikes = source == likesSource
        let page = try await pageWithPhotos(source, from: gap?.place)
        try checkWanted()
        let isEmpty = gap == nil && !isLikes && page.photos.isEmpty && page.next == nil
        // It may be nonsense, and what is known is not given away for it before that is repeated.
        let stored = stored(source)
        let isDoubted = isEmpty && emptied.insert(stored).inserted
        if !isEmpty { emptied.remove(stored) }
        let now = owner.now
        let merge = try await store.run { [account] (tables) throws(StorageError) in
            let state: FeedTables.SourceState
            if gap == nil {
                let known = try tables.source(account, stored)
                if isDoubted, let known, try tables.highest(known.key, below: .max) != nil {
                    return FeedTables.Merge()
                }
                state = try tables.touchSource(account, stored, fetched: now, total: page.total)
                if known == nil { try tables.limitSources(of: account, now: now) }
            } else if let known = try tables.source(account, stored) {
                state = known
            } else {
                // The cache was deleted meanwhile: the place is lost with it.
                return FeedTables.Merge()
            }
            return try tables.merge(
                page, into: state, account, gap: gap, isExact: isLikes, now: now)
        }
        await tell(merge, source, isTop: gap == nil)
        return merge
    }

    /// A page of the service, and those after it as long as there is nothing to show on them.
    private func pageWithPhotos(
        _ source: SourceID, from place: String?
    ) async throws -> RemotePage {
        var page = try await ask(source, from: place)
        for _ in 1..<Self.fillLimit {
            guard page.photos.isEmpty, let next = page.next else { break }
            page = try await ask(source, from: next)
        }
        return page
    }

    private func ask(_ source: SourceID, from place: String?) async throws -> RemotePage {
        if source == likesSource { return try await fetchLikes(from: place) }
        return try await owner.ask { [session] in
            let page = try await session.fetchPage(source, from: place)
            let count = page.photos.count
            // All that is known further down would be dropped for it. What cannot be shown is counted, too.
            if place == nil, page.next == nil, let total = page.total, total > 2 * count + 60 {
                throw ProviderError.failed(
                    "The service gave \(count) photos of \(total) and no more; try again later.")
            }
            return page
        }
    }

    /// The photos that the user likes: at the service, and here alone where it offers no likes (any more).
    private func fetchLikes(from place: String?) async throws -> RemotePage {
        guard let likesSource else { return RemotePage([]) }
        var page: RemotePage
        do {
            page = try await owner.ask { [session] in
                try await session.fetchPage(likesSource, from: place)
            }
        } catch ProviderError.notFound, ProviderError.denied {
            page = RemotePage([])
        }
        guard let local = owner.localLikes else { return page }
        page.photos.removeAll { photo in local.contains { $0.photo == photo.photo.id } }
        guard place == nil else { return page }
        var photos: [RemotePhoto] = []
        for wish in local where wish.isWanted {
            // One that cannot be had now is left out for now.
            if let photo = try? await photo(wish.photo) { photos.append(photo.remote) }
        }
        page.photos = photos + page.photos
        return page
    }

    private func tell(_ merge: FeedTables.Merge, _ source: SourceID, isTop: Bool) async {
        if !merge.changed.isEmpty { owner.photosChanged(merge.changed) }
        if isTop, merge.new > 0 {
            owner.feedUpdated(source, new: merge.new)
        } else if merge.hasLosses || merge.isLost {
            owner.feedUpdated(source, new: 0)
        } else if merge.new > 0 {
            owner.feedGrew()
        }
        if !merge.relikes.isEmpty { await tellRelikes(merge.relikes, in: source) }
    }

    /// Brings the liked photos into step with what the service says of photos elsewhere.
    func tellRelikes(_ photos: [Photo], in source: SourceID? = nil) async {
        // Of what counts here alone, it knows nothing.
        let local = Set((owner.localLikes ?? []).map(\.photo))
        let photos = photos.filter { !local.contains($0.id) }
        guard !photos.isEmpty else { return }
        owner.likesObserved(photos)
        guard let likesSource, source != likesSource else { return }
        let stored = stored(likesSource)
        let moved = try? await store.run { [account] (tables) throws(StorageError) -> Int? in
            guard let source = try tables.source(account, stored) else { return nil }
            var (new, isMoved) = (0, false)
            for photo in photos {
                if photo.isLiked {
                    if try tables.putOnTop(photo.id, of: source.key) { new += 1 }
                } else if try tables.takeOut(photo.id, of: source.key) {
                    isMoved = true
                }
            }
            return new > 0 || isMoved ? new : nil
        }
        if let new = moved ?? nil { owner.feedUpdated(likesSource, new: new) }
    }
}
