internal import ProviderKit
internal import Storage

/// The merge of a page of a service whose entries have keys: an exact merge of ordered sets.
///
/// A page covers the keys from its beginning to its last entry. A cached entry in this range that is not on the page
/// was removed from the source at the service. An entry of the page that is not in the cache is inserted at its key.
nonisolated extension FeedTables {
    /// Merges a page.
    ///
    /// - Parameters:
    ///   - keys: The order keys of the photos of the page.
    ///   - change: The merge.
    /// - Throws: ``StorageError``.
    func mergeKeyed(_ keys: [String], _ change: inout Change) throws(StorageError) {
        let (page, part, source) = (change.page, change.part, change.key)
        let upper = part?.key
        var lower: String?
        if page.next != nil {
            guard let end = page.end ?? page.photos.last?.entry else {
                return try moveToken(of: part, page.next, change)
            }
            lower = end
        }
        let known = try entries(of: source, from: lower, below: upper)
        let marks = try marks(of: source, from: lower, below: upper)
        // The part above the highest entry was never fetched.
        let first = Part(
            key: upper ?? Self.top, token: "", received: change.arrival.now,
            isGap: part?.isGap ?? true, born: part?.born ?? change.generation,
            fetched: change.fetched)
        let parts = [first] + marks
        /// Returns the gap that contains a key; nil if the part around the key was fetched.
        func gap(around key: String) -> Part? {
            guard let part = parts.last(where: { $0.key > key }), part.isGap,
                !known.contains(where: { $0.key < part.key && $0.key >= key })
            else { return nil }
            return part
        }

        let present = zip(keys, page.photos).map { Version(key: $0, photo: $1.photo.id) }
        let live = Set(
            known.lazy.filter(\.isLive).map { Version(key: $0.key, photo: $0.photo) })
        let missing = present.filter { !live.contains($0) }
        var new: Set<PhotoID> = []
        for version in missing where try liveKey(of: version.photo, in: source) == nil {
            new.insert(version.photo)
        }
        change.merge.new += new.count
        let shown = Set(present)
        for entry in known
        where entry.isLive && !shown.contains(Version(key: entry.key, photo: entry.photo)) {
            try drop(entry, &change)
        }
        for version in missing {
            let born = gap(around: version.key)?.born ?? change.generation
            try insert(version.photo, at: version.key, born: born, &change)
        }

        guard let lower, let next = page.next else {
            return try removeMarks(of: source, above: nil, below: upper)
        }
        try removeMarks(of: source, above: lower, below: upper)
        let now = change.arrival.now
        if let end = marks.last, end.key == lower {
            try setMark(source, end.moved(to: lower, next, now))
        } else if let gap = gap(around: lower) {
            if gap.born == change.generation { change.isUsed = true }
            try setMark(source, gap.moved(to: lower, next, now))
        } else {
            let fetched = parts.last { $0.key > lower }?.fetched ?? change.fetched
            let covered = Part(
                key: lower, token: next, received: now, isGap: false, born: 0, fetched: fetched)
            try setCoveredMark(covered, size: page.photos.count, source)
        }
    }

    /// Records the page token that follows a page without usable photos.
    func moveToken(
        of part: Part?, _ next: String?, _ change: Change
    ) throws(StorageError) {
        guard let next else { return }
        let now = change.arrival.now
        if let part {
            guard part.isGap else { return }
            try setMark(change.key, part.moved(to: part.key, next, now))
        } else if try neighbour(below: nil, in: change.key) == nil {
            try setMark(
                change.key,
                Part(
                    key: OrderKey.base, token: next, received: now, isGap: true,
                    born: change.source.generation, fetched: now))
        }
    }

    private struct Version: Hashable {
        let key: String
        let photo: PhotoID
    }
}

nonisolated extension FeedTables.Part {
    /// Returns the same part with another beginning.
    func moved(to key: String, _ token: String, _ received: Timestamp) -> Self {
        Self(
            key: key, token: token, received: received, isGap: isGap, born: born, fetched: fetched)
    }
}
