internal import ProviderKit
internal import Storage

/// The merge of one page into a source.
nonisolated struct FeedMerge {
    typealias Part = FeedOrder.Part
    typealias Entry = FeedOrder.Entry

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

    var tables: FeedTables { order.tables }
    var part: Part? { arrival.part }
    var page: RemotePage { arrival.page }
    /// The generation that begins with this merge.
    var generation: Int64 { source.generation + 1 }

    /// Inserts an entry of the page.
    mutating func insert(_ photo: PhotoID, at key: String, born: Int64) throws(StorageError) {
        try order.insert(photo, at: key, born: born)
        guard born == generation else { return }
        isUsed = true
        result.hasChanged = true
    }

    /// Ends an entry.
    mutating func end(at key: String) throws(StorageError) {
        try order.end(at: key, generation)
        result.hasChanged = true
        isUsed = true
    }

    /// Ends an entry that the service no longer shows. For the photos that the user likes, the photo is no longer
    /// liked, unless the response may be from before a like.
    mutating func drop(_ entry: Entry) throws(StorageError) {
        if page.isPartial { return }
        if arrival.isExact, let known = try tables.photos.photo(entry.photo) {
            let shown = arrival.overlay?(entry.photo)
            if shown == true { return }
            if shown == nil, known.photo.isLiked {
                // In another order than that of the likes, a photo that was liked here may be further down.
                let isLikedHere = known.likeConfirmed.secondsSince1970 > 0
                if isLikedHere, page.next != nil, !arrival.hasLatestLikesFirst { return }
                if let photo = try tables.photos.setLiked(
                    entry.photo, false, likes: nil, confirmed: known.likeConfirmed)
                {
                    result.changed.append(photo)
                    result.likeChanges.append(photo)
                }
            }
        }
        try end(at: entry.key)
        killed.append(entry.photo)
    }

    /// Stores the new generation of the source, and enforces the bounds of the cache.
    mutating func finish() throws(StorageError) -> FeedTables.Merge {
        if let part, !result.isLost { try order.setFetched(part, arrival.now) }
        if isUsed { try order.setGeneration(generation) }
        // If the size exceeds the limit, rows without references are deleted first.
        let isOverLimit = try tables.bytes() > tables.bounds.bytes
        let swept = isOverLimit ? killed[...] : killed.prefix(tables.bounds.piece)
        let gone = try tables.photos.sweep(Array(swept))
        result.unswept = Array(killed.dropFirst(swept.count))
        result.reportsRemovals = source.isKeyed == true
        if result.reportsRemovals { result.removed = gone }
        try order.forgetDead(except: tables.bounds.dead)
        let limit = arrival.part == nil ? tables.bounds.source : tables.bounds.walk
        let cuts = [
            try order.trim(to: limit),
            try tables.limitBytes(preferring: source.key),
        ]
        let cut = cuts.compactMap { $0 }.max()
        // A walk that would exceed the limit of the cache ends.
        if let cut, let part = arrival.part, part.key <= cut { result.isLost = true }
        return result
    }
}

/// The merge of a page of a service whose entries have keys: an exact merge of ordered sets.
///
/// A page covers the keys from its beginning to its last entry. A cached entry in this range that is not on the page
/// was removed from the source at the service. An entry of the page that is not in the cache is inserted at its key.
nonisolated extension FeedMerge {
    /// Merges the page.
    ///
    /// - Parameters:
    ///   - present: The entries of the page.
    ///   - end: The key at which the page ends; nil for a page without entries.
    /// - Throws: ``StorageError``.
    mutating func mergeKeyed(_ present: [Entry], to end: String?) throws(StorageError) {
        let (page, part) = (page, part)
        let upper = part?.key
        if page.next != nil, end == nil { return try moveToken() }
        let lower = page.next == nil ? nil : end
        let known = try order.entries(from: lower, below: upper)
        let marks = try order.marks(from: lower, below: upper)
        // The part above the highest entry was never fetched.
        let first = Part(
            key: upper ?? FeedOrder.top, token: "", received: arrival.now,
            isGap: part?.isGap ?? true, born: part?.born ?? generation,
            fetched: fetched)
        let parts = [first] + marks
        /// Returns the gap that contains a key; nil if the part around the key was fetched.
        func gap(around key: String) -> Part? {
            guard let part = parts.last(where: { $0.key > key }), part.isGap,
                !known.contains(where: { $0.key < part.key && $0.key >= key })
            else { return nil }
            return part
        }

        let live = Set(known.filter(\.isLive))
        let missing = present.filter { !live.contains($0) }
        var new: Set<PhotoID> = []
        for entry in missing where try order.liveKey(of: entry.photo) == nil {
            new.insert(entry.photo)
        }
        result.new += new.count
        let shown = Set(present)
        for entry in known where entry.isLive && !shown.contains(entry) { try drop(entry) }
        // Every walk may go on below the end that the service had reported.
        let bottom = try order.lowestLiveKey()
        for entry in missing {
            let isBelowEnd = bottom.map { entry.key < $0 } ?? false
            let born = gap(around: entry.key)?.born ?? (isBelowEnd ? 0 : generation)
            try insert(entry.photo, at: entry.key, born: born)
        }

        guard let lower, let next = page.next else {
            if !page.isPartial { try order.removeMarks(above: nil, below: upper) }
            return
        }
        if !page.isPartial { try order.removeMarks(above: lower, below: upper) }
        let now = arrival.now
        if let end = marks.last, end.key == lower {
            try order.setMark(end.moved(to: lower, next, now))
        } else if let gap = gap(around: lower) {
            if gap.born == generation { isUsed = true }
            try order.setMark(gap.moved(to: lower, next, now))
        } else if case let isEnd = try order.isEnd(lower), isEnd || page.isPartial {
            // The service had reported its end here, or the part below is not certain.
            result.hasChanged = true
            try order.setMark(
                Part(key: lower, token: next, received: now, isGap: true, born: 0, fetched: now))
        } else {
            let fetched = parts.last { $0.key > lower }?.fetched ?? fetched
            let covered = Part(
                key: lower, token: next, received: now, isGap: false, born: 0, fetched: fetched)
            try order.setCoveredMark(covered, size: page.photos.count)
        }
    }

    /// Records the page token that follows a page without usable photos.
    func moveToken() throws(StorageError) {
        guard let next = page.next else { return }
        let now = arrival.now
        if let part {
            guard part.isGap else { return }
            try order.setMark(part.moved(to: part.key, next, now))
        } else if try order.neighbour(below: nil) == nil {
            try order.setMark(
                Part(
                    key: OrderKey.base, token: next, received: now, isGap: true,
                    born: source.generation, fetched: now))
        }
    }
}

nonisolated extension FeedOrder.Part {
    /// Returns the same part with another beginning.
    func moved(to key: String, _ token: String, _ received: Timestamp) -> Self {
        Self(key: key, token: token, received: received, isGap: isGap, born: born, fetched: fetched)
    }
}
