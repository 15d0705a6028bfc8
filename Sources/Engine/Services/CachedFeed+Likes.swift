internal import EngineModel
internal import Feeds
internal import Likes
internal import ProviderKit
internal import Storage

// The likes of cached photos.
extension CachedFeed {
    /// The source of the photos that the user likes; nil if the service has no such source.
    var likesSource: SourceID? { session.remoteLikes?.likesSource }

    /// Returns the states that the answer to a request does not change. Called immediately before the answer is stored.
    ///
    /// - Throws: ``EngineError/needsLogin(_:)`` after a logout.
    func overlay(for request: LikeOutbox.Request?) throws -> LikeOverlay {
        try checkWanted()
        guard let request, let likes = owner.likes else { return nil }
        return likes.outbox.overlay(for: request, at: owner.now)
    }
}

// The cache and the service of the likes.
extension CachedFeed: LikePorts {
    var clock: any Clock<Duration> { owner.clock }
    var now: Timestamp { owner.now }
    var hasLocalLikes: Bool { session.remoteLikes?.hasLocalLikes == true }
    var isAvailable: Bool { owner.state == .ready }

    func cachedPhotos(of photo: PhotoID) async throws -> [Photo] {
        let prefix = session.remoteLikes?.likeGroupPrefix(photo)
        return try await store.read(account) { tables in
            try tables.photos.likeGroup(of: photo, prefix).map(\.photo)
        }
    }

    func checkPhoto(_ photo: PhotoID) async throws {
        do {
            _ = try await fetchPhoto(photo)
        } catch ProviderError.notFound(let reason) {
            await remove(((try? await cachedPhotos(of: photo)) ?? []).map(\.id))
            throw ProviderError.notFound(reason)
        }
    }

    func send(_ photo: PhotoID, _ isWanted: Bool) async throws -> Int? {
        guard let likes = session.remoteLikes else { throw CancellationError() }
        do {
            return try await owner.perform { try await likes.setLiked(photo, isWanted) }
        } catch ProviderError.denied(let reason) {
            owner.likesDenied(reason)
            throw ProviderError.denied(reason)
        }
    }

    func store(_ confirmation: LikeConfirmation) async -> (photos: [Photo], isWritten: Bool) {
        do {
            let photos = try await write(confirmation)
            return (photos, true)
        } catch {
            if !confirmation.isRepeated {
                owner.likeCount = max(0, owner.likeCount + (confirmation.isLiked ? 1 : -1))
            }
            return ([], false)
        }
    }

    /// Writes the liked state of a like group, and counts it if the cached state changes.
    private func write(_ confirmation: LikeConfirmation) async throws -> [Photo] {
        try checkWanted()
        let (id, isLiked) = (confirmation.photo, confirmation.isLiked)
        let (now, likesSource) = (owner.now, likesSource)
        let stored = likesSource.map(stored)
        let prefix = session.remoteLikes?.likeGroupPrefix(id)
        let result = try await store.run(account) { tables in
            var photos: [Photo] = []
            var (isCounted, hasChanged) = (false, false)
            for known in try tables.photos.likeGroup(of: id, prefix) {
                let photo = try tables.photos.setLiked(
                    known.photo.id, isLiked, likes: confirmation.likes, confirmed: now)
                guard let photo else { continue }
                photos.append(photo)
                hasChanged = hasChanged || photo != known.photo
                isCounted = isCounted || known.photo.isLiked != isLiked
            }
            isCounted = isCounted && !confirmation.isRepeated
            if isCounted { try tables.countLike(isLiked, now: now) }
            var new: Int?
            if let stored { new = try tables.updateLikes(photos.reversed(), in: stored) }
            return (photos, hasChanged, isCounted, new, try tables.likeCount())
        }
        let (photos, hasChanged, isCounted, new, count) = result
        owner.likeCount = count
        if hasChanged { owner.emit(.photosChanged(photos)) }
        if let new, let likesSource { owner.emit(.updated(likesSource, new: new)) }
        // The service may have counted the like before. A state that the cache already had was counted then.
        if !isCounted, hasChanged || !confirmation.isEarlier { owner.likeCountDoubted() }
        return photos
    }

    func emit(_ event: AccountEvent) { owner.emit(event) }
    func likesSent(isComplete: Bool) { owner.likesSent(isComplete: isComplete) }
}
