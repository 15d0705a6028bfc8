internal import ProviderKit
internal import Storage

/// Keeping the cache from growing for ever.
nonisolated extension FeedTables {
    /// How many photos of a source are kept.
    static let sourceLimit = 10_000
    /// How many sources of an account are kept; those that nobody has looked at for longest go first.
    static let sourcesLimit = 64

    /// Drops what is over the limit; the source then ends there, and who stands further down has lost their
    /// place.
    func trim(_ source: Int64, _ account: AccountID, now: Timestamp) throws(StorageError) {
        let lowest = try database.first(
            """
            SELECT position FROM entry WHERE source = ? ORDER BY position DESC
            LIMIT 1 OFFSET \(Self.sourceLimit - 1)
            """, [.integer(source)]
        ) { $0.integer(0) }
        guard let lowest else { return }
        try database.query(
            "DELETE FROM gap WHERE source = ? AND position <= ?",
            [.integer(source), .integer(lowest)])
        try drop(from: source, below: lowest, account, now: now)
    }

    /// Drops all that lies below the next gap above a position, whose place nobody knows any more. That gap is
    /// the end of what is known then.
    func dropTail(
        of source: Int64, below position: Int64, _ account: AccountID, now: Timestamp
    ) throws(StorageError) {
        let above = try database.first(
            """
            SELECT position FROM gap WHERE source = ? AND position > ?
            ORDER BY position LIMIT 1
            """, [.integer(source), .integer(position)]
        ) { $0.integer(0) }
        guard let above else { return }
        try database.query(
            "DELETE FROM gap WHERE source = ? AND position < ?",
            [.integer(source), .integer(above)])
        try drop(from: source, below: above, account, now: now)
    }

    private func drop(
        from source: Int64, below position: Int64, _ account: AccountID, now: Timestamp
    ) throws(StorageError) {
        let dropped = try entries(of: source, between: .min, and: position, except: [])
        guard let highest = dropped.map(\.position).max() else { return }
        try database.query(
            "DELETE FROM entry WHERE source = ? AND position < ?",
            [.integer(source), .integer(position)])
        try database.query(
            "UPDATE source SET floor = max(coalesce(floor, ?2), ?2) WHERE key = ?1",
            [.integer(source), .integer(highest)])
        try sweep(dropped.map(\.photo), account, now: now)
    }

    /// Whether there is a gap in a part of a source.
    func hasGap(
        in source: Int64, above lower: Int64, below upper: Int64 = .max
    ) throws(StorageError) -> Bool {
        try database.first(
            "SELECT 1 FROM gap WHERE source = ? AND position > ? AND position < ? LIMIT 1",
            [.integer(source), .integer(lower), .integer(upper)]
        ) { _ in true } ?? false
    }

    /// Forgets those photos that no source shows any more.
    func sweep(
        _ photos: [PhotoID], _ account: AccountID, now: Timestamp
    ) throws(StorageError) {
        for id in photos {
            try database.query(
                """
                DELETE FROM photo WHERE account = ?1 AND id = ?2 AND \(Self.isOfNoUse)
                    AND NOT EXISTS (SELECT 1 FROM source JOIN entry
                        ON entry.source = source.key AND entry.photo = ?2
                        WHERE source.account = ?1)
                """, [.text(account.text), .text(id.text), .integer(now.secondsSince1970)])
        }
    }

    /// Forgets the sources that nobody has looked at for longest, and photos that none shows any more.
    func limitSources(of account: AccountID, now: Timestamp) throws(StorageError) {
        try database.query(
            """
            DELETE FROM source WHERE key IN (
                SELECT key FROM source WHERE account = ? ORDER BY fetched DESC, key DESC
                LIMIT -1 OFFSET \(Self.sourcesLimit))
            """, [.text(account.text)])
        guard database.changedRows > 0 else { return }
        try database.query(
            """
            DELETE FROM photo WHERE account = ?1 AND \(Self.isOfNoUse) AND id NOT IN (
                SELECT photo FROM entry WHERE source IN (
                    SELECT key FROM source WHERE account = ?1))
            """, [.text(account.text), .null, .integer(now.secondsSince1970)])
    }

    /// What the user likes, or has just unliked, is remembered wherever it is shown.
    private static let isOfNoUse =
        "NOT is_liked AND (like_confirmed > ?3 OR like_confirmed + \(likeOverlay.components.seconds) <= ?3)"
}
