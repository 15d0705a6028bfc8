package import Accounts
package import ProviderKit
package import Storage

/// A like or unlike that is stored: one that the service has not confirmed, or one that is stored only locally.
nonisolated package struct PendingLike: Hashable, Sendable {
    package let photo: PhotoID
    /// True for a like, false for an unlike.
    package var isWanted: Bool
}

/// The stored likes of an account.
nonisolated package struct LikeRecords: Sendable {
    /// A pending like.
    package struct Pending: Hashable, Sendable {
        package var like: PendingLike
        /// The time at which it was stored; nil if the cache cannot show that it was confirmed since then.
        var stored: Timestamp?
        /// The photo in the cache, if it is there. It is not stored here.
        package var cached: LikeQueue.CachedLike?

        /// True if the cache shows that the service has confirmed the like.
        var isConfirmed: Bool {
            guard let stored, let cached else { return false }
            return cached.isLiked == like.isWanted && cached.confirmed >= stored
        }
    }

    /// The pending likes, in the order of their delivery.
    package var pending: [Pending] = []
    /// The likes that are stored locally, the latest last.
    var local: [PendingLike] = []
    /// The time of the last check that found the service without likes; nil if it has likes.
    var unavailableSince: Timestamp?
}

/// The likes of an account in the account database. They survive a restart and an abrupt end.
nonisolated package struct LikeStore: Sendable {
    package static let format = TableFormat(
        "likes",
        sql: """
            CREATE TABLE like_wish (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
                photo TEXT NOT NULL,
                is_wanted INTEGER NOT NULL CHECK (is_wanted IN (0, 1)),
                -- The time in seconds since 1970; NULL if the cache cannot show that it was confirmed since then
                stored INTEGER,
                UNIQUE (account, photo)
            );
            -- Likes and unlikes that are stored only here
            CREATE TABLE local_like (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
                photo TEXT NOT NULL,
                is_wanted INTEGER NOT NULL CHECK (is_wanted IN (0, 1)),
                UNIQUE (account, photo)
            );
            -- Accounts whose service has no likes, and the time of the last check
            CREATE TABLE likes_unavailable (
                account TEXT PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
                asked INTEGER NOT NULL
            ) WITHOUT ROWID;
            """)

    package let store: Store
    let account: AccountID

    package init(store: Store, account: AccountID) {
        self.store = store
        self.account = account
    }

    /// Deletes all records, because the account is logged out.
    ///
    /// - Parameter keepsLocalLikes: True if the likes that are stored locally remain.
    /// - Throws: ``StorageError``.
    package func clear(keepsLocalLikes: Bool) async throws {
        try await run { try $0.clear(keepsLocalLikes: keepsLocalLikes) }
        await store.scrub(copiesWith: account.text)
    }

    /// Runs `body` on the records.
    package func run<Value: Sendable>(
        _ body: @escaping @Sendable (LikeTables) throws -> Value
    ) async throws -> Value {
        try await store.run { [account] in
            try body(LikeTables(database: $0, account: account))
        }
    }
}

/// The statements that read and change the stored likes of an account.
nonisolated package struct LikeTables {
    let database: Database
    let account: AccountID

    package func read() throws(StorageError) -> LikeRecords {
        var records = LikeRecords()
        records.pending = try database.all(
            "SELECT photo, is_wanted, stored FROM like_wish WHERE account = ? ORDER BY number",
            [.text(account.text)]
        ) { row in
            LikeRecords.Pending(
                like: Self.like(row),
                stored: row.optionalInteger(2).map(Timestamp.init(secondsSince1970:)))
        }
        records.local = try database.all(
            "SELECT photo, is_wanted FROM local_like WHERE account = ? ORDER BY number",
            [.text(account.text)], Self.like)
        records.unavailableSince = try database.first(
            "SELECT asked FROM likes_unavailable WHERE account = ?", [.text(account.text)]
        ) { Timestamp(secondsSince1970: $0.integer(0)) }
        return records
    }

    private static func like(_ row: borrowing Row) -> PendingLike {
        PendingLike(photo: PhotoID(row.text(0)), isWanted: row.integer(1) != 0)
    }

    package func perform(_ write: LikeQueue.Write) throws(StorageError) {
        switch write {
        case .store(let like, let since):
            try database.query(
                """
                INSERT OR REPLACE INTO like_wish (account, photo, is_wanted, stored)
                    VALUES (?, ?, ?, ?)
                """,
                [
                    .text(account.text), .text(like.photo.text), .bool(like.isWanted),
                    .integer(since?.secondsSince1970),
                ])
        case .withdraw(let like), .remove(let like):
            // A record with the opposite state may have replaced it.
            try database.query(
                "DELETE FROM like_wish WHERE account = ? AND photo = ? AND is_wanted = ?",
                [.text(account.text), .text(like.photo.text), .bool(like.isWanted)])
        case .storeLocally(let like, let checked):
            try database.transaction { () throws(StorageError) in
                try storeLocally(like, checked: checked)
            }
        case .resume:
            try database.transaction { () throws(StorageError) in try resume() }
        }
    }

    /// Turns a pending like into a local one, in place of an earlier one for the photo.
    private func storeLocally(_ like: PendingLike, checked: Timestamp) throws(StorageError) {
        try database.query(
            "DELETE FROM like_wish WHERE account = ? AND photo = ?",
            [.text(account.text), .text(like.photo.text)])
        try database.query(
            "INSERT OR REPLACE INTO local_like (account, photo, is_wanted) VALUES (?, ?, ?)",
            [.text(account.text), .text(like.photo.text), .bool(like.isWanted)])
        try database.query(
            "INSERT OR REPLACE INTO likes_unavailable VALUES (?, ?)",
            [.text(account.text), .integer(checked.secondsSince1970)])
    }

    /// Turns the local likes into pending ones.
    private func resume() throws(StorageError) {
        try database.query(
            """
            INSERT OR IGNORE INTO like_wish (account, photo, is_wanted)
                SELECT account, photo, is_wanted FROM local_like
                WHERE account = ? ORDER BY number
            """, [.text(account.text)])
        for table in ["local_like", "likes_unavailable"] {
            try database.query("DELETE FROM \(table) WHERE account = ?", [.text(account.text)])
        }
    }

    /// Deletes all records, or those of pending likes.
    func clear(keepsLocalLikes: Bool) throws(StorageError) {
        try database.transaction { () throws(StorageError) in
            for table in ["like_wish"]
                + (keepsLocalLikes ? [] : ["local_like", "likes_unavailable"])
            {
                try database.query(
                    "DELETE FROM \(table) WHERE account = ?", [.text(account.text)])
            }
        }
    }
}
