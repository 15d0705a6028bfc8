internal import EngineModel
internal import ProviderKit
internal import Storage

/// The tables of playlists, in the cache.
///
/// The methods are called on the queue of the database; see ``SlideshowStore``.
nonisolated struct PlaylistTables {
    let database: Database
    /// The name of the slideshow; empty for the default one.
    let name: String

    private static let photoColumns = PhotoField.all.flatMap(\.columns)

    /// `playlist` has a row for each photo that was shown, at its position, without a round. It has another row for each
    /// photo that was read from the source and is shown later: at a position in this round or the next one, or without a
    /// position while its size is unknown and an orientation is wanted. The row of a photo that was not found in the source
    /// has the pass 0.
    ///
    /// `playlist_state` also has the description of the current photo, which is shown at the start before its account is
    /// ready, and the settings with which the photos were read.
    static let sql = """
        CREATE TABLE playlist (
            name TEXT NOT NULL,
            position INTEGER,
            account TEXT NOT NULL,
            photo TEXT NOT NULL,
            round INTEGER,
            pass INTEGER NOT NULL DEFAULT 1,
            PRIMARY KEY (name, position),
            UNIQUE (name, account, photo, round)
        );
        CREATE TABLE playlist_part (
            name TEXT NOT NULL,
            account TEXT NOT NULL,
            source TEXT NOT NULL,
            cursor TEXT NOT NULL,
            has_ended INTEGER NOT NULL,
            pass INTEGER NOT NULL,
            top TEXT,
            PRIMARY KEY (name, account)
        ) WITHOUT ROWID;
        CREATE TABLE playlist_state (
            name TEXT PRIMARY KEY,
            settings TEXT NOT NULL,
            position INTEGER NOT NULL,
            source INTEGER NOT NULL,
            cursor TEXT,
            round INTEGER NOT NULL,
            hide_number INTEGER NOT NULL,
            image TEXT NOT NULL,
            \(photoColumns.map { "\"photo_\($0.name)\" \($0.type)" }.joined(separator: ",\n    "))
        ) WITHOUT ROWID;
        """

    // MARK: Reading

    /// Reads a playlist. One that was read with other settings begins at the top of the source.
    func playlist(_ settings: SlideshowSettings) throws(StorageError) -> Playlist {
        let all = try database.all(
            """
            SELECT position, account, photo FROM playlist
            WHERE name = ? AND position < ? ORDER BY position
            """, [.text(name), .integer(Playlist.waiting.lowerBound)]
        ) { Playlist.Entry(position: $0.integer(0), id: CombinedPhotoID($0, 1)) }
        var parts: [AccountID: Playlist.Part] = [:]
        try database.query(
            "SELECT account, source, cursor, has_ended, pass, top FROM playlist_part WHERE name = ?",
            [.text(name)]
        ) { row throws(StorageError) in
            parts[AccountID(stored: row.text(0))] = Playlist.Part(
                edition: row.text(1), cursor: row.text(2), hasEnded: row.integer(3) != 0,
                pass: row.integer(4), top: row.optionalText(5).map { PhotoID($0) })
        }
        let columns = Self.photoColumns.map { "\"photo_\($0.name)\"" }.joined(separator: ", ")
        let stored = try database.first(
            """
            SELECT settings, position, source, cursor, round, hide_number, image, \(columns)
            FROM playlist_state WHERE name = ?
            """, [.text(name)]
        ) { row in
            let position = row.integer(1)
            let current = all.first { $0.position == position }.map { entry in
                var photo = Photo(id: entry.id.photo)
                var column: Int32 = 7
                for property in PhotoProperty.all {
                    property.read(&photo, row, column)
                    column += property.columnCount
                }
                return Playlist.Shown(id: entry.id, photo: photo, image: row.text(6))
            }
            let source = Int(row.integer(2))
            let hideNumber = row.integer(5)
            var playlist = Playlist(
                settings: settings, entries: all, position: position, current: current,
                sourceIndex: settings.sources.indices.contains(source) ? source : 0,
                cursor: row.optionalText(3), round: row.integer(4), parts: parts,
                // After damage, all hidden photos leave the playlist again.
                hideNumber: hideNumber > TableFormat.largestKeptNumber ? 0 : hideNumber)
            if row.text(0) != settings.order {
                // Their rows are deleted with the first change that is stored.
                playlist.changes = [.passed(playlist.future.map(\.position))]
                playlist.reorder()
            }
            return playlist
        }
        return stored ?? .unread(settings)
    }

    /// Returns the accounts of the photos, with one step of the index for each.
    func accounts() throws(StorageError) -> Set<AccountID> {
        Set(
            try database.all(
                """
                WITH RECURSIVE next (account) AS (
                    SELECT min(account) FROM playlist WHERE name = ?1
                    UNION ALL SELECT (
                        SELECT min(account) FROM playlist WHERE name = ?1 AND account > next.account)
                    FROM next WHERE next.account NOT NULL)
                SELECT account FROM next WHERE account NOT NULL
                """, [.text(name)]
            ) { AccountID(stored: $0.text(0)) })
    }

    /// Returns photos that were not shown yet, in their order.
    ///
    /// - Parameters:
    ///   - positions: Their positions.
    ///   - limit: The maximum number of photos.
    /// - Returns: The photos, and the round of the first one.
    /// - Throws: ``StorageError``.
    func waiting(
        _ positions: Range<Int64>, limit: Int
    ) throws(StorageError) -> (entries: [Playlist.Entry], round: Int64?) {
        var round: Int64?
        let entries = try database.all(
            """
            SELECT position, account, photo, round FROM playlist
            WHERE name = ? AND position >= ? AND position < ? AND pass > 0 ORDER BY position LIMIT ?
            """,
            [
                .text(name), .integer(positions.lowerBound), .integer(positions.upperBound),
                .integer(limit),
            ]
        ) { row in
            round = round ?? row.integer(3)
            return Playlist.Entry(position: row.integer(0), id: CombinedPhotoID(row, 1))
        }
        return (entries, round)
    }

    // MARK: Writing

    /// Stores a playlist and its changes.
    ///
    /// - Returns: The number of photos that got a position.
    /// - Throws: ``StorageError``.
    func write(_ new: Playlist, replacing old: Playlist) throws(StorageError) -> Int {
        var added = 0
        for change in new.changes { added += try apply(change, new) }
        if new.entries != old.entries {
            let (before, after) = (Set(old.entries), Set(new.entries))
            for entry in before.subtracting(after) { try delete([entry.position]) }
            for entry in after.subtracting(before) {
                try query(
                    "INSERT OR REPLACE INTO playlist (name, position, account, photo) VALUES (?, ?, ?, ?)",
                    [.integer(entry.position)] + entry.id.values)
            }
        }
        var values: [SQLValue] = [
            .text(new.settings.order), .integer(new.position), .integer(new.sourceIndex),
            .text(new.cursor), .integer(new.round), .integer(new.hideNumber),
            .text(new.current?.image ?? ""),
        ]
        let photo = new.current?.photo ?? Photo(id: PhotoID(""))
        for property in PhotoProperty.all { property.append(photo, &values) }
        let places = Array(repeating: "?", count: values.count).joined(separator: ", ")
        try query("INSERT OR REPLACE INTO playlist_state VALUES (?, \(places))", values)
        return added
    }

    private func apply(_ change: Playlist.Change, _ new: Playlist) throws(StorageError) -> Int {
        switch change {
        case .taken(let id, let key):
            let round = new.round + 1
            let position = Playlist.positions(round).lowerBound + key
            // The page that contains the photo may not have been read yet.
            try query(
                """
                INSERT INTO playlist (name, account, photo, position, round, pass)
                VALUES (?1, ?2, ?3, ?4, ?5, coalesce((
                    SELECT pass FROM playlist
                    WHERE name = ?1 AND account = ?2 AND photo = ?3 AND round = ?5 - 1), 0))
                ON CONFLICT (name, account, photo, round) DO NOTHING
                """, id.values + [.integer(position), .integer(round)])
            try query(
                "DELETE FROM playlist WHERE name = ? AND account = ? AND photo = ? AND round < ?",
                id.values + [.integer(round)])
        case .passed(let positions): try delete(positions)
        case .added(let account, let photos, let positions, let pass):
            return try add(account, photos, positions, pass, new.round)
        case .sized(let account, let photos, let positions):
            return try add(account, photos, positions, nil, new.round)
        case .appended(let id): try enqueue(id, "max(position) + 1", new.round)
        case .prepended(let ids):
            for id in ids.reversed() { try enqueue(id, "min(position) - 1", new.round) }
        case .removed(let ids):
            for id in ids {
                try query(
                    "DELETE FROM playlist WHERE name = ? AND account = ? AND photo = ?",
                    id.values)
            }
        case .missed(let account, let pass):
            try query(
                "DELETE FROM playlist WHERE name = ? AND account = ? AND round IS NOT NULL AND pass < ?",
                [.text(account.text), .integer(pass)])
        case .read(let account, let part):
            try query(
                "INSERT OR REPLACE INTO playlist_part VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    .text(account.text), .text(part.edition), .text(part.cursor),
                    .bool(part.hasEnded), .integer(part.pass), .text(part.top?.text),
                ])
        case .left(let account):
            try query(
                "DELETE FROM playlist WHERE name = ? AND account = ? AND round IS NOT NULL",
                [.text(account.text)])
            try query(
                "DELETE FROM playlist_part WHERE name = ? AND account = ?", [.text(account.text)])
        case .walked: try query("DELETE FROM playlist_part WHERE name = ?")
        case .cleared:
            try query("DELETE FROM playlist WHERE name = ? AND round IS NOT NULL")
            try query("DELETE FROM playlist_part WHERE name = ?")
        case .roundBegan: try beginRound(new.round)
        }
        return 0
    }

    /// Adds photos that are unknown, and gives positions to those that have none.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - photos: The photos.
    ///   - positions: Their positions; nil for photos of unknown size.
    ///   - pass: The pass in which the photos were found; nil to add no photo.
    ///   - round: The round.
    /// - Returns: The number of photos that got a position.
    /// - Throws: ``StorageError``.
    private func add(
        _ account: AccountID, _ photos: [PhotoID], _ positions: [Int64?], _ pass: Int64?,
        _ round: Int64
    ) throws(StorageError) -> Int {
        var added = 0
        for (photo, position) in zip(photos, positions) {
            let id = CombinedPhotoID(account, photo).values
            if let position {
                try query(
                    """
                    UPDATE playlist SET position = ?4, round = ?5
                    WHERE name = ?1 AND account = ?2 AND photo = ?3 AND position IS NULL
                    """, id + [.integer(position), .integer(round)])
                added += database.changedRows
            }
            guard let pass else { continue }
            try query(
                """
                UPDATE playlist SET pass = ?4
                WHERE name = ?1 AND account = ?2 AND photo = ?3 AND round IS NOT NULL
                """, id + [.integer(pass)])
            guard database.changedRows == 0 else { continue }
            try query(
                "INSERT INTO playlist (name, account, photo, position, round, pass) VALUES (?, ?, ?, ?, ?, ?)",
                id + [.integer(position), .integer(round), .integer(pass)])
            if position != nil { added += 1 }
        }
        return added
    }

    /// Adds a photo before or after all others that were not shown yet, in the order of the source.
    private func enqueue(
        _ id: CombinedPhotoID, _ position: String, _ round: Int64
    ) throws(StorageError) {
        try query(
            """
            INSERT OR REPLACE INTO playlist (name, account, photo, position, round)
            VALUES (?1, ?2, ?3, coalesce((
                SELECT \(position) FROM playlist WHERE name = ?1 AND position >= ?4), ?5), ?6)
            """,
            id.values + [
                .integer(Playlist.waiting.lowerBound), .integer(Playlist.middle), .integer(round),
            ])
    }

    private func beginRound(_ round: Int64) throws(StorageError) {
        let (old, new) = (Playlist.positions(round - 1), Playlist.positions(round))
        // Photos that a client selected and that were not found in the source.
        try query("DELETE FROM playlist WHERE name = ? AND pass = 0")
        // Hidden photos were not shown.
        try query(
            """
            UPDATE playlist SET round = ?2, position = position + ?3
            WHERE name = ?1 AND position >= ?4 AND position < ?5
            """,
            [
                .integer(round), .integer(new.lowerBound - old.lowerBound),
                .integer(old.lowerBound), .integer(old.upperBound),
            ])
    }

    private func delete(_ positions: [Int64]) throws(StorageError) {
        for position in positions {
            try query("DELETE FROM playlist WHERE name = ? AND position = ?", [.integer(position)])
        }
    }

    /// Deletes the playlist.
    func delete() throws(StorageError) {
        for table in ["playlist", "playlist_part", "playlist_state"] {
            try query("DELETE FROM \(table) WHERE name = ?")
        }
    }

    /// Runs a statement whose first parameter is the name.
    private func query(_ sql: String, _ values: [SQLValue] = []) throws(StorageError) {
        try database.query(sql, [.text(name)] + values)
    }
}
