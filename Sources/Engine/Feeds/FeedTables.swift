internal import EngineModel
package import ProviderKit
package import Storage
internal import Translation

/// The operations on the cached feed of an account within one transaction.
nonisolated package struct FeedTables {
    let database: Database
    let account: AccountID
    var bounds = Bounds()

    /// Runs a statement whose parameters are the account and then `values`.
    private func run(_ sql: String, _ values: SQLValue...) throws(StorageError) {
        try database.query(sql, [.text(account.text)] + values)
    }

    package var photos: FeedPhotos { FeedPhotos(database: database, account: account) }

    package func order(of source: Int64) -> FeedOrder { FeedOrder(tables: self, source: source) }

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
        /// The lowest order key that a client read, and the time.
        fileprivate let lowest: (key: String, read: Timestamp)?

        /// Returns the lowest order key that a client read within a day; nil if there is none.
        package func depth(now: Timestamp) -> String? {
            guard let lowest, lowest.read <= now, now < lowest.read + .seconds(86_400) else {
                return nil
            }
            return lowest.key
        }

        /// Returns true if a read down to an order key has to be stored. The time of the read is stored once an hour.
        package func isDepth(_ key: String, now: Timestamp) -> Bool {
            guard let lowest, let known = depth(now: now), known <= key else { return true }
            return known == key && now >= lowest.read + .seconds(3600)
        }

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
    package func source(_ id: SourceID) throws(StorageError) -> SourceState? {
        try database.first(
            """
            SELECT key, epoch, fetched, generation, keyed, horizon, floor, floor_generation,
                depth, depth_read
            FROM source WHERE account = ? AND id = ? AND fetched NOT NULL
            """,
            [.text(account.text), .text(id.text)]
        ) { row in
            SourceState(
                key: row.integer(0), epoch: row.integer(1),
                fetched: Timestamp(secondsSince1970: row.integer(2)), generation: row.integer(3),
                isKeyed: row.optionalInteger(4).map { $0 != 0 }, horizon: row.integer(5),
                floor: row.optionalText(6), floorGeneration: row.integer(7),
                lowest: row.optionalText(8).map {
                    ($0, Timestamp(secondsSince1970: row.integer(9)))
                })
        }
    }

    /// The separator of the ID of a source and the cache variant. No ID of a source contains it.
    package static let variantSeparator = "\n"

    /// Returns the cache variant of a source that was fetched last; nil if the source was never fetched.
    package func latestVariant(_ id: SourceID) throws(StorageError) -> SourceState? {
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
        return try source(SourceID(latest))
    }

    /// Creates the source if necessary, and records that its top was fetched.
    func touchSource(
        _ id: SourceID, fetched: Timestamp, total: Int?
    ) throws(StorageError) -> SourceState {
        try run(
            """
            INSERT INTO source (account, id, epoch, fetched, total) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (account, id) DO UPDATE
                SET fetched = ?4, total = coalesce(?5, total), doubted = 0
            """, .text(id.text), .integer(Self.newEpoch), .integer(fetched.secondsSince1970),
            .integer(total))
        guard let state = try source(id) else { throw .damaged(database.path) }
        return state
    }

    /// Stores that a client read a source down to an order key.
    package func setDepth(_ key: String, of source: Int64, read: Timestamp) throws(StorageError) {
        try database.query(
            "UPDATE source SET depth = ?, depth_read = ? WHERE key = ?",
            [.text(key), .integer(read.secondsSince1970), .integer(source)])
    }

    static var newEpoch: Int64 { Int64(UInt32.random(in: 1...UInt32.max)) }

    /// Deletes all data of the account.
    func forget() throws(StorageError) {
        for table in ["photo", "source", "listed_source", "profile", "account_bytes"] {
            try run("DELETE FROM \(table) WHERE account = ?")
        }
    }

    /// Inserts photos into the source of liked photos, or removes them, according to their liked states.
    ///
    /// - Parameters:
    ///   - photos: The photos, the latest like last.
    ///   - id: The source, as it is stored.
    /// - Returns: The number of photos that the source did not have; nil if the source has not changed.
    /// - Throws: ``StorageError``.
    package func updateLikes(_ photos: [Photo], in id: SourceID) throws(StorageError) -> Int? {
        guard let source = try source(id) else { return nil }
        let order = order(of: source.key)
        let generation = source.generation + 1
        var (new, hasChanged) = (0, false)
        for photo in photos {
            let key = try order.liveKey(of: photo.id)
            guard photo.isLiked == (key == nil) else { continue }
            hasChanged = true
            if let key {
                try order.end(at: key, generation)
            } else {
                let highest = try order.neighbour(below: nil)
                for key in OrderKey.keys(1, above: highest, below: nil, isNextBelow: false) {
                    try order.insert(photo.id, at: key, born: generation)
                }
                new += 1
            }
        }
        guard hasChanged else { return nil }
        try order.setGeneration(generation)
        return new
    }

    // MARK: Listed sources

    package func listedSources() throws(StorageError) -> [Source] {
        try database.all(
            """
            SELECT id, title, kind, count, cover FROM listed_source WHERE account = ?
            ORDER BY number
            """, [.text(account.text)]
        ) { row in
            Source(
                id: SourceID(row.text(0)), title: Message(stored: row.text(1)),
                kind: Source.Kind(rawValue: row.text(2)) ?? .feed,
                count: row.optionalInteger(3).map(Int.init),
                cover: row.optionalText(4).map { PhotoID($0) })
        }
    }

    package func setListedSources(_ sources: [Source]) throws(StorageError) {
        try run("DELETE FROM listed_source WHERE account = ?")
        for (number, source) in sources.enumerated() {
            try run(
                "INSERT INTO listed_source VALUES (?, ?, ?, ?, ?, ?, ?)", .integer(number),
                .text(source.id.text), .text(source.title.stored), .text(source.kind.rawValue),
                .integer(source.count), .text(source.cover?.text))
        }
    }
}

