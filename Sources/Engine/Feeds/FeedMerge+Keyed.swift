internal import ProviderKit
internal import Storage

/// The merge of a page of a service whose entries have keys: an exact merge of ordered sets.
///
/// A page covers the keys from its beginning to its last entry. A cached entry in this range that is not on the page
/// was removed from the source at the service. An entry of the page that is not in the cache is inserted at its key.
nonisolated extension FeedMerge {
    /// Merges the page. `keys` are the order keys of its photos.
    mutating func mergeKeyed(_ keys: [String]) throws(StorageError) {
        let (page, part) = (page, part)
        let upper = part?.key
        var lower: String?
        if page.next != nil {
            guard let end = page.end ?? page.photos.last?.entry else {
                return try moveToken()
            }
            lower = end
        }
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

        let present = zip(keys, page.photos).map { Version(key: $0, photo: $1.photo.id) }
        let live = Set(
            known.lazy.filter(\.isLive).map { Version(key: $0.key, photo: $0.photo) })
        let missing = present.filter { !live.contains($0) }
        var new: Set<PhotoID> = []
        for version in missing where try order.liveKey(of: version.photo) == nil {
            new.insert(version.photo)
        }
        result.new += new.count
        let shown = Set(present)
        for entry in known
        where entry.isLive && !shown.contains(Version(key: entry.key, photo: entry.photo)) {
            try drop(entry)
        }
        for version in missing {
            let born = gap(around: version.key)?.born ?? generation
            try insert(version.photo, at: version.key, born: born)
        }

        guard let lower, let next = page.next else {
            return try order.removeMarks(above: nil, below: upper)
        }
        try order.removeMarks(above: lower, below: upper)
        let now = arrival.now
        if let end = marks.last, end.key == lower {
            try order.setMark(end.moved(to: lower, next, now))
        } else if let gap = gap(around: lower) {
            if gap.born == generation { isUsed = true }
            try order.setMark(gap.moved(to: lower, next, now))
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

    private struct Version: Hashable {
        let key: String
        let photo: PhotoID
    }
}

nonisolated extension FeedOrder.Part {
    /// Returns the same part with another beginning.
    func moved(to key: String, _ token: String, _ received: Timestamp) -> Self {
        Self(
            key: key, token: token, received: received, isGap: isGap, born: born, fetched: fetched)
    }
}
