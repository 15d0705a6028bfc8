internal import ProviderKit
internal import Storage

/// What the user wants to like or unlike, until the service has confirmed it.
nonisolated struct LikeWish: Hashable, Sendable {
    let photo: PhotoID
    var isWanted: Bool
}

/// What is kept of an account's likes: what the service does not know, or not yet.
nonisolated struct LikeRecords: Sendable {
    /// What is to be sent, in its order.
    var wishes: [LikeWish] = []
    /// What counts here alone, the latest last, since the service offers no likes.
    var local: [LikeWish] = []
    /// When the service was asked last whether it offers likes; nil if it does.
    var unavailableSince: Timestamp?
}

/// The likes on the disk, beside the accounts: none that was asked for is lost.
nonisolated struct LikeStore: Sendable {
    /// What brings the account store up to what is needed here.
    static let migration = """
        CREATE TABLE like_wish (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
            photo TEXT NOT NULL,
            is_wanted INTEGER NOT NULL,
            UNIQUE (account, photo)
        );
        CREATE TABLE local_like (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
            photo TEXT NOT NULL,
            UNIQUE (account, photo)
        );
        -- Accounts whose service offers no likes, and when it was asked last.
        CREATE TABLE likes_unavailable (
            account TEXT PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
            asked INTEGER NOT NULL
        ) WITHOUT ROWID;
        """

    /// What was kept of likes alone is kept of their ends, too.
    static let secondMigration = """
        ALTER TABLE local_like ADD COLUMN is_wanted INTEGER NOT NULL DEFAULT 1;
        """

    let database: DatabaseQueue
    let account: AccountID

    func read() async throws -> LikeRecords {
        try await database.run { [account] database in
            var records = LikeRecords()
            try database.query(
                "SELECT photo, is_wanted FROM like_wish WHERE account = ? ORDER BY number",
                [.text(account.text)]
            ) { row throws(StorageError) in
                records.wishes.append(
                    LikeWish(photo: PhotoID(row.text(0)), isWanted: row.integer(1) != 0))
            }
            try database.query(
                "SELECT photo, is_wanted FROM local_like WHERE account = ? ORDER BY number",
                [.text(account.text)]
            ) { row throws(StorageError) in
                records.local.append(
                    LikeWish(photo: PhotoID(row.text(0)), isWanted: row.integer(1) != 0))
            }
            records.unavailableSince = try database.first(
                "SELECT asked FROM likes_unavailable WHERE account = ?", [.text(account.text)]
            ) { Timestamp(secondsSince1970: $0.integer(0)) }
            return records
        }
    }

    /// Stores a wish, in the place of an earlier one for the photo.
    func add(_ wish: LikeWish) async throws {
        try await database.run { [account] database in
            try database.query(
                "INSERT OR REPLACE INTO like_wish (account, photo, is_wanted) VALUES (?, ?, ?)",
                [.text(account.text), .text(wish.photo.text), .bool(wish.isWanted)])
        }
    }

    /// Forgets a wish, unless another one for the photo has taken its place.
    func remove(_ wish: LikeWish) async throws {
        try await database.run { [account] database in
            try database.query(
                "DELETE FROM like_wish WHERE account = ? AND photo = ? AND is_wanted = ?",
                [.text(account.text), .text(wish.photo.text), .bool(wish.isWanted)])
        }
    }

    /// Turns a wish into what counts here alone, since the service offers no likes. What the opposite one has
    /// changed here is as it was then.
    func settleLocally(_ wish: LikeWish, asked: Timestamp) async throws {
        try await database.run { [account] database in
            try database.transaction { () throws(StorageError) in
                try database.query(
                    "DELETE FROM like_wish WHERE account = ? AND photo = ?",
                    [.text(account.text), .text(wish.photo.text)])
                try database.query(
                    "DELETE FROM local_like WHERE account = ? AND photo = ? AND is_wanted = ?",
                    [.text(account.text), .text(wish.photo.text), .bool(!wish.isWanted)])
                if database.changedRows == 0 {
                    try database.query(
                        """
                        INSERT OR IGNORE INTO local_like (account, photo, is_wanted)
                            VALUES (?, ?, ?)
                        """,
                        [.text(account.text), .text(wish.photo.text), .bool(wish.isWanted)])
                }
                try database.query(
                    "INSERT OR REPLACE INTO likes_unavailable VALUES (?, ?)",
                    [.text(account.text), .integer(asked.secondsSince1970)])
            }
        }
    }

    /// Turns what counts here alone into wishes, since the service may offer likes again.
    func resumeSending() async throws {
        try await database.run { [account] database in
            try database.transaction { () throws(StorageError) in
                try database.query(
                    """
                    INSERT OR IGNORE INTO like_wish (account, photo, is_wanted)
                        SELECT account, photo, is_wanted FROM local_like
                        WHERE account = ? ORDER BY number
                    """, [.text(account.text)])
                for table in ["local_like", "likes_unavailable"] {
                    try database.query(
                        "DELETE FROM \(table) WHERE account = ?", [.text(account.text)])
                }
            }
        }
    }

    /// Forgets everything: the account is logged out.
    func clear() async throws {
        try await database.run { [account] database in
            try database.transaction { () throws(StorageError) in
                for table in ["like_wish", "local_like", "likes_unavailable"] {
                    try database.query(
                        "DELETE FROM \(table) WHERE account = ?", [.text(account.text)])
                }
            }
            // What is deleted is deleted, be the disk too full to prove it.
            try? database.scrub()
        }
    }
}
