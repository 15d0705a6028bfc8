internal import ProviderKit
internal import Storage

/// The merge of a page of a service whose entries have no keys.
///
/// The photos that the page shares with the cache, in the same order, are its anchors. Anchors are certain if the page
/// contains most of the entries that are cached between its beginning and its last anchor; other anchors are not used.
/// The entries of the page replace the entries between certain anchors. The page is joined with the cached entries
/// below only if it ends with certain anchors; otherwise a gap is left, and the next request decides.
///
/// A photo that the service has moved up gets a new entry, and its old one ends. A photo that is cached further up and
/// appears below gets a second entry: the service moved it down, and earlier walks contain the entry below.
nonisolated extension FeedMerge {
    mutating func mergeAnchored() throws(StorageError) {
        var items = try items()
        var isAdjacent = true
        if let part, !arrival.hasStablePageTokens {
            // In another order than that of the likes, a photo that was liked here is cached above its position.
            let isOrdered = !arrival.isExact || arrival.hasLatestLikesFirst
            let isBelowKnown = try isOrdered ? dropKnown(&items, above: part) : false
            isAdjacent = isBelowKnown || !part.isDoubtful
            if part.isGap, !isAdjacent {
                if try order.nextGap(above: part.key) != nil {
                    // The page may belong above that gap, so the position of the entries below the part is lost.
                    try order.dropTail(below: part.key)
                    result.isLost = true
                    return
                }
                // Everything above is cached, so the new photos belong to the part.
                isAdjacent = true
            }
        }
        if items.isEmpty, page.next != nil {
            return try moveToken()
        }
        let anchors = try anchors(among: items, isAdjacent: isAdjacent)
        if anchors.keys.isEmpty, !isAdjacent { return }
        try place(items, anchors, isAdjacent: isAdjacent)
    }

    private struct Item {
        let photo: PhotoID
        /// The key of the photo's entry in the part or below the part; nil if there is none.
        let key: String?
        /// The key of the photo's entry above the part; nil if there is none.
        let above: String?
    }

    /// The photos of the page, each once.
    private func items() throws(StorageError) -> [Item] {
        var items: [Item] = []
        var seen: Set<PhotoID> = []
        for photo in page.photos where seen.insert(photo.photo.id).inserted {
            var above: String?
            if let part = part {
                above = try order.liveKey(of: photo.photo.id, from: part.key)
            }
            let key = try order.liveKey(of: photo.photo.id, below: part?.key)
            items.append(Item(photo: photo.photo.id, key: key, above: above))
        }
        return items
    }

    // MARK: The beginning of the page

    /// Removes the entries that are cached above a part from the beginning of its page. The page contains such entries
    /// if photos were added above after the page token was received.
    ///
    /// - Returns: True if the page begins with the entries that are cached right above the part; false if it has no
    ///   entries that are cached above, or has them in another order.
    private func dropKnown(_ items: inout [Item], above part: Part) throws(StorageError) -> Bool {
        let above = items.compactMap(\.above)
        guard part.key != OrderKey.base, !above.isEmpty else { return false }
        let gap = try order.nextGap(above: part.key)
        let keys = Self.longestDescent(above.filter { $0 < gap ?? FeedOrder.top })
        guard let first = keys.first, let last = keys.last else { return false }
        let entries = try order.entries(from: part.key, below: nil)
        let run = entries.filter { $0.isLive && $0.key <= first }
        guard let index = items.lastIndex(where: { $0.above == last }) else { return false }
        // The page ends within the cached entries above the part, or contains the last of them. A photo that the service
        // moved down may follow others that belong to the part.
        let isRow = 2 * keys.count > index + 1
        let isAtEnd = index == items.count - 1 || run.last?.key == last
        guard isRow, isAtEnd || 2 * keys.count > run.count else { return false }
        items.removeSubrange(...index)
        return true
    }

    // MARK: Anchors

    /// The keys of anchors, the highest first, and the entries between the anchors that the page has at another position
    /// or does not have.
    private typealias Anchors = (keys: [String], covered: [Entry])

    /// Finds the certain anchors of a page.
    private func anchors(among items: [Item], isAdjacent: Bool) throws(StorageError) -> Anchors {
        let upper = part?.key
        // Below the next gap, the photos in between are unknown.
        let end = try order.nextGap(below: upper)
        let candidates = items.compactMap(\.key).filter { key in
            key < upper ?? FeedOrder.top && key >= end ?? ""
        }
        let keys = Self.longestDescent(candidates)
        guard let first = keys.first, let last = keys.last else { return ([], []) }
        let span = try order.entries(from: last, below: upper)
            .filter { $0.isLive && (isAdjacent || $0.key <= first) }
        let isRow = keys.count >= 3 && span.suffix(3).map(\.key) == keys.suffix(3)
        guard 2 * keys.count > span.count || isRow, isAdjacent || keys.count > 1 else {
            return ([], [])
        }
        let kept = Set(keys)
        return (keys, span.filter { !kept.contains($0.key) })
    }

    /// Returns the longest strictly descending subsequence of keys; of several, the one with the highest last key.
    static func longestDescent<Key: Comparable>(_ keys: [Key]) -> [Key] {
        // The index of the last key of the best subsequence of each length, and the predecessor of each key.
        var ends: [Int] = []
        var previous = [Int?](repeating: nil, count: keys.count)
        for (index, key) in keys.enumerated() {
            let length = ends.firstIndex { keys[$0] <= key } ?? ends.count
            previous[index] = length > 0 ? ends[length - 1] : nil
            if length < ends.count { ends[length] = index } else { ends.append(index) }
        }
        var choice: [Key] = []
        var next = ends.last
        while let index = next {
            choice.append(keys[index])
            next = previous[index]
        }
        return choice.reversed()
    }

    // MARK: Entries

    /// Creates the entries of the page, and sets the mark at its end.
    private mutating func place(
        _ items: [Item], _ anchors: Anchors, isAdjacent: Bool
    ) throws(StorageError) {
        let (part, now) = (part, arrival.now)
        let upper = part?.key
        let next = page.next
        let kept = Set(anchors.keys)
        let shown = Set(items.map(\.photo))
        for entry in anchors.covered {
            if shown.contains(entry.photo) {
                try end(at: entry.key)
            } else {
                try drop(entry)
            }
        }
        if next == nil {
            let rest = try order.entries(from: nil, below: anchors.keys.last ?? upper)
            for entry in rest where entry.isLive && !shown.contains(entry.photo) {
                try drop(entry)
            }
        }
        result.new += items.count { $0.key == nil && $0.above == nil }
        // A photo that was moved gets a new entry.
        for item in items {
            guard let key = item.key, !kept.contains(key) else { continue }
            try end(at: key)
        }
        var bottom: Part?
        if let lowest = anchors.keys.last { bottom = try order.mark(lowest) }
        var above = upper
        var run: [PhotoID] = []
        var isFirst = true
        for item in items {
            guard let key = item.key, kept.contains(key) else {
                run.append(item.photo)
                continue
            }
            if isFirst, !isAdjacent { above = try order.neighbour(above: key) }
            let born = isFirst && isAdjacent && part?.isGap == true ? part?.born : nil
            let isBelow = isFirst && !isAdjacent
            try place(run, below: above, above: isBelow ? key : nil, isNextBelow: false, born: born)
            (above, run, isFirst) = (key, [], false)
        }
        var gapBorn = generation
        if isFirst, let part, part.isGap { gapBorn = part.born }
        if let bottom, bottom.isGap { gapBorn = bottom.born }
        // Every walk may go on below the end that the service had reported.
        var isEnd = false
        if let lowest = anchors.keys.last, part?.isGap != true, bottom?.isGap != true {
            isEnd = try order.isEnd(lowest)
        }
        if isEnd { gapBorn = 0 }
        let isTop = isFirst && part == nil
        let last = try place(run, below: above, above: nil, isNextBelow: !isTop, born: gapBorn)

        guard let next else {
            if let lowest = anchors.keys.last {
                try order.removeMarks(above: lowest, below: upper)
            }
            if let bottom { try order.removeMark(at: bottom.key) }
            let end = anchors.keys.last ?? upper
            if arrival.hasStablePageTokens {
                // Gaps further down remain: a walk that began before them does not contain the entries that were
                // found above.
                try order.removeCoveredMarks(below: end)
            } else {
                try order.removeMarks(above: nil, below: end)
            }
            return
        }
        let end = last ?? above
        guard let end else { return }
        // A single photo may be pinned, or may have been moved. If there was no gap, its position is correct.
        let isAlone = items.count == 1 && part?.isGap == false
        let isJoined = run.isEmpty && (anchors.keys.count > 1 || isAlone && !anchors.keys.isEmpty)
        let fetched = bottom?.fetched ?? fetched
        if let lowest = anchors.keys.last {
            try order.removeMarks(above: lowest, below: isAdjacent ? upper : anchors.keys.first)
        }
        let isGap = !isJoined || bottom?.isGap == true || isEnd && bottom == nil
        let mark = Part(
            key: end, token: next, received: now, isGap: isGap, born: isGap ? gapBorn : 0,
            fetched: fetched)
        guard isGap else { return try order.setCoveredMark(mark, size: items.count) }
        if isJoined, isEnd { result.hasChanged = true }
        if let bottom { try order.removeMark(at: bottom.key) }
        if gapBorn == generation { isUsed = true }
        try order.setMark(mark)
    }

    /// Creates entries for consecutive photos.
    ///
    /// - Parameters:
    ///   - run: The photos.
    ///   - upper: The key of the neighbour above; nil for the top.
    ///   - lower: The key of the neighbour below; nil for the highest key below `upper`.
    ///   - isNextBelow: See ``OrderKey/keys(_:above:below:isNextBelow:)``.
    ///   - born: The generation of the gap in which they lie; nil for the new one.
    /// - Returns: The key of the last one; nil if there is none.
    /// - Throws: ``StorageError``.
    @discardableResult
    private mutating func place(
        _ run: [PhotoID], below upper: String?, above lower: String?, isNextBelow: Bool,
        born: Int64?
    ) throws(StorageError) -> String? {
        guard !run.isEmpty else { return nil }
        var lower = lower
        if lower == nil { lower = try order.neighbour(below: upper) }
        let keys = OrderKey.keys(run.count, above: lower, below: upper, isNextBelow: isNextBelow)
        for (photo, key) in zip(run, keys) {
            try insert(photo, at: key, born: born ?? generation)
        }
        return keys.last
    }
}