/// The profile of the account, as last sent by the service.
nonisolated extension FeedTables {
    package func profile() throws(StorageError) -> Profile? {
        try database.first(
            """
            SELECT username, name, bio, location, url, avatar, avatar_url, likes
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
            return profile
        }
    }

    /// The time after a like in which the number of likes of the service is ignored, because it may be older.
    private static let countPriority = Duration.seconds(600)

    /// Stores a profile. The number of likes that was counted here stays for a while after a like: see ``countPriority``.
    package func setProfile(_ profile: Profile, fetched: Timestamp) throws(StorageError) {
        try run(
            """
            INSERT INTO profile (account, fetched, username, name, bio, location, url, avatar,
                avatar_url, likes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            ON CONFLICT (account) DO UPDATE SET fetched = ?2, username = ?3, name = ?4, bio = ?5,
                location = ?6, url = ?7, avatar = ?8, avatar_url = ?9,
                likes = CASE WHEN likes NOT NULL AND likes_changed <= ?2
                    AND ?2 < likes_changed + \(Self.countPriority.components.seconds)
                    THEN likes ELSE ?10 END
            """, .integer(fetched.secondsSince1970), .text(profile.username), .text(profile.name),
            .text(profile.bio), .text(profile.location), .text(profile.url), .text(profile.avatar),
            .text(profile.avatarURL), .integer(profile.likes))
    }

    /// Counts a like or unlike that was confirmed.
    package func countLike(_ isLiked: Bool, now: Timestamp) throws(StorageError) {
        try run(
            """
            UPDATE profile SET likes = max(0, likes + ?2), likes_changed = ?3
            WHERE account = ?1 AND likes NOT NULL
            """, .integer(isLiked ? 1 : -1), .integer(now.secondsSince1970))
    }

    /// Ends the grace period, so that the next number of the service replaces the number that was counted here.
    package func trustLikeCount() throws(StorageError) {
        try run("UPDATE profile SET likes_changed = 0 WHERE account = ?")
    }

    /// Returns the number of likes: that of the service, or else the number of cached photos that are liked.
    package func likeCount() throws(StorageError) -> Int {
        if let likes = try profile()?.likes { return likes }
        return try database.first(
            "SELECT count(*) FROM photo WHERE account = ? AND is_liked", [.text(account.text)]
        ) { Int($0.integer(0)) } ?? 0
    }
}
