internal import ProviderKit
internal import Storage

/// The merge of one page into a source.
nonisolated struct FeedMerge {
    typealias Part = FeedOrder.Part
    typealias Entry = FeedOrder.Entry

    let tables: FeedTables
    let photos: FeedPhotos
    let order: FeedOrder
    let arrival: FeedTables.Arrival
    let source: FeedTables.SourceState
    /// The time of the previous fetch of the part.
    let fetched: Timestamp
    var result: FeedTables.Merge
    /// True if the new generation differs from the one before.
    var isUsed = false
    /// The photos whose entries ended, and that have no new one.
    var killed: [PhotoID] = []

    var part: Part? { arrival.part }
    var page: RemotePage { arrival.page }
    /// The generation that begins with this merge.
    var generation: Int64 { source.generation + 1 }

    /// Inserts an entry of the page.
    mutating func insert(
        _ photo: PhotoID, at key: String, born: Int64
    ) throws(StorageError) {
        try order.insert(photo, at: key, born: born)
        if born == generation { isUsed = true }
    }

    /// Ends an entry that the service no longer shows. For the photos that the user likes, the photo is no longer
    /// liked, unless the response may be from before a like.
    mutating func drop(_ entry: Entry) throws(StorageError) {
        if arrival.isExact, let known = try photos.photo(entry.photo) {
            if known.isLikeFresh(now: arrival.now) { return }
            if known.photo.isLiked,
                let photo = try photos.setLiked(
                    entry.photo, false, likes: nil, confirmed: known.likeConfirmed)
            {
                result.changed.append(photo)
                result.likeChanges.append(photo)
            }
        }
        try order.end(at: entry.key, generation)
        isUsed = true
        killed.append(entry.photo)
    }

    /// Stores the new generation of the source, and enforces the bounds of the cache.
    mutating func finish() throws(StorageError) -> FeedTables.Merge {
        if let part, !result.isLost { try order.setFetched(part, arrival.now) }
        if isUsed { try order.setGeneration(generation) }
        result.hasLosses = !killed.isEmpty
        // If the size exceeds the limit, rows without references are deleted first.
        let isOverLimit = try tables.bytes(of: arrival.account) > tables.bounds.bytes
        let swept = isOverLimit ? killed[...] : killed.prefix(tables.bounds.piece)
        let gone = try photos.sweep(Array(swept), now: arrival.now)
        result.unswept = Array(killed.dropFirst(swept.count))
        result.reportsRemovals = source.isKeyed == true
        if result.reportsRemovals { result.removed = gone }
        try order.forgetDead(except: tables.bounds.dead)
        let limit = arrival.part == nil ? tables.bounds.source : tables.bounds.walk
        let cuts = [
            try tables.trim(source.key, arrival.account, to: limit, now: arrival.now),
            try tables.limitBytes(of: arrival.account, preferring: source.key, now: arrival.now),
        ]
        let cut = cuts.compactMap { $0 }.max()
        // A walk that would exceed the limit of the cache ends.
        if let cut, let part = arrival.part, part.key <= cut { result.isLost = true }
        return result
    }
}
