package import Accounts
package import ProviderKit
package import Storage

/// Limits of the number of entries and of the bytes of an account.
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
        /// The number of bytes of an account: of photos, entries and page tokens.
        var bytes = 64 << 20
        /// The number of photos whose rows a transaction of a merge writes or deletes, if the others can wait.
        var piece = 50
    }

    /// The maximum number of sources of an account. Those that were fetched the longest time ago are deleted first.
    static let sourcesLimit = 64

    /// Drops the entries over the limit. A gap replaces them; the cursors of walks below become stale.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - account: The account.
    ///   - limit: The number of entries to keep.
    ///   - now: The current time.
    /// - Returns: The key below which entries were dropped; nil if none were.
    /// - Throws: ``StorageError``.
    func trim(
        _ source: Int64, _ account: AccountID, to limit: Int, now: Timestamp
    ) throws(StorageError) -> String? {
        let lowest = try database.first(
            """
            SELECT key FROM entry WHERE source = ? ORDER BY key DESC LIMIT 1 OFFSET ?
            """, [.integer(source), .integer(limit)]
        ) { $0.text(0) }
        guard let lowest else { return nil }
        return try trim(source, account, toPartOf: lowest, now: now)
    }

    /// Drops the entries below the part of an entry. A gap replaces them.
    ///
    /// - Returns: The key below which entries were dropped; nil if none were.
    private func trim(
        _ source: Int64, _ account: AccountID, toPartOf lowest: String, now: Timestamp
    ) throws(StorageError) -> String? {
        // Only the beginning of a part can become a gap.
        let cut =
            try database.first(
                """
                SELECT coalesce(
                    (SELECT max(key) FROM mark WHERE source = ?1 AND key <= ?2),
                    (SELECT min(key) FROM mark WHERE source = ?1 AND key > ?2 AND key < '~'))
                """, [.integer(source), .text(lowest)]
            ) { $0.optionalText(0) } ?? nil
        guard let cut, try order(of: source).neighbour(below: cut) != nil else { return nil }
        try drop(from: source, below: cut, account, now: now)
        return cut
    }

    /// Drops everything below the next gap above a key, because its position is unknown. That gap is then the end of
    /// the cached part.
    func dropTail(
        of source: Int64, below key: String, _ account: AccountID, now: Timestamp
    ) throws(StorageError) {
        guard let above = try order(of: source).nextGap(above: key) else { return }
        try drop(from: source, below: above, account, now: now)
    }

    /// Drops everything below a mark, which becomes a gap.
    private func drop(
        from source: Int64, below key: String, _ account: AccountID, now: Timestamp
    ) throws(StorageError) {
        let order = order(of: source)
        let dropped = try order.entries(from: nil, below: key)
        try database.query(
            "DELETE FROM entry WHERE source = ? AND key < ?", [.integer(source), .text(key)])
        try order.removeMarks(above: nil, below: key)
        // No valid walk has reached a position below it.
        try database.query(
            "UPDATE mark SET is_gap = 1, born = 0 WHERE source = ? AND key = ?",
            [.integer(source), .text(key)])
        if let highest = dropped.first?.key {
            try database.query(
                """
                UPDATE source SET generation = generation + 1, floor_generation = generation + 1,
                    floor = max(coalesce(floor, ''), ?2) WHERE key = ?1
                """,
                [.integer(source), .text(highest)])
        }
        _ = try photos(of: account).sweep(dropped.map(\.photo), now: now)
    }

    /// Deletes the sources that were fetched the longest time ago, and photos that are in no source then.
    func limitSources(of account: AccountID, now: Timestamp) throws(StorageError) {
        try database.query(
            """
            DELETE FROM source WHERE key IN (
                SELECT key FROM source WHERE account = ? ORDER BY fetched DESC, key DESC
                LIMIT -1 OFFSET \(Self.sourcesLimit))
            """, [.text(account.text)])
        guard database.changedRows > 0 else { return }
        try photos(of: account).forgetUnshown(now: now)
    }

    // MARK: Bytes

    /// Deletes data of an account until its size is below the limit.
    ///
    /// Deletes photos that are in no source, then the lower part of one source, then the other sources, and at last
    /// liked photos that no source contains. Likes that this program sent remain: the user determines their number.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - source: A source that may use half of the limit, because it is being read; nil for the source that was
    ///     fetched last.
    ///   - now: The current time.
    /// - Returns: The key below which entries of the source were dropped; nil if none were.
    /// - Throws: ``StorageError``.
    @discardableResult
    package func limitBytes(
        of account: AccountID, preferring source: Int64? = nil, now: Timestamp
    ) throws(StorageError) -> String? {
        guard try bytes(of: account) > bounds.bytes else { return nil }
        var source = source
        if source == nil { source = try sources(of: account).last }
        // The target is lower than the limit, so that not every page exceeds the limit.
        let target = bounds.bytes - bounds.bytes / 8
        try photos(of: account).forgetUnshown(now: now)
        var cut: String?
        if let source, try bytes(of: account) > target,
            let lowest = try key(of: source, account, after: bounds.bytes / 2)
        {
            cut = try trim(source, account, toPartOf: lowest, now: now)
        }
        for other in try sources(of: account) where other != source {
            guard try bytes(of: account) > target else { break }
            try database.query("DELETE FROM source WHERE key = ?", [.integer(other)])
            try photos(of: account).forgetUnshown(now: now)
        }
        let excess = try bytes(of: account) - target
        if excess > 0 { try photos(of: account).forgetReportedLikes(excess) }
        return cut
    }

    /// Returns the number of bytes that an account takes.
    func bytes(of account: AccountID) throws(StorageError) -> Int {
        try database.first(
            """
            SELECT coalesce((SELECT bytes FROM account_bytes WHERE account = ?1), 0)
                + coalesce((SELECT sum(bytes) FROM source WHERE account = ?1), 0)
            """, [.text(account.text)]
        ) { Int($0.integer(0)) } ?? 0
    }

    /// Returns the key of the entry with which the entries of a source, counted from the top, exceed a number of bytes;
    /// nil if they do not.
    private func key(
        of source: Int64, _ account: AccountID, after bytes: Int
    ) throws(StorageError) -> String? {
        try database.first(
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
            """, [.integer(source), .text(account.text), .integer(bytes)]
        ) { $0.text(0) }
    }

    /// Returns the sources of an account, the one that was fetched the longest time ago first.
    private func sources(of account: AccountID) throws(StorageError) -> [Int64] {
        try database.all(
            "SELECT key FROM source WHERE account = ? ORDER BY fetched, key", [.text(account.text)]
        ) { $0.integer(0) }
    }
}
