internal import ProviderKit
internal import Storage

/// Fitting what a service answers into the order that is known.
///
/// Positions only tell what comes first. New photos at the top get higher ones than all others, so nobody
/// who walks down is disturbed; between neighbours there is room for what a service shows there later.
nonisolated extension FeedTables {
    /// The distance between neighbours: 20 photos can come between any two, one after the other.
    private static let step: Int64 = 1 << 20
    /// The distance to photos that may or may not be neighbours: a million fit between.
    private static let leap: Int64 = 1 << 40

    /// What a merge has changed.
    struct Merge: Sendable {
        /// How many photos the source did not have.
        var new = 0
        /// Photos of any source about which something is different now.
        var changed: [Photo] = []
        /// Those among them that are liked now and were not, or the other way round.
        var relikes: [Photo] = []
        /// Whether photos have left the source.
        var hasLosses = false
        /// Whether nobody can tell any more where the page belongs.
        var isLost = false
    }

    /// Fits a page into a source.
    ///
    /// - Parameters:
    ///   - page: What the service answered.
    ///   - source: The source, as ``touchSource(_:_:fetched:total:)`` gave it.
    ///   - account: Whose it is.
    ///   - gap: The gap that the page was asked for; nil for the top of the source.
    ///   - isExact: Whether a photo that is missing among its neighbours in the page has left the source.
    ///   - now: The moment of the answer.
    /// - Returns: What is different now.
    /// - Throws: ``StorageError``; then nothing is.
    func merge(
        _ page: RemotePage, into source: SourceState, _ account: AccountID, gap: Gap?,
        isExact: Bool, now: Timestamp
    ) throws(StorageError) -> Merge {
        var merge = Merge()
        var items: [Item] = []
        var seen: Set<PhotoID> = []
        for photo in page.photos where seen.insert(photo.photo.id).inserted {
            if let news = try heard(of: photo, account, now: now) {
                merge.changed.append(news.photo)
                if news.isOtherLike { merge.relikes.append(news.photo) }
            }
            let position = try position(of: photo.photo.id, in: source.key)
            // The user has just unliked it, and the list is from before.
            if isExact, position == nil, try isUnliked(photo.photo.id, account, now: now) {
                continue
            }
            items.append(Item(id: photo.photo.id, position: position))
        }
        // Without another gap above, all that is new belongs below this one, whatever shows once more.
        if let gap, !gap.placeLasts, try hasGap(in: source.key, above: gap.position) {
            let reach = try placeAbove(&items, in: source.key, gap.position, &merge)
            let isElsewhere = reach == .elsewhere || reach == .unknown && gap.isDoubtful
            if isElsewhere {
                // It may be from up there as well: what lies below has lost its place.
                try dropTail(of: source.key, below: gap.position, account, now: now)
                merge.isLost = true
                return merge
            }
        }
        // A page of nothing but what was left out says nothing about the top.
        if gap == nil, items.isEmpty, page.next != nil, try highest(source.key, below: .max) != nil
        {
            return merge
        }
        let start = gap?.position
        try keepAnchors(&items, in: source.key, below: start)
        // A page without photos has left a gap at the very top: what comes below it begins the source.
        let top = start == .max ? nil : start
        let end = try place(items, in: source.key, below: top, &merge)
        if isExact, let end = page.next == nil ? Int64.min : end {
            try removeMissing(
                seen, from: source.key, account, between: end, and: start ?? .max, now: now, &merge)
        }
        let isApart = gap == nil && !items.contains { $0.position != nil }
        if page.next == nil, !isExact {
            // The service has no more: nor have we.
            let missing = try entries(
                of: source.key, between: .min, and: end ?? start ?? .max, except: seen)
            for entry in missing { try remove(source.key, at: entry.position) }
            try sweep(missing.map(\.photo), account, now: now)
            merge.hasLosses = !missing.isEmpty
        }
        try join(
            source.key, from: start ?? .max, to: end, next: page.next, isApart: isApart, now: now)
        try trim(source.key, account, now: now)
        return merge
    }

    /// Puts a photo that the user has just liked on top of a source.
    ///
    /// - Returns: Whether it was not there yet.
    func putOnTop(_ photo: PhotoID, of source: Int64) throws(StorageError) -> Bool {
        guard try position(of: photo, in: source) == nil else { return false }
        try insert(photo, at: (try highest(source, below: .max) ?? 0) + Self.step, source)
        return true
    }

    /// Takes a photo out of a source.
    ///
    /// - Returns: Whether it was there.
    func takeOut(_ photo: PhotoID, of source: Int64) throws(StorageError) -> Bool {
        guard let position = try position(of: photo, in: source) else { return false }
        try remove(source, at: position)
        return true
    }

    private func isUnliked(
        _ id: PhotoID, _ account: AccountID, now: Timestamp
    ) throws(StorageError) -> Bool {
        guard let known = try photo(account, id) else { return false }
        return !known.photo.isLiked && known.isLikeFresh(now: now)
    }

    // MARK: Placing

    private struct Item {
        let id: PhotoID
        /// Where the source has it already.
        let position: Int64?
    }

    /// Where a page lies that was asked for a gap.
    private enum Reach {
        /// It begins with what is known right above the gap, or further up without another gap.
        case adjacent
        /// It begins with what is known above another gap.
        case elsewhere
        /// It has nothing that is known above.
        case unknown
    }

    /// Takes what lies above a gap out of a page that was asked for it, since the rest of the source has moved
    /// down meanwhile. What is new between known neighbours up there takes its place.
    private func placeAbove(
        _ items: inout [Item], in source: Int64, _ gap: Int64, _ merge: inout Merge
    ) throws(StorageError) -> Reach {
        let lastAbove = items.lastIndex { item in item.position.map { $0 >= gap } ?? false }
        guard let lastAbove else { return .unknown }
        let above = items[...lastAbove]
        items.removeSubrange(...lastAbove)
        let anchors = Set(Self.longestDescent(above.compactMap(\.position)))
        var upper: Int64?
        var run: [PhotoID] = []
        for item in above {
            if item.position == nil {
                run.append(item.id)
            } else if let position = item.position, anchors.contains(position) {
                // What comes before the first neighbour may belong anywhere further up.
                if let upper, !run.isEmpty,
                    try !hasGap(in: source, above: position, below: upper + 1)
                {
                    try place(run, in: source, below: upper, isKnownBelow: true, &merge)
                }
                run = []
                upper = position
            }
        }
        guard let upper else { return .unknown }
        return try hasGap(in: source, above: gap, below: upper + 1) ? .elsewhere : .adjacent
    }

    /// Drops known photos that the service has moved, so that the others say where the page belongs.
    ///
    /// They stay where they were shown. One photo from far down that is on top now would else take what is new
    /// down with it, and close the gaps that it has jumped over.
    private func keepAnchors(
        _ items: inout [Item], in source: Int64, below start: Int64?
    ) throws(StorageError) {
        let known = items.compactMap(\.position).filter { $0 < start ?? .max }
        var anchors = Self.longestDescent(known)
        if let first = anchors.first, items.contains(where: { $0.position == nil }) {
            // Beyond another gap nobody knows what lies between: the page is put above it.
            if try hasGap(in: source, above: first, below: start ?? .max) { anchors = [] }
        }
        let kept = Set(anchors)
        items.removeAll { item in item.position.map { !kept.contains($0) } ?? false }
    }

    /// The longest choice of numbers, in their order, that only falls; of several, the one that ends highest.
    static func longestDescent(_ numbers: [Int64]) -> [Int64] {
        // For each length, where the best choice of that length ends; and what comes before each.
        var ends: [Int] = []
        var previous = [Int?](repeating: nil, count: numbers.count)
        for (index, number) in numbers.enumerated() {
            let length = ends.firstIndex { numbers[$0] <= number } ?? ends.count
            previous[index] = length > 0 ? ends[length - 1] : nil
            if length < ends.count { ends[length] = index } else { ends.append(index) }
        }
        var choice: [Int64] = []
        var next = ends.last
        while let index = next {
            choice.append(numbers[index])
            next = previous[index]
        }
        return choice.reversed()
    }

    /// Gives photos that are new their positions, each right below its neighbour in the page.
    ///
    /// - Returns: The position of the last photo of the page; nil if there is none.
    private func place(
        _ items: [Item], in source: Int64, below start: Int64?, _ merge: inout Merge
    ) throws(StorageError) -> Int64? {
        var upper = start
        var last: Int64?
        var run: [PhotoID] = []
        for item in items {
            guard let position = item.position else {
                run.append(item.id)
                continue
            }
            // What the source has further up was shown before, and has moved down since.
            guard position < upper ?? .max else { continue }
            try place(run, in: source, below: upper, isKnownBelow: true, &merge)
            run = []
            upper = position
            last = position
        }
        let isKnownBelow = last != nil
        return try place(run, in: source, below: upper, isKnownBelow: isKnownBelow, &merge) ?? last
    }

    /// Gives neighbours that are new their positions.
    ///
    /// - Parameters:
    ///   - run: The photos.
    ///   - source: The source.
    ///   - upper: The position of the neighbour above; nil at the top.
    ///   - isKnownBelow: Whether they are known to be neighbours of what the source has.
    ///   - merge: Counts them.
    /// - Returns: The position of the last one; nil if there is none, or no room.
    /// - Throws: ``StorageError``.
    @discardableResult
    private func place(
        _ run: [PhotoID], in source: Int64, below upper: Int64?, isKnownBelow: Bool,
        _ merge: inout Merge
    ) throws(StorageError) -> Int64? {
        guard !run.isEmpty else { return nil }
        let lower = try highest(source, below: upper ?? .max)
        let count = Int64(run.count)
        let start: Int64
        var distance = Self.step
        if let upper {
            start = upper
            if let lower { distance = min(distance, (upper - lower) / (count + 1)) }
            guard distance > 0 else { return nil }
        } else {
            start =
                (lower ?? 0) + (isKnownBelow || lower == nil ? 0 : Self.leap) + (count + 1)
                * distance
        }
        merge.new += run.count
        var position = start
        for photo in run {
            position -= distance
            try insert(photo, at: position, source)
        }
        return position
    }

    // MARK: Gaps

    /// Notes that a page has left nothing out from `start` down to `end`, and what comes after it.
    ///
    /// `isApart` says that nothing in the page was known.
    private func join(
        _ source: Int64, from start: Int64, to end: Int64?, next: String?, isApart: Bool,
        now: Timestamp
    ) throws(StorageError) {
        let end = end ?? start
        guard let next else {
            try database.query(
                "DELETE FROM gap WHERE source = ? AND position <= ?",
                [.integer(source), .integer(start)])
            return
        }
        // Whether a gap was crossed or reached, or what was known ended here.
        try database.query(
            "DELETE FROM gap WHERE source = ? AND position BETWEEN ? AND ?",
            [.integer(source), .integer(end), .integer(start)])
        let crossed = database.changedRows > 0
        let lower = try highest(source, below: end)
        guard crossed || isApart || lower == nil else { return }
        try database.query(
            "INSERT INTO gap VALUES (?, ?, ?, ?)",
            [
                .integer(source), .integer(end), .text(next), .integer(now.secondsSince1970),
            ])
    }

    /// Takes photos out that are no longer where they were, and notes that they are not liked any more.
    private func removeMissing(
        _ present: Set<PhotoID>, from source: Int64, _ account: AccountID, between end: Int64,
        and start: Int64, now: Timestamp, _ merge: inout Merge
    ) throws(StorageError) {
        let missing = try entries(of: source, between: end, and: start, except: present)
        for (position, id) in missing {
            let known = try photo(account, id)
            // We know better than a list that may be from a while ago.
            if let known, known.isLikeFresh(now: now) { continue }
            try remove(source, at: position)
            merge.hasLosses = true
            if let known, known.photo.isLiked,
                let photo = try setLiked(
                    account, id, false, likes: nil, confirmed: known.likeConfirmed)
            {
                merge.changed.append(photo)
                merge.relikes.append(photo)
            }
        }
    }

    // MARK: Entries

    func entries(
        of source: Int64, between end: Int64, and start: Int64, except present: Set<PhotoID>
    ) throws(StorageError) -> [(position: Int64, photo: PhotoID)] {
        var entries: [(position: Int64, photo: PhotoID)] = []
        try database.query(
            "SELECT position, photo FROM entry WHERE source = ? AND position > ? AND position < ?",
            [.integer(source), .integer(end), .integer(start)]
        ) { row throws(StorageError) in
            let photo = PhotoID(row.text(1))
            if !present.contains(photo) { entries.append((row.integer(0), photo)) }
        }
        return entries
    }

    func position(of photo: PhotoID, in source: Int64) throws(StorageError) -> Int64? {
        try database.first(
            "SELECT position FROM entry WHERE source = ? AND photo = ?",
            [.integer(source), .text(photo.text)]
        ) { $0.integer(0) }
    }

    func highest(_ source: Int64, below position: Int64) throws(StorageError) -> Int64? {
        try database.first(
            """
            SELECT position FROM entry WHERE source = ? AND position < ?
            ORDER BY position DESC LIMIT 1
            """, [.integer(source), .integer(position)]
        ) { $0.integer(0) }
    }

    private func insert(
        _ photo: PhotoID, at position: Int64, _ source: Int64
    ) throws(StorageError) {
        try database.query(
            "INSERT INTO entry VALUES (?, ?, ?)",
            [.integer(source), .integer(position), .text(photo.text)])
    }

    private func remove(_ source: Int64, at position: Int64) throws(StorageError) {
        try database.query(
            "DELETE FROM entry WHERE source = ? AND position = ?",
            [.integer(source), .integer(position)])
    }
}
