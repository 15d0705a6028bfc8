package import ProviderKit
internal import Storage

/// The merge of the pages of a service into the cache.
///
/// Invariants:
/// - The entries of a walk's generation are a fixed list, apart from gaps that are filled below the walk and photos
///   that left the source. The walk shows each photo of the list once.
/// - Between two neighbours without a gap, the service had no other photo when the part was fetched. If it is not
///   certain that a page reaches the cached photos below it, a gap is left there, at the cost of one more request.
/// - A part that is fetched again has the photos of the service afterwards.
nonisolated extension FeedTables {
    /// The changes of a merge.
    package struct Merge: Sendable {
        /// The number of photos that the source did not have.
        package var new = 0
        /// The number of pages that were requested.
        package var pages = 0
        /// The photos whose properties changed, in any source.
        package var changed: [Photo] = []
        /// The changed photos whose liked state changed.
        package var likeChanges: [Photo] = []
        /// True if the entries of the source or their order changed.
        package var hasChanged = false
        /// Photos that the service no longer shows, and that no source has.
        package var removed: [PhotoID] = []
        /// True if the position of the page is unknown.
        package var isLost = false
        /// True if the response for the top is ignored, because it is the first empty one.
        package var isDoubted = false
        /// Photos that may no longer be in any source, and whose rows can be deleted later: see
        /// ``FeedPhotos/sweep(_:)``.
        var unswept: [PhotoID] = []
        /// True if the merge proves that removed photos no longer exist at the service.
        var reportsRemovals = false
    }

    /// A page to merge, and its position.
    package struct Arrival {
        var page: RemotePage
        /// The part that was fetched; nil for the top.
        let part: FeedOrder.Part?
        /// True for the photos that the user likes: a photo that is missing is no longer liked.
        let isExact: Bool
        /// True if the source begins with the photo that was liked last.
        let hasLatestLikesFirst: Bool
        /// True if the page tokens of the service remain valid for the same position.
        var hasStablePageTokens = false
        /// The generation of the source when a part was requested again.
        var generation: Int64?
        let now: Timestamp
        /// The photos whose rows were inserted before: see ``FeedPhotos/prepare(_:_:)``.
        var prepared: Set<PhotoID> = []
        /// The liked states that the service may not know yet.
        var overlay: LikeOverlay = nil

        package init(
            page: RemotePage, part: FeedOrder.Part?, isExact: Bool,
            hasLatestLikesFirst: Bool = false, hasStablePageTokens: Bool = false,
            generation: Int64? = nil, now: Timestamp
        ) {
            self.page = page
            self.part = part
            self.isExact = isExact
            self.hasLatestLikesFirst = hasLatestLikesFirst
            self.hasStablePageTokens = hasStablePageTokens
            self.generation = generation
            self.now = now
        }
    }

    /// Stores a page of a source.
    ///
    /// - Parameters:
    ///   - arrival: The page.
    ///   - id: The source, as it is stored.
    /// - Returns: The changes. There are none if the response is ignored, or if the part no longer exists.
    /// - Throws: ``StorageError``; then nothing has changed.
    func store(_ arrival: Arrival, in id: SourceID) throws(StorageError) -> Merge {
        let page = arrival.page
        let known = try source(id)
        let ignored = Merge(unswept: Array(arrival.prepared))
        /// Returns true if the page has no photos, and this response is ignored.
        func isDoubted(_ known: SourceState) throws(StorageError) -> Bool {
            let (order, key) = (order(of: known.key), arrival.part?.key)
            guard page.photos.isEmpty, page.next == nil else { return false }
            guard try order.hasEntries(below: key) else { return false }
            if page.isPartial {
                // The cached photos below a gap are shown.
                if let part = arrival.part, part.isGap { try order.removeMark(at: part.key) }
                return true
            }
            return try order.doubt(key)
        }
        guard let part = arrival.part else {
            if let known, try isDoubted(known) { return Merge(isDoubted: !page.isPartial) }
            let state = try touchSource(id, fetched: arrival.now, total: page.total)
            if known == nil { try limitSources(for: id) }
            return try merge(arrival, into: state, id, before: known?.fetched ?? arrival.now)
        }
        // The cache may have been deleted, or the part fetched in another way.
        guard let known, try order(of: known.key).mark(part.key)?.token == part.token else {
            return ignored
        }
        // A response that is older than the cached one would undo its changes.
        if let generation = arrival.generation, generation != known.generation { return ignored }
        if try isDoubted(known) { return ignored }
        return try merge(arrival, into: known, id, before: part.fetched)
    }

    private func merge(
        _ arrival: Arrival, into source: SourceState, _ id: SourceID, before fetched: Timestamp
    ) throws(StorageError) -> Merge {
        var arrival = arrival
        let overlay = arrival.overlay
        // A page of liked photos may be older than an unlike.
        if arrival.isExact { arrival.page.photos.removeAll { overlay?($0.photo.id) == false } }
        let (page, part) = (arrival.page, arrival.part)
        let order = order(of: source.key)
        var merge = Merge()
        var seen: Set<PhotoID> = []
        for photo in page.photos where seen.insert(photo.photo.id).inserted {
            // The row may have been deleted or changed meanwhile.
            if arrival.prepared.contains(photo.photo.id), try photos.hasPhoto(photo.photo.id) {
                continue
            }
            if let news = try photos.upsert(photo, overlay) {
                merge.changed.append(news.photo)
                if news.isOtherLike { merge.likeChanges.append(news.photo) }
            }
        }
        var source = source
        let keyed = arrival.isExact ? nil : page.keyed(below: part?.key)
        if !page.photos.isEmpty || page.end != nil || arrival.isExact {
            let isKeyed = keyed != nil
            let isDecided = source.isKeyed == isKeyed || source.isKeyed == false
            if !isDecided {
                let hasEntries = try order.hasEntries(below: nil)
                if source.isKeyed == nil, !hasEntries || !isKeyed {
                    try order.setKeyed(isKeyed)
                } else {
                    // The orders cannot be compared. The keys of a source are not used again once they were
                    // inconsistent.
                    try order.clear(isKeyed: isKeyed, isFetched: part == nil)
                    merge.isLost = part != nil
                }
                if merge.isLost { return merge }
                guard let state = try self.source(id) else { throw .damaged(database.path) }
                source = state
            }
            // A page from the top replaces the mark at the top.
            if part == nil { try order.removeMark(at: OrderKey.base) }
        }
        var change = FeedMerge(
            order: order, arrival: arrival, source: source, fetched: fetched, result: merge)
        if source.isKeyed == true {
            try change.mergeKeyed(keyed?.entries ?? [], to: keyed?.end)
        } else {
            try change.mergeAnchored()
        }
        merge = try change.finish()
        if arrival.isExact, page.next == nil, let overlay {
            // The whole list of liked photos may be older than a like.
            let liked = try photos.likedPhotos().filter { overlay($0.photo.id) == true }
            if let new = try updateLikes(liked.reversed().map(\.photo), in: id) {
                merge.new += new
                merge.hasChanged = true
            }
        }
        return merge
    }
}

