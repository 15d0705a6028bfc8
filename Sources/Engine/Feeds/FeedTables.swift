internal import ProviderKit
internal import Storage

/// What can be done with the cache of feeds, within one transaction.
nonisolated struct FeedTables {
    let database: Database

    init(_ database: Database) { self.database = database }

    /// Where a source stands.
    struct SourceState: Sendable {
        let key: Int64
        let epoch: Int64
        /// When its top was asked for last.
        let fetched: Timestamp
        let total: Int?
        /// Who stands here or further down has lost their place; nil as long as nothing was dropped.
        let floor: Int64?
    }

    /// The source, if it was ever asked for.
    func source(_ account: AccountID, _ id: SourceID) throws(StorageError) -> SourceState? {
        try database.first(
            "SELECT key, epoch, fetched, total, floor FROM source WHERE account = ? AND id = ?",
            [.text(account.text), .text(id.text)]
        ) { row in
            SourceState(
                key: row.integer(0), epoch: row.integer(1),
                fetched: Timestamp(secondsSince1970: row.integer(2)),
                total: row.optionalInteger(3).map(Int.init), floor: row.optionalInteger(4))
        }
    }

    /// Makes the source if need be, and notes when it was asked for.
    func touchSource(
        _ account: AccountID, _ id: SourceID, fetched: Timestamp, total: Int?
    ) throws(StorageError) -> SourceState {
        try database.query(
            """
            INSERT INTO source (account, id, epoch, fetched, total) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (account, id) DO UPDATE SET fetched = ?4, total = coalesce(?5, total)
            """,
            [
                .text(account.text), .text(id.text),
                .integer(Int64(UInt32.random(in: 1...UInt32.max))),
                .integer(fetched.secondsSince1970), .integer(total),
            ])
        guard let state = try source(account, id) else { throw .damaged(database.path) }
        return state
    }

    /// Forgets all of an account.
    func forget(_ account: AccountID) throws(StorageError) {
        for table in ["photo", "source", "listed_source", "profile"] {
            try database.query("DELETE FROM \(table) WHERE account = ?", [.text(account.text)])
        }
    }

    // MARK: Reading a source

    /// Some neighbouring photos of a source.
    struct Slice: Sendable {
        var photos: [CachedPhoto] = []
        /// The position of the last one.
        var last: Int64?
        /// What comes after it.
        var following = Following.end
    }

    enum Following: Sendable {
        /// More photos that are known.
        case photos
        case gap(Gap)
        case end
    }

    /// Photos that are to be asked for.
    struct Gap: Sendable {
        /// They follow what is at this position.
        let position: Int64
        /// Where the service has them, in the provider's own words.
        let place: String
        /// When the service said so.
        let told: Timestamp
        /// Whether the place stays the same whatever comes and goes.
        var placeLasts = false
        /// Whether the place may be another one by now.
        var isDoubtful = false
    }

    /// The photos below a position, as far as they are known without a gap.
    func slice(
        of source: SourceState, _ account: AccountID, below position: Int64, count: Int
    ) throws(StorageError) -> Slice {
        let gap = try gap(of: source.key, atOrBelow: position)
        var slice = Slice()
        var isMore = false
        try database.query(
            """
            SELECT \(Self.photoColumns), position FROM entry
            JOIN photo ON photo.account = ?1 AND photo.id = entry.photo
            WHERE source = ?2 AND position < ?3 AND position >= ?4
            ORDER BY position DESC LIMIT ?5
            """,
            [
                .text(account.text), .integer(source.key), .integer(position),
                .integer(gap?.position ?? Int64.min), .integer(count + 1),
            ]
        ) { row throws(StorageError) in
            guard slice.photos.count < count else {
                isMore = true
                return
            }
            slice.photos.append(Self.photo(row))
            slice.last = row.integer(Self.photoColumnCount)
        }
        if isMore {
            slice.following = .photos
        } else if let gap {
            slice.following = .gap(gap)
        }
        return slice
    }

    /// The nearest gap that somebody who walks down from `position` comes to.
    private func gap(
        of source: Int64, atOrBelow position: Int64
    ) throws(StorageError) -> Gap? {
        try database.first(
            """
            SELECT position, place, told FROM gap WHERE source = ? AND position <= ?
            ORDER BY position DESC LIMIT 1
            """, [.integer(source), .integer(position)]
        ) { row in
            Gap(
                position: row.integer(0), place: row.text(1),
                told: Timestamp(secondsSince1970: row.integer(2)))
        }
    }

    // MARK: Listed sources

    func listedSources(_ account: AccountID) throws(StorageError) -> [Source] {
        var sources: [Source] = []
        try database.query(
            """
            SELECT id, title, kind, count, cover FROM listed_source WHERE account = ?
            ORDER BY number
            """, [.text(account.text)]
        ) { row throws(StorageError) in
            sources.append(
                Source(
                    id: SourceID(row.text(0)), title: row.text(1),
                    kind: Source.Kind(rawValue: row.text(2)) ?? .feed,
                    count: row.optionalInteger(3).map(Int.init),
                    cover: row.optionalText(4).map { PhotoID($0) }))
        }
        return sources
    }

    func setListedSources(_ account: AccountID, _ sources: [Source]) throws(StorageError) {
        try database.query("DELETE FROM listed_source WHERE account = ?", [.text(account.text)])
        for (number, source) in sources.enumerated() {
            try database.query(
                "INSERT INTO listed_source VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    .text(account.text), .integer(number), .text(source.id.text),
                    .text(source.title), .text(source.kind.rawValue), .integer(source.count),
                    .text(source.cover?.text),
                ])
        }
    }
}
