package import Accounts
package import ProviderKit
package import Storage

/// The operations on the feed cache within one transaction.
nonisolated package struct FeedTables {
    let database: Database
    let bounds: Bounds

    init(_ database: Database, bounds: Bounds = Bounds()) {
        self.database = database
        self.bounds = bounds
    }

    package func photos(of account: AccountID) -> FeedPhotos {
        FeedPhotos(database: database, account: account)
    }

    package func order(of source: Int64) -> FeedOrder {
        FeedOrder(database: database, source: source)
    }

    /// A cached source.
    package struct SourceState: Sendable {
        package let key: Int64
        package let epoch: Int64
        /// The time of the last fetch of its top.
        package let fetched: Timestamp
        /// The number of changes.
        package let generation: Int64
        /// True if the order keys are those of the service, false if they are created here; nil if not known yet.
        let isKeyed: Bool?
        fileprivate let horizon: Int64
        fileprivate let floor: String?
        fileprivate let floorGeneration: Int64

        /// Returns true if a walk can continue at a position.
        package func holds(_ place: FeedPosition) -> Bool {
            guard place.epoch == epoch, place.generation <= generation,
                place.generation >= horizon
            else { return false }
            guard let floor, place.generation < floorGeneration else { return true }
            return place.key > floor
        }
    }

    /// Returns the source; nil if it was never fetched.
    package func source(_ account: AccountID, _ id: SourceID) throws(StorageError) -> SourceState? {
        try database.first(
            """
            SELECT key, epoch, fetched, generation, keyed, horizon, floor, floor_generation
            FROM source WHERE account = ? AND id = ? AND fetched NOT NULL
            """,
            [.text(account.text), .text(id.text)]
        ) { row in
            SourceState(
                key: row.integer(0), epoch: row.integer(1),
                fetched: Timestamp(secondsSince1970: row.integer(2)), generation: row.integer(3),
                isKeyed: row.optionalInteger(4).map { $0 != 0 }, horizon: row.integer(5),
                floor: row.optionalText(6), floorGeneration: row.integer(7))
        }
    }

    /// The separator of the ID of a source and the cache variant. No ID of a source contains it.
    package static let variantSeparator = "\n"

    /// Returns the cache variant of a source that was fetched last; nil if the source was never fetched.
    package func latestVariant(
        _ account: AccountID, _ id: SourceID
    ) throws(StorageError) -> SourceState? {
        let prefix = id.text + Self.variantSeparator
        let latest = try database.first(
            """
            SELECT id FROM source WHERE account = ?1
                AND (id = ?2 OR substr(id, 1, length(?3)) = ?3) AND fetched NOT NULL
            ORDER BY fetched DESC LIMIT 1
            """,
            [.text(account.text), .text(id.text), .text(prefix)]
        ) { $0.text(0) }
        guard let latest else { return nil }
        return try source(account, SourceID(latest))
    }

    /// Creates the source if necessary, and records that its top was fetched.
    func touchSource(
        _ account: AccountID, _ id: SourceID, fetched: Timestamp, total: Int?
    ) throws(StorageError) -> SourceState {
        try database.query(
            """
            INSERT INTO source (account, id, epoch, fetched, total) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (account, id) DO UPDATE
                SET fetched = ?4, total = coalesce(?5, total), doubted = 0
            """,
            [
                .text(account.text), .text(id.text), .integer(Self.newEpoch),
                .integer(fetched.secondsSince1970), .integer(total),
            ])
        guard let state = try source(account, id) else { throw .damaged(database.path) }
        return state
    }

    static var newEpoch: Int64 { Int64(UInt32.random(in: 1...UInt32.max)) }

    /// Deletes all data of an account.
    func forget(_ account: AccountID) throws(StorageError) {
        for table in ["photo", "source", "listed_source", "profile", "account_bytes"] {
            try database.query("DELETE FROM \(table) WHERE account = ?", [.text(account.text)])
        }
    }

    // MARK: Listed sources

    package func listedSources(_ account: AccountID) throws(StorageError) -> [Source] {
        try database.all(
            """
            SELECT id, title, kind, count, cover FROM listed_source WHERE account = ?
            ORDER BY number
            """, [.text(account.text)]
        ) { row in
            Source(
                id: SourceID(row.text(0)), title: row.text(1),
                kind: Source.Kind(rawValue: row.text(2)) ?? .feed,
                count: row.optionalInteger(3).map(Int.init),
                cover: row.optionalText(4).map { PhotoID($0) })
        }
    }

    package func setListedSources(_ account: AccountID, _ sources: [Source]) throws(StorageError) {
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

/// The profile of an account, as last sent by the service.
nonisolated extension FeedTables {
    package func profile(_ account: AccountID) throws(StorageError) -> (
        Profile, fetched: Timestamp
    )? {
        try database.first(
            """
            SELECT username, name, bio, location, url, avatar, avatar_url, likes, fetched
            FROM profile WHERE account = ?
            """, [.text(account.text)]
        ) { row in
            var profile = Profile(username: row.text(0), name: row.text(1))
            profile.bio = row.text(2)
            profile.location = row.text(3)
            profile.url = row.text(4)
            profile.avatar = row.text(5)
            profile.avatarURL = row.text(6)
            profile.likes = row.optionalInteger(7).map(Int.init)
            return (profile, Timestamp(secondsSince1970: row.integer(8)))
        }
    }

    /// Stores a profile. The number of likes that was counted here stays within ``FeedPhotos/likeGracePeriod`` after a confirmed
    /// like, because the service may not have counted it.
    package func setProfile(
        _ account: AccountID, _ profile: Profile, fetched: Timestamp
    ) throws(StorageError) {
        try database.query(
            """
            INSERT INTO profile (account, fetched, username, name, bio, location, url, avatar,
                avatar_url, likes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            ON CONFLICT (account) DO UPDATE SET fetched = ?2, username = ?3, name = ?4, bio = ?5,
                location = ?6, url = ?7, avatar = ?8, avatar_url = ?9,
                likes = CASE WHEN likes NOT NULL AND likes_changed <= ?2
                    AND ?2 < likes_changed + \(FeedPhotos.likeGracePeriod.components.seconds)
                    THEN likes ELSE ?10 END
            """,
            [
                .text(account.text), .integer(fetched.secondsSince1970), .text(profile.username),
                .text(profile.name), .text(profile.bio), .text(profile.location),
                .text(profile.url), .text(profile.avatar), .text(profile.avatarURL),
                .integer(profile.likes),
            ])
    }

    /// Counts a like or unlike that was confirmed.
    package func countLike(_ account: AccountID, _ isLiked: Bool, now: Timestamp)
        throws(StorageError)
    {
        try database.query(
            """
            UPDATE profile SET likes = max(0, likes + ?2), likes_changed = ?3
            WHERE account = ?1 AND likes NOT NULL
            """,
            [.text(account.text), .integer(isLiked ? 1 : -1), .integer(now.secondsSince1970)])
    }

    /// Ends the grace period, so that the next number of the service replaces the number that was counted here.
    package func trustLikeCount(_ account: AccountID) throws(StorageError) {
        try database.query(
            "UPDATE profile SET likes_changed = 0 WHERE account = ?", [.text(account.text)])
    }

    /// Returns the number of likes: that of the service, or else the number of cached photos that are liked.
    package func likeCount(_ account: AccountID) throws(StorageError) -> Int {
        if let likes = try profile(account)?.0.likes { return likes }
        return try database.first(
            "SELECT count(*) FROM photo WHERE account = ? AND is_liked", [.text(account.text)]
        ) { Int($0.integer(0)) } ?? 0
    }
}
