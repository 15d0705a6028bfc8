internal import Accounts
internal import Feeds
internal import Likes
internal import ProviderKit
internal import Storage

// The likes of cached photos.
extension CachedFeed {
    /// The source of the photos that the user likes; nil if the service has no such source.
    var likesSource: SourceID? { session.remoteLikes?.likesSource }

    /// Writes the liked state of a like group. A local like is counted if the cached state changes.
    ///
    /// - Parameter update: The change.
    /// - Returns: The photos of the like group that are cached, the given one first; and the number of the user's
    ///   likes.
    /// - Throws: ``StorageError``; ``EngineError/needsLogin(_:)`` after a logout.
    func write(
        _ update: LikeQueue.CacheUpdate
    ) async throws -> (photos: [Photo], count: Int) {
        try checkWanted()
        let (id, isLiked) = (update.like.photo, update.like.isWanted)
        let now = owner.now
        let likesSource = likesSource
        let stored = likesSource.map(stored)
        let prefix = likeGroupPrefix(id)
        let (photos, new, count) = try await store.run(account) { tables in
            var photos: [Photo] = []
            var hasChanged = false
            for known in try tables.photos.likeGroup(of: id, prefix) {
                let photo = try tables.photos.setLiked(
                    known.photo.id, isLiked, likes: update.likes, confirmed: now)
                if let photo { photos.append(photo) }
                if known.photo.isLiked != isLiked { hasChanged = true }
            }
            if update.isCounted, hasChanged || update.outcome == .done {
                try tables.countLike(isLiked, now: now)
            }
            var new: Int?
            if let stored { new = try tables.updateLikes(photos.reversed(), in: stored) }
            return (photos, new, try tables.likeCount())
        }
        if !photos.isEmpty { owner.emit(.photosChanged(photos)) }
        if let new, let likesSource { owner.emit(.updated(likesSource, new: new)) }
        return (photos, count)
    }

    /// Reads the photos of a like group in one transaction. If the given photo is not cached, it is fetched.
    ///
    /// - Parameter id: A photo of the like group.
    /// - Returns: The given photo first, then the others that are cached.
    /// - Throws: ``StorageError``; the error of ``fetchPhoto(_:)`` for a photo that is not cached.
    func likeGroup(of id: PhotoID) async throws -> [Photo] {
        let photos = try await companions(of: id)
        guard photos.first?.id != id else { return photos }
        return [try await fetchPhoto(id).photo] + photos
    }

    /// Reads the liked states of photos.
    ///
    /// - Parameter ids: The photos.
    /// - Returns: The states of those that are cached.
    /// - Throws: ``StorageError``.
    func cachedLikes(of ids: [PhotoID]) async throws -> [PhotoID: LikeQueue.CachedLike] {
        guard !ids.isEmpty else { return [:] }
        return try await store.read(account) { tables in
            var likes: [PhotoID: LikeQueue.CachedLike] = [:]
            for id in ids {
                guard let photo = try tables.photos.photo(id) else { continue }
                likes[id] = LikeQueue.CachedLike(
                    isLiked: photo.photo.isLiked, confirmed: photo.likeConfirmed)
            }
            return likes
        }
    }

    /// Reads the number of the user's likes.
    func likeCount() async throws -> Int {
        try await store.read(account) { try $0.likeCount() }
    }

    /// Returns the photos of a like group that are cached, the given one first.
    func companions(of id: PhotoID) async throws -> [Photo] {
        let prefix = likeGroupPrefix(id)
        return try await store.read(account) { tables in
            try tables.photos.likeGroup(of: id, prefix).map(\.photo)
        }
    }

    private func likeGroupPrefix(_ id: PhotoID) -> String? {
        session.remoteLikes?.likeGroupPrefix(id)
    }
}