nonisolated extension RemotePage {
    /// The maximum size of the key of a displaced entry, in bytes.
    private static let maximumKeyBytes = 4096

    /// Returns the entries of the page with their order keys, if the service sent keys.
    ///
    /// Repeated entries are dropped. An entry that does not descend gets a key between its neighbours, so that the page has
    /// the order of the service and covers the range below `upper`.
    ///
    /// - Parameter upper: The key below which the page begins; nil for the top.
    /// - Returns: The entries, the highest first, and the key at which the page ends; nil if the service sent no keys.
    fileprivate func keyed(below upper: String?) -> (entries: [FeedOrder.Entry], end: String)? {
        let upper = upper ?? FeedOrder.top
        var groups: [(key: String, photos: [PhotoID])] = []
        var indices: [String: Int] = [:]
        for photo in photos {
            guard let key = photo.entry, OrderKey.isValid(key) else { return nil }
            if let index = indices[key] {
                groups[index].photos.append(photo.photo.id)
            } else {
                indices[key] = groups.count
                groups.append((key, [photo.photo.id]))
            }
        }
        guard let last = end ?? groups.last?.key, OrderKey.isValid(last) else { return nil }
        let end = last < upper ? last : OrderKey.below(upper)
        var lower = end
        var entries: [FeedOrder.Entry] = []
        for (number, group) in groups.reversed().enumerated() {
            // The last entry has the key of the end.
            let isOrdered =
                group.key < upper && (group.key > lower || number == 0 && group.key == end)
            let key = isOrdered ? group.key : OrderKey.displaced(group.key, above: lower)
            guard lower <= key, key < upper, key.utf8.count <= Self.maximumKeyBytes else {
                return nil
            }
            var seen: Set<PhotoID> = []
            let photos = group.photos.filter { seen.insert($0).inserted }
            entries += photos.enumerated().reversed().map { index, photo in
                FeedOrder.Entry(key: OrderKey.photo(key, index), photo: photo, isLive: true)
            }
            lower = key
        }
        return (entries.reversed(), end)
    }
}
