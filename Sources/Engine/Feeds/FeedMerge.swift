internal import ProviderKit
internal import Storage

/// The merge of one page into a source.
nonisolated struct FeedMerge {
    typealias Part = FeedTables.Part
    typealias Entry = FeedTables.Entry

    let tables: FeedTables
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
        try tables.insert(photo, at: key, source.key, born: born)
        if born == generation { isUsed = true }
    }

    /// Ends an entry that the service no longer shows. For the photos that the user likes, the photo is no longer
    /// liked, unless the response may be from before a like.
    ///
    /// - Returns: False if the entry stays.
    @discardableResult
    mutating func drop(_ entry: Entry) throws(StorageError) -> Bool {
        let (account, now) = (arrival.account, arrival.now)
        if arrival.isExact, let known = try tables.photo(account, entry.photo) {
            if known.isLikeFresh(now: now) { return false }
            if known.photo.isLiked,
                let photo = try tables.setLiked(
                    account, entry.photo, false, likes: nil, confirmed: known.likeConfirmed)
            {
                result.changed.append(photo)
                result.likeChanges.append(photo)
            }
        }
        try tables.end(source.key, at: entry.key, generation)
        isUsed = true
        killed.append(entry.photo)
        return true
    }

    /// Stores the new generation of the source, and enforces the bounds of the cache.
    mutating func finish() throws(StorageError) -> FeedTables.Merge {
        if let part = arrival.part, !result.isLost {
            try tables.database.query(
                """
                UPDATE mark SET is_gap = 0, doubted = 0, fetched = ? WHERE source = ? AND key = ?
                    AND token = ?
                """,
                [
                    .integer(arrival.now.secondsSince1970), .integer(source.key), .text(part.key),
                    .text(part.token),
                ])
        }
        if isUsed { try tables.setGeneration(source.key, generation) }
        result.hasLosses = !killed.isEmpty
        // If the size exceeds the limit, rows without references are deleted first.
        let isOverLimit = try tables.bytes(of: arrival.account) > tables.bounds.bytes
        let swept = isOverLimit ? killed[...] : killed.prefix(tables.bounds.piece)
        let gone = try tables.sweep(Array(swept), arrival.account, now: arrival.now)
        result.unswept = Array(killed.dropFirst(swept.count))
        result.reportsRemovals = source.isKeyed == true
        if result.reportsRemovals { result.removed = gone }
        try tables.forgetDead(source.key)
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
