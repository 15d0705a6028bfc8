internal import EngineModel
package import ProviderKit
package import Storage

/// The pages of a walk.
///
/// A walk contains the entries that were in the source at its beginning: those with `born <= generation < died`. Later
/// refreshes add versions and end versions, but do not change the entries of the walk. A photo may have several
/// entries: the walk shows the photo at its highest entry. Entries that fill a gap belong to the generation in which
/// the gap was left, because no walk has passed a gap.
nonisolated extension FeedOrder {
    /// Some neighbouring photos of a source.
    package struct Slice: Sendable {
        package var photos: [CachedPhoto] = []
        /// The order keys of the photos.
        package var keys: [String] = []
        /// True if more cached photos follow.
        package var hasMore = false
        /// The gap that follows; nil if more cached photos follow, and at the end of the source.
        package var gap: Part?
        /// The part that should be fetched again first, among those from the position to the end of the slice. The top is
        /// not among them.
        package var outdated: Part?
        /// The lowest part of a source that is cached to its end; nil if the source has one part.
        package var lowest: Part?
    }

    /// A part of a source below its top: the page of one page token.
    package struct Part: Sendable {
        /// The part begins right below this key.
        package var key: String
        /// The page token.
        package var token: String
        /// The time at which the service sent the token.
        package var received: Timestamp
        /// True if the page was not fetched yet.
        package let isGap: Bool
        /// The generation in which the gap was left.
        let born: Int64
        /// The time at which the photos were fetched; for a gap, those below it.
        var fetched: Timestamp
        /// True if the page token may have another position now.
        package var isDoubtful = false
    }

    /// Reads the photos of a walk below a position, up to the next gap.
    ///
    /// - Parameters:
    ///   - generation: The generation of a walk that begins at the top.
    ///   - place: The position; nil for the top.
    ///   - count: The number of photos at most.
    ///   - fresh: The range of time in which parts were fetched that are not outdated.
    /// - Returns: The photos, and what follows.
    /// - Throws: ``StorageError``.
    package func slice(
        in generation: Int64, below place: FeedPosition?, count: Int, fresh: ClosedRange<Timestamp>
    ) throws(StorageError) -> Slice {
        let generation = place?.generation ?? generation
        let start = place?.key ?? Self.top
        let gap = try parts(
            "key <= ? AND is_gap AND born <= ? ORDER BY key DESC LIMIT 1", .text(start),
            .integer(generation)
        ).first
        var slice = Slice()
        try database.query(
            """
            SELECT \(FeedPhotos.columns), entry.key FROM entry
            JOIN photo ON photo.account = ?1 AND photo.id = entry.photo
            WHERE source = ?2 AND key < ?3 AND key >= ?4 AND born <= ?5 AND died > ?5
                AND NOT EXISTS (SELECT 1 FROM entry AS other INDEXED BY entry_photo
                    WHERE other.source = ?2 AND other.photo = entry.photo AND other.key > entry.key
                        AND other.born <= ?5 AND other.died > ?5)
                AND (died = \(Self.never) OR EXISTS (SELECT 1 FROM entry AS other INDEXED BY entry_photo
                    WHERE other.source = ?2 AND other.photo = entry.photo
                        AND other.died = \(Self.never)))
            ORDER BY key DESC LIMIT ?6
            """,
            [
                .text(tables.account.text), .integer(source), .text(start), .text(gap?.key ?? ""),
                .integer(generation), .integer(count + 1),
            ]
        ) { row throws(StorageError) in
            guard slice.photos.count < count else {
                slice.hasMore = true
                return
            }
            slice.photos.append(FeedPhotos.photo(row))
            slice.keys.append(row.text(FeedPhotos.columnCount))
        }
        if !slice.hasMore {
            slice.gap = gap
            if gap == nil { slice.lowest = try parts("TRUE ORDER BY key LIMIT 1").first }
        }
        // Parts without photos are included, because photos may have been added there later.
        let end = (slice.hasMore ? slice.keys.last : gap?.key) ?? ""
        if end < start { slice.outdated = try outdated(from: start, to: end, fresh) }
        return slice
    }

    /// Returns the highest part that begins between two keys; nil if it is a gap.
    package func nextPart(below upper: String?, above lower: String) throws(StorageError) -> Part? {
        try parts(
            "key < ? AND key > ? ORDER BY key DESC LIMIT 1", .text(upper ?? Self.top), .text(lower)
        ).first { !$0.isGap }
    }

    /// Returns the part above a part, with which it joins the part if that is no gap; nil if it is the top.
    package func partAbove(joining part: Part) throws(StorageError) -> Part? {
        if !part.isGap {
            try run("DELETE FROM mark WHERE source = ? AND key = ? AND NOT is_gap", .text(part.key))
        }
        return try parts("key > ? ORDER BY key LIMIT 1", .text(part.key)).first
    }

    /// Returns the parts that begin at the marks that meet a condition.
    func parts(_ condition: String, _ values: SQLValue...) throws(StorageError) -> [Part] {
        try database.all(
            """
            SELECT key, token, told, is_gap, born, fetched FROM mark
            WHERE source = ? AND \(condition)
            """, [.integer(source)] + values
        ) { row in
            Part(
                key: row.text(0), token: row.text(1),
                received: Timestamp(secondsSince1970: row.integer(2)), isGap: row.integer(3) != 0,
                born: row.integer(4), fetched: Timestamp(secondsSince1970: row.integer(5)))
        }
    }

    /// Returns the part between two keys that was fetched the longest time ago, if it is outdated; of several, the
    /// highest, because its response contains the page token of the next part.
    private func outdated(
        from upper: String, to last: String, _ fresh: ClosedRange<Timestamp>
    ) throws(StorageError) -> Part? {
        let parts = try parts("key > ? ORDER BY key LIMIT 32", .text(last))
        // The first part at or above `upper` contains the position.
        let end = parts.firstIndex { $0.key >= upper }.map { $0 + 1 } ?? parts.count
        return parts[..<end].reversed().filter { !fresh.contains($0.fetched) }
            .min { $0.fetched < $1.fetched }
    }
}

/// A position in a cached source, as a cursor contains it: the order key of the last photo, and the state of the source
/// when the walk began.
nonisolated package struct FeedPosition: Hashable, Sendable {
    /// A number that distinguishes the successive caches of a source.
    let epoch: Int64
    /// The generation of the source when the walk began.
    package let generation: Int64
    /// The order key of the last photo that was returned.
    let key: String

    package var text: String { "\(epoch).\(generation).\(URLEncoding.escape(key))" }

    package init(epoch: Int64, generation: Int64, key: String) {
        self.epoch = epoch
        self.generation = generation
        self.key = key
    }

    /// - Throws: ``ProviderError/invalidArgument(_:)``.
    package init(parsing text: String) throws(ProviderError) {
        let parts = text.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let epoch = Int64(parts[0]), let generation = Int64(parts[1]),
            let key = URLEncoding.unescape(parts[2])
        else { throw .invalidArgument("The cursor is malformed.") }
        self.init(epoch: epoch, generation: generation, key: key)
    }
}
