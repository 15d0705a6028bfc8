internal import ProviderKit
internal import Storage

/// The entries and marks of a source.
nonisolated extension FeedTables {
    /// One version of an entry.
    struct Entry {
        let key: String
        let photo: PhotoID
        let isLive: Bool
    }

    /// Returns the entries between two keys, the highest first.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - lower: The lowest key; nil for the end.
    ///   - upper: The key below them; nil for the top.
    /// - Returns: All versions.
    /// - Throws: ``StorageError``.
    func entries(
        of source: Int64, from lower: String?, below upper: String?
    ) throws(StorageError) -> [Entry] {
        var entries: [Entry] = []
        try database.query(
            """
            SELECT key, photo, died FROM entry WHERE source = ? AND key >= ? AND key < ?
            ORDER BY key DESC, born DESC
            """, [.integer(source), .text(lower ?? ""), .text(upper ?? Self.top)]
        ) { row throws(StorageError) in
            entries.append(
                Entry(
                    key: row.text(0), photo: PhotoID(row.text(1)),
                    isLive: row.integer(2) == Self.never))
        }
        return entries
    }

    /// Returns true if the source has a photo below a key.
    func hasEntries(_ source: Int64, below key: String?) throws(StorageError) -> Bool {
        try database.first(
            "SELECT 1 FROM entry WHERE source = ? AND key < ? AND died = \(Self.never) LIMIT 1",
            [.integer(source), .text(key ?? Self.top)]
        ) { _ in true } ?? false
    }

    /// Returns the highest key of the entries that the photo has now.
    ///
    /// - Parameters:
    ///   - photo: The photo.
    ///   - source: The source.
    ///   - lower: The lowest key.
    ///   - upper: The key above the entries; nil for the top.
    /// - Returns: The key; nil if it has no such entry.
    /// - Throws: ``StorageError``.
    func liveKey(
        of photo: PhotoID, in source: Int64, from lower: String = "", below upper: String? = nil
    ) throws(StorageError) -> String? {
        try database.first(
            """
            SELECT key FROM entry INDEXED BY entry_photo
            WHERE source = ? AND photo = ? AND died = \(Self.never) AND key >= ? AND key < ?
            ORDER BY key DESC LIMIT 1
            """,
            [
                .integer(source), .text(photo.text), .text(lower), .text(upper ?? Self.top),
            ]
        ) { $0.text(0) }
    }

    /// Returns the highest key below a key, of an entry or a mark.
    func neighbour(below key: String?, in source: Int64) throws(StorageError) -> String? {
        let upper = SQLValue.text(key ?? OrderKey.base)
        return try database.first(
            """
            SELECT max(key) FROM (
                SELECT max(key) AS key FROM entry WHERE source = ?1 AND key < ?2
                UNION ALL SELECT max(key) FROM mark WHERE source = ?1 AND key < ?2)
            """, [.integer(source), upper]
        ) { $0.optionalText(0) } ?? nil
    }

    /// Returns the lowest key of an entry above a key.
    func neighbour(above key: String, in source: Int64) throws(StorageError) -> String? {
        try database.first(
            "SELECT min(key) FROM entry WHERE source = ? AND key > ?",
            [.integer(source), .text(key)]
        ) { $0.optionalText(0) } ?? nil
    }

    func insert(
        _ photo: PhotoID, at key: String, _ source: Int64, born: Int64
    ) throws(StorageError) {
        try database.query(
            """
            INSERT INTO entry (source, key, born, photo) VALUES (?, ?, ?, ?)
            ON CONFLICT (source, key, born) DO UPDATE
                SET photo = excluded.photo, died = excluded.died
            """,
            [.integer(source), .text(key), .integer(born), .text(photo.text)])
    }

    /// Ends the version of an entry that is in the source.
    func end(_ source: Int64, at key: String, _ generation: Int64) throws(StorageError) {
        // A version that is in no walk needs no record.
        try database.query(
            "DELETE FROM entry WHERE source = ? AND key = ? AND died = \(Self.never) AND born >= ?",
            [.integer(source), .text(key), .integer(generation)])
        try database.query(
            "UPDATE entry SET died = ? WHERE source = ? AND key = ? AND died = \(Self.never)",
            [.integer(generation), .integer(source), .text(key)])
    }

    // MARK: Marks

    func mark(_ source: Int64, _ key: String) throws(StorageError) -> Part? {
        try database.first(
            "SELECT \(Self.partColumns) FROM mark WHERE source = ? AND key = ?",
            [.integer(source), .text(key)], Self.part)
    }

    /// Returns the marks between two keys, the highest first.
    func marks(
        of source: Int64, from lower: String?, below upper: String?
    ) throws(StorageError) -> [Part] {
        var marks: [Part] = []
        try database.query(
            """
            SELECT \(Self.partColumns) FROM mark WHERE source = ? AND key >= ? AND key < ?
            ORDER BY key DESC
            """, [.integer(source), .text(lower ?? ""), .text(upper ?? Self.top)]
        ) { row throws(StorageError) in marks.append(Self.part(row)) }
        return marks
    }

    func setMark(_ source: Int64, _ part: Part) throws(StorageError) {
        try database.query(
            """
            INSERT INTO mark (source, key, token, told, is_gap, born, fetched)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (source, key) DO UPDATE SET token = excluded.token,
                told = excluded.told, is_gap = excluded.is_gap, born = excluded.born,
                fetched = excluded.fetched, doubted = excluded.doubted
            """,
            [
                .integer(source), .text(part.key), .text(part.token),
                .integer(part.received.secondsSince1970), .bool(part.isGap), .integer(part.born),
                .integer(part.fetched.secondsSince1970),
            ])
    }

    func removeMark(of source: Int64, at key: String) throws(StorageError) {
        try database.query(
            "DELETE FROM mark WHERE source = ? AND key = ?", [.integer(source), .text(key)])
    }

    /// Removes the marks between two keys.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - lower: The key below them; nil for the end.
    ///   - upper: The key above them; nil for the top.
    /// - Throws: ``StorageError``.
    func removeMarks(
        of source: Int64, above lower: String?, below upper: String?
    ) throws(StorageError) {
        try database.query(
            "DELETE FROM mark WHERE source = ? AND key > ? AND key < ?",
            [.integer(source), .text(lower ?? ""), .text(upper ?? Self.top)])
    }

    /// Removes the marks below a key that are not gaps.
    func removeCoveredMarks(of source: Int64, below upper: String?) throws(StorageError) {
        try database.query(
            "DELETE FROM mark WHERE source = ? AND key < ? AND NOT is_gap",
            [.integer(source), .text(upper ?? Self.top)])
    }

    /// Sets the mark of a part that was fetched before, at the end of a page. A small part below is added to this part,
    /// so that refreshes do not create many small parts.
    ///
    /// - Parameters:
    ///   - part: The part.
    ///   - size: The number of photos of the page.
    ///   - source: The source.
    /// - Throws: ``StorageError``.
    func setCoveredMark(_ part: Part, size: Int, _ source: Int64) throws(StorageError) {
        var part = part
        let next = try database.first(
            """
            SELECT \(Self.partColumns) FROM mark WHERE source = ? AND key < ?
            ORDER BY key DESC LIMIT 1
            """, [.integer(source), .text(part.key)], Self.part)
        if let next, !next.isGap {
            let isLarge =
                try database.first(
                    """
                    SELECT 1 FROM entry WHERE source = ? AND key < ? AND key > ?
                    LIMIT 1 OFFSET \(max(1, size / 2))
                    """, [.integer(source), .text(part.key), .text(next.key)]
                ) { _ in true } ?? false
            if !isLarge {
                try removeMark(of: source, at: next.key)
                part = Part(
                    key: part.key, token: part.token, received: part.received, isGap: false,
                    born: part.born, fetched: min(part.fetched, next.fetched))
            }
        }
        try setMark(source, part)
    }

    // MARK: Sources

    func source(of key: Int64) throws(StorageError) -> SourceState? {
        let id = try database.first(
            "SELECT account, id FROM source WHERE key = ?", [.integer(key)]
        ) { (AccountID(stored: $0.text(0)), SourceID($0.text(1))) }
        guard let (account, source) = id else { return nil }
        return try self.source(account, source)
    }

    func setGeneration(_ source: Int64, _ generation: Int64) throws(StorageError) {
        try database.query(
            "UPDATE source SET generation = ? WHERE key = ?",
            [.integer(generation), .integer(source)])
    }

    func setKeyed(_ source: Int64, _ isKeyed: Bool) throws(StorageError) {
        try database.query(
            "UPDATE source SET keyed = ? WHERE key = ?", [.bool(isKeyed), .integer(source)])
    }
}
