internal import EngineModel
internal import ProviderKit
package import Storage

/// Limits of the number of entries and of the bytes of the account.
nonisolated extension FeedTables {
    /// The limits. Tests use smaller ones.
    struct Bounds: Sendable {
        /// The maximum number of entries of a source.
        var source = 10_000
        /// The maximum number of entries of a source after a walk fetched photos below. It applies until the top of the
        /// source is fetched again.
        var walk = 50_000
        /// The maximum number of entry versions that ended.
        var dead = 2_000
        /// The number of bytes of the account: of photos, entries and page tokens.
        var bytes = 64 << 20
        /// The number of photos whose rows a transaction of a merge writes or deletes, if the others can wait.
        var piece = 50
    }

    /// The maximum number of sources of the account. Those that were fetched the longest time ago are deleted first.
    static let sourcesLimit = 64

    /// Deletes the sources of other cache variants than that of a new source, because variants share the rows of
    /// photos, then the sources that were fetched the longest time ago, and photos that are in no source then.
    ///
    /// - Parameter new: The new source, as it is stored.
    /// - Throws: ``StorageError``.
    func limitSources(for new: SourceID) throws(StorageError) {
        let variant = new.text.firstIndex(of: "\n").map { new.text[$0...] } ?? ""
        try database.query(
            """
            DELETE FROM source
            WHERE account = ?1 AND substr(id, instr(id || char(10), char(10))) <> ?2
            """, [.text(account.text), .text(String(variant))])
        try database.query(
            """
            DELETE FROM source WHERE key IN (
                SELECT key FROM source WHERE account = ? ORDER BY fetched DESC, key DESC
                LIMIT -1 OFFSET \(Self.sourcesLimit))
            """, [.text(account.text)])
        guard database.changedRows > 0 else { return }
        try photos.forgetUnshown()
    }

    // MARK: Bytes

    /// Deletes data of the account until its size is below the limit.
    ///
    /// Deletes photos that are in no source, then the lower part of one source, then the other sources, and at last
    /// liked photos that no source contains. Likes that this program sent remain: the user determines their number.
    ///
    /// - Parameter source: A source that may use half of the limit, because it is being read; nil for the source that was
    ///   fetched last.
    /// - Returns: The key below which entries of the source were dropped; nil if none were.
    /// - Throws: ``StorageError``.
    @discardableResult
    package func limitBytes(preferring source: Int64? = nil) throws(StorageError) -> String? {
        guard try bytes() > bounds.bytes else { return nil }
        var source = source
        if source == nil { source = try sources().last }
        // The target is lower than the limit, so that not every page exceeds the limit.
        let target = bounds.bytes - bounds.bytes / 8
        try photos.forgetUnshown()
        var cut: String?
        if let source, try bytes() > target {
            cut = try order(of: source).trim(toBytes: bounds.bytes / 2)
        }
        for other in try sources() where other != source {
            guard try bytes() > target else { break }
            try database.query("DELETE FROM source WHERE key = ?", [.integer(other)])
            try photos.forgetUnshown()
        }
        let excess = try bytes() - target
        if excess > 0 { try photos.forgetReportedLikes(excess) }
        return cut
    }

    /// Returns the number of bytes that the account takes.
    func bytes() throws(StorageError) -> Int {
        try database.first(
            """
            SELECT coalesce((SELECT bytes FROM account_bytes WHERE account = ?1), 0)
                + coalesce((SELECT sum(bytes) FROM source WHERE account = ?1), 0)
            """, [.text(account.text)]
        ) { Int($0.integer(0)) } ?? 0
    }

    /// Returns the sources of the account, the one that was fetched the longest time ago first.
    private func sources() throws(StorageError) -> [Int64] {
        try database.all(
            "SELECT key FROM source WHERE account = ? ORDER BY fetched, key", [.text(account.text)]
        ) { $0.integer(0) }
    }
}

/// The bounds of a source.
nonisolated extension FeedOrder {
    /// Drops the entries over a number of entries. A gap replaces them; the cursors of walks below become stale.
    ///
    /// - Returns: The key below which entries were dropped; nil if none were.
    /// - Throws: ``StorageError``.
    func trim(to limit: Int) throws(StorageError) -> String? {
        let lowest = try text(
            "SELECT key FROM entry WHERE source = ? ORDER BY key DESC LIMIT 1 OFFSET ?",
            .integer(limit))
        return try trim(toPartOf: lowest)
    }

    /// Drops the entries over a number of bytes, counted from the top. A gap replaces them.
    ///
    /// - Returns: The key below which entries were dropped; nil if none were.
    /// - Throws: ``StorageError``.
    func trim(toBytes limit: Int) throws(StorageError) -> String? {
        let lowest = try text(
            """
            SELECT key FROM (
                SELECT key, sum(size) OVER (ORDER BY key DESC, born ROWS UNBOUNDED PRECEDING) AS total
                FROM (
                    SELECT key, born, entry.bytes + coalesce(photo.bytes, 0)
                        + coalesce((SELECT bytes FROM mark
                            WHERE mark.source = ?1 AND mark.key = entry.key), 0) AS size
                    FROM entry LEFT JOIN photo ON photo.account = ?2 AND photo.id = entry.photo
                    WHERE entry.source = ?1))
            WHERE total > ?3 ORDER BY key DESC LIMIT 1
            """, .text(tables.account.text), .integer(limit))
        return try trim(toPartOf: lowest)
    }

    /// Drops the entries below the part of an entry. A gap replaces them.
    private func trim(toPartOf lowest: String?) throws(StorageError) -> String? {
        guard let lowest else { return nil }
        // Only the beginning of a part can become a gap.
        let cut = try text(
            """
            SELECT coalesce(
                (SELECT max(key) FROM mark WHERE source = ?1 AND key <= ?2),
                (SELECT min(key) FROM mark WHERE source = ?1 AND key > ?2 AND key < '~'))
            """, .text(lowest))
        guard let cut, try neighbour(below: cut) != nil else { return nil }
        try drop(below: cut)
        return cut
    }

    /// Drops everything below the next gap above a key, because its position is unknown. That gap is then the end of
    /// the cached part.
    func dropTail(below key: String) throws(StorageError) {
        guard let above = try nextGap(above: key) else { return }
        try drop(below: above)
    }

    /// Drops everything below a mark, which becomes a gap.
    private func drop(below key: String) throws(StorageError) {
        let dropped = try entries(from: nil, below: key)
        try run("DELETE FROM entry WHERE source = ? AND key < ?", .text(key))
        try removeMarks(above: nil, below: key)
        // No valid walk has reached a position below it.
        try run("UPDATE mark SET is_gap = 1, born = 0 WHERE source = ? AND key = ?", .text(key))
        if let highest = dropped.first?.key {
            try run(
                """
                UPDATE source SET generation = generation + 1, floor_generation = generation + 1,
                    floor = max(coalesce(floor, ''), ?2) WHERE key = ?1
                """, .text(highest))
        }
        _ = try tables.photos.sweep(dropped.map(\.photo))
    }
}
