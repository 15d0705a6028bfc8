internal import ProviderKit
internal import Storage

/// The entries and marks of a source.
nonisolated package struct FeedOrder {
    let tables: FeedTables
    /// The key of the source.
    let source: Int64

    // `INDEXED BY` selects the index of the entries of a photo. Without statistics, SQLite reads all entries of the
    // source instead, so that the time of a merge would be proportional to the size of the source.

    /// The value of `entry.died` of an entry that is in the source.
    static let never = Int64.max

    /// A key above all order keys.
    static let top = "\u{7f}"

    /// One version of an entry.
    struct Entry: Hashable {
        let key: String
        let photo: PhotoID
        let isLive: Bool
    }

    var database: Database { tables.database }

    /// Runs a statement whose parameters are the source and then `values`.
    func run(_ sql: String, _ values: SQLValue...) throws(StorageError) {
        try database.query(sql, [.integer(source)] + values)
    }

    /// Runs a statement whose parameters are the source and then `values`, and reads the text of its first row.
    func text(_ sql: String, _ values: SQLValue...) throws(StorageError) -> String? {
        try database.first(sql, [.integer(source)] + values) { $0.optionalText(0) } ?? nil
    }

    // MARK: Entries

    /// Returns the entries between two keys, the highest first.
    ///
    /// - Parameters:
    ///   - lower: The lowest key; nil for the end.
    ///   - upper: The key below them; nil for the top.
    /// - Returns: All versions.
    /// - Throws: ``StorageError``.
    func entries(from lower: String?, below upper: String?) throws(StorageError) -> [Entry] {
        try database.all(
            """
            SELECT key, photo, died = \(Self.never) FROM entry
            WHERE source = ? AND key >= ? AND key < ?
            ORDER BY key DESC, born DESC
            """, [.integer(source), .text(lower ?? ""), .text(upper ?? Self.top)]
        ) { row in
            Entry(key: row.text(0), photo: PhotoID(row.text(1)), isLive: row.integer(2) != 0)
        }
    }

    /// Returns true if the source has a photo below a key.
    func hasEntries(below key: String?) throws(StorageError) -> Bool {
        try database.exists(
            "SELECT 1 FROM entry WHERE source = ? AND key < ? AND died = \(Self.never) LIMIT 1",
            [.integer(source), .text(key ?? Self.top)])
    }

    /// Returns true if the source is cached to its end, and the end is at a key.
    func isEnd(_ key: String) throws(StorageError) -> Bool {
        if try hasEntries(below: key) { return false }
        return try marks(from: nil, below: key).isEmpty
    }

    /// Returns the key of the lowest photo; nil if the source has no photos.
    func lowestLiveKey() throws(StorageError) -> String? {
        try text("SELECT min(key) FROM entry WHERE source = ? AND died = \(Self.never)")
    }

    /// Returns the highest key of the entries that the photo has now.
    ///
    /// - Parameters:
    ///   - photo: The photo.
    ///   - lower: The lowest key.
    ///   - upper: The key above the entries; nil for the top.
    /// - Returns: The key; nil if it has no such entry.
    /// - Throws: ``StorageError``.
    func liveKey(
        of photo: PhotoID, from lower: String = "", below upper: String? = nil
    ) throws(StorageError) -> String? {
        try text(
            """
            SELECT key FROM entry INDEXED BY entry_photo
            WHERE source = ? AND photo = ? AND died = \(Self.never) AND key >= ? AND key < ?
            ORDER BY key DESC LIMIT 1
            """, .text(photo.text), .text(lower), .text(upper ?? Self.top))
    }

    /// Returns the highest key below a key, of an entry or a mark.
    func neighbour(below key: String?) throws(StorageError) -> String? {
        try text(
            """
            SELECT max(key) FROM (
                SELECT max(key) AS key FROM entry WHERE source = ?1 AND key < ?2
                UNION ALL SELECT max(key) FROM mark WHERE source = ?1 AND key < ?2)
            """, .text(key ?? OrderKey.base))
    }

    /// Returns the lowest key of an entry above a key.
    func neighbour(above key: String) throws(StorageError) -> String? {
        try text("SELECT min(key) FROM entry WHERE source = ? AND key > ?", .text(key))
    }

    func insert(_ photo: PhotoID, at key: String, born: Int64) throws(StorageError) {
        try run(
            """
            INSERT INTO entry (source, key, born, photo) VALUES (?, ?, ?, ?)
            ON CONFLICT (source, key, born) DO UPDATE
                SET photo = excluded.photo, died = excluded.died
            """, .text(key), .integer(born), .text(photo.text))
    }

    /// Ends the version of an entry that is in the source.
    func end(at key: String, _ generation: Int64) throws(StorageError) {
        // A version that is in no walk needs no record.
        try run(
            "DELETE FROM entry WHERE source = ? AND key = ? AND died = \(Self.never) AND born >= ?",
            .text(key), .integer(generation))
        try run(
            "UPDATE entry SET died = ?3 WHERE source = ?1 AND key = ?2 AND died = \(Self.never)",
            .text(key), .integer(generation))
    }

    // MARK: Marks

    func mark(_ key: String) throws(StorageError) -> Part? {
        try parts("key = ?", .text(key)).first
    }

    /// Returns the marks between two keys, the highest first.
    func marks(from lower: String?, below upper: String?) throws(StorageError) -> [Part] {
        try parts(
            "key >= ? AND key < ? ORDER BY key DESC", .text(lower ?? ""), .text(upper ?? Self.top))
    }

    /// Returns the key of the lowest gap above a key.
    func nextGap(above key: String) throws(StorageError) -> String? {
        try text("SELECT min(key) FROM mark WHERE source = ? AND key > ? AND is_gap", .text(key))
    }

    /// Returns the key of the highest gap below a key.
    func nextGap(below key: String?) throws(StorageError) -> String? {
        try text(
            "SELECT max(key) FROM mark WHERE source = ? AND key < ? AND is_gap",
            .text(key ?? Self.top))
    }

    func setMark(_ part: Part) throws(StorageError) {
        try run(
            """
            INSERT INTO mark (source, key, token, told, is_gap, born, fetched)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (source, key) DO UPDATE SET token = excluded.token,
                told = excluded.told, is_gap = excluded.is_gap, born = excluded.born,
                fetched = excluded.fetched, doubted = excluded.doubted
            """,
            .text(part.key), .text(part.token), .integer(part.received.secondsSince1970),
            .bool(part.isGap), .integer(part.born), .integer(part.fetched.secondsSince1970))
    }

    func removeMark(at key: String) throws(StorageError) {
        try run("DELETE FROM mark WHERE source = ? AND key = ?", .text(key))
    }

    /// Removes the marks between two keys.
    ///
    /// - Parameters:
    ///   - lower: The key below them; nil for the end.
    ///   - upper: The key above them; nil for the top.
    /// - Throws: ``StorageError``.
    func removeMarks(above lower: String?, below upper: String?) throws(StorageError) {
        try run(
            "DELETE FROM mark WHERE source = ? AND key > ? AND key < ?", .text(lower ?? ""),
            .text(upper ?? Self.top))
    }

    /// Removes the marks below a key that are not gaps.
    func removeCoveredMarks(below upper: String?) throws(StorageError) {
        try run(
            "DELETE FROM mark WHERE source = ? AND key < ? AND NOT is_gap",
            .text(upper ?? Self.top))
    }

    /// Sets the mark of a part that was fetched before, at the end of a page. A small part below is added to this part,
    /// so that refreshes do not create many small parts.
    ///
    /// - Parameters:
    ///   - part: The part.
    ///   - size: The number of photos of the page.
    /// - Throws: ``StorageError``.
    func setCoveredMark(_ part: Part, size: Int) throws(StorageError) {
        var part = part
        if let next = try nextPart(below: part.key, above: "") {
            let isLarge = try database.exists(
                """
                SELECT 1 FROM entry WHERE source = ? AND key < ? AND key > ?
                LIMIT 1 OFFSET \(max(1, size / 2))
                """, [.integer(source), .text(part.key), .text(next.key)])
            if !isLarge {
                try removeMark(at: next.key)
                part.fetched = min(part.fetched, next.fetched)
            }
        }
        try setMark(part)
    }

    /// Records that a part was fetched, unless its page token has changed.
    func setFetched(_ part: Part, _ now: Timestamp) throws(StorageError) {
        try run(
            """
            UPDATE mark SET is_gap = 0, doubted = 0, fetched = ?2
            WHERE source = ?1 AND key = ?3 AND token = ?4
            """, .integer(now.secondsSince1970), .text(part.key), .text(part.token))
    }

    /// Returns true if an empty response for the part below a key, or for the top, is ignored, because it is the first
    /// one after a response with photos.
    func doubt(_ key: String?) throws(StorageError) -> Bool {
        if let key {
            try run(
                "UPDATE mark SET doubted = 1 WHERE source = ? AND key = ? AND NOT doubted",
                .text(key))
        } else {
            try run("UPDATE source SET doubted = 1 WHERE key = ? AND NOT doubted")
        }
        return database.changedRows > 0
    }

    // MARK: The source

    func setGeneration(_ generation: Int64) throws(StorageError) {
        try run("UPDATE source SET generation = ?2 WHERE key = ?1", .integer(generation))
    }

    func setKeyed(_ isKeyed: Bool) throws(StorageError) {
        try run("UPDATE source SET keyed = ?2 WHERE key = ?1", .bool(isKeyed))
    }

    /// Removes the entries of a source, because their order cannot be compared with that of the service. All cursors
    /// become stale.
    ///
    /// - Parameters:
    ///   - isKeyed: True if the order keys are those of the service from now on.
    ///   - isFetched: False if the top of the source must be fetched before it is read.
    /// - Throws: ``StorageError``.
    func clear(isKeyed: Bool, isFetched: Bool) throws(StorageError) {
        for table in ["entry", "mark"] { try run("DELETE FROM \(table) WHERE source = ?") }
        try run(
            """
            UPDATE source SET epoch = ?2, generation = 0, keyed = ?3, horizon = 0, floor = NULL,
                floor_generation = 0, doubted = 0, fetched = CASE WHEN ?4 THEN fetched END
            WHERE key = ?1
            """, .integer(FeedTables.newEpoch), .bool(isKeyed), .bool(isFetched))
    }

    /// Deletes the versions of entries that only old walks contain, except the latest ones. The cursors of those walks
    /// become stale.
    func forgetDead(except count: Int) throws(StorageError) {
        let last = try database.integer(
            """
            SELECT died FROM entry WHERE source = ? AND died < \(Self.never)
            ORDER BY died DESC LIMIT 1 OFFSET ?
            """, [.integer(source), .integer(count)])
        guard let last else { return }
        try run(
            """
            DELETE FROM entry INDEXED BY entry_dead
            WHERE source = ? AND died <= ? AND died < \(Self.never)
            """, .integer(last))
        try run("UPDATE source SET horizon = ?2 WHERE key = ?1", .integer(last))
    }
}
