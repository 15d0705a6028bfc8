internal import Accounts
internal import ProviderKit
internal import Storage

/// The parts of the source, and the photos of them that were read.
nonisolated extension SlideshowTables {
    /// The position up to which the photos of a part were read.
    struct PartState: Hashable, Sendable {
        var source: SourceID
        /// The cursor of the next page; empty for the first one.
        var cursor = ""
        /// True if the last page of this pass was read.
        var hasEnded = false
        /// The number of times that reading began at the top.
        var pass = 1
        /// The newest photo of the part when its top was last read, without shuffle.
        var top: PhotoID?

        /// Continues at the top.
        mutating func beginPass() {
            cursor = ""
            hasEnded = false
            pass += 1
        }
    }

    /// A change that is stored together with a change of the state.
    enum Change: Hashable, Sendable {
        /// A photo was shown, or is skipped, in this round.
        case shown(CombinedPhotoID)
        /// Photos no longer exist, or left the source.
        case removed(Set<CombinedPhotoID>)
        /// An account has no photos any more.
        case forget(AccountID)
        /// The source or the order changed.
        case clear
    }

    // MARK: Parts

    func parts() throws(StorageError) -> [AccountID: PartState] {
        let parts = try database.all(
            "SELECT account, source, cursor, has_ended, pass, top FROM part"
        ) { row in
            let part = PartState(
                source: SourceID(row.text(1)), cursor: row.text(2),
                hasEnded: row.integer(3) != 0, pass: Int(row.integer(4)),
                top: row.optionalText(5).map { PhotoID($0) })
            return (AccountID(stored: row.text(0)), part)
        }
        return Dictionary(parts) { $1 }
    }

    func write(_ part: PartState, of account: AccountID) throws(StorageError) {
        try database.query(
            "INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?, ?, ?)",
            [
                .text(account.text), .text(part.source.text), .text(part.cursor),
                .bool(part.hasEnded), .integer(part.pass), .text(part.top?.text),
            ])
    }

    // MARK: Changes

    func apply(_ change: Change, isShuffled: Bool) throws(StorageError) {
        switch change {
        case .shown(let id):
            if isShuffled {
                // The page that contains the photo may not have been read yet.
                try database.query(
                    """
                    INSERT INTO known (account, photo, order_key, pass) VALUES (?, ?, NULL, 0)
                    ON CONFLICT (account, photo) DO UPDATE SET order_key = NULL
                    """, Self.values(id))
            } else {
                try remove(id)
            }
        case .removed(let ids): for id in ids { try remove(id) }
        case .forget(let account):
            for table in Self.sourceTables {
                try database.query("DELETE FROM \(table) WHERE account = ?", [.text(account.text)])
            }
        case .clear: for table in Self.sourceTables { try database.query("DELETE FROM \(table)") }
        }
    }

    private static let sourceTables = ["known", "unsized", "part"]

    private func remove(_ id: CombinedPhotoID) throws(StorageError) {
        try database.query("DELETE FROM known WHERE account = ? AND photo = ?", Self.values(id))
    }

    // MARK: Known photos

    /// The random part of a key. Keys of new photos are smaller by 2^61.
    static let keyRange: Range<Int64> = 0..<1 << 61
    private static let newOffset: Int64 = 1 << 61

    /// Adds the photos of a page, in random order.
    ///
    /// - Parameters:
    ///   - photos: The photos. Those that are known are marked as present in this pass.
    ///   - account: The account.
    ///   - pass: The pass of the part.
    ///   - areNew: True if unknown photos precede the others of the round.
    ///   - random: The source of the keys.
    /// - Returns: The number of photos that were not known.
    /// - Throws: ``StorageError``.
    func add(
        _ photos: [PhotoID], of account: AccountID, pass: Int, areNew: Bool,
        using random: inout some RandomNumberGenerator
    ) throws(StorageError) -> Int {
        var added = 0
        for photo in photos {
            let key = Int64.random(in: Self.keyRange, using: &random)
            let id = CombinedPhotoID(account, photo)
            if try insert(id, areNew ? key - Self.newOffset : key, pass) {
                added += 1
            } else {
                try database.query(
                    "UPDATE known SET pass = ?3 WHERE account = ?1 AND photo = ?2 AND pass <> ?3",
                    Self.values(id) + [.integer(pass)])
            }
        }
        return added
    }

    /// Adds new photos that are shown in the given order before earlier new photos.
    func addInOrder(_ photos: [PhotoID], of account: AccountID) throws(StorageError) {
        let first = try database.integer(
            "SELECT coalesce(min(order_key), 0) FROM known WHERE order_key IS NOT NULL")
        let start = min(0, first ?? 0) - Int64(photos.count)
        for (index, photo) in photos.enumerated() {
            _ = try insert(CombinedPhotoID(account, photo), start + Int64(index), 1)
        }
    }

    /// Adds a photo with its key, unless it is known.
    ///
    /// - Returns: True if it was added.
    private func insert(
        _ id: CombinedPhotoID, _ key: Int64, _ pass: Int
    ) throws(StorageError) -> Bool {
        try database.query(
            """
            INSERT INTO known (account, photo, order_key, pass) VALUES (?, ?, ?, ?)
            ON CONFLICT (account, photo) DO NOTHING
            """, Self.values(id) + [.integer(key), .integer(pass)])
        return database.changedRows > 0
    }

    /// Removes the photos that were not found in a pass, because they left the source.
    func removeMissing(of account: AccountID, pass: Int) throws(StorageError) {
        for table in ["known", "unsized"] {
            try database.query(
                "DELETE FROM \(table) WHERE account = ? AND pass < ?",
                [.text(account.text), .integer(pass)])
        }
    }

    // MARK: Photos of unknown size

    func addUnsized(
        _ photos: [PhotoID], of account: AccountID, pass: Int
    ) throws(StorageError) {
        for photo in photos {
            try database.query(
                "INSERT OR REPLACE INTO unsized VALUES (?, ?, ?)",
                [.text(account.text), .text(photo.text), .integer(pass)])
        }
    }

    /// Removes photos from those of unknown size.
    ///
    /// - Returns: The photos that were removed.
    func takeUnsized(
        _ photos: [PhotoID], of account: AccountID
    ) throws(StorageError) -> [PhotoID] {
        var taken: [PhotoID] = []
        for photo in photos {
            try database.query(
                "DELETE FROM unsized WHERE account = ? AND photo = ?",
                [.text(account.text), .text(photo.text)])
            if database.changedRows > 0 { taken.append(photo) }
        }
        return taken
    }

    // MARK: The round

    /// Returns the next photos of the round that are not hidden.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of photos.
    ///   - accounts: The accounts of the photos; nil for all.
    /// - Returns: The photos, in the order of the round.
    /// - Throws: ``StorageError``.
    func candidates(
        limit: Int, of accounts: Set<AccountID>? = nil
    ) throws(StorageError) -> [CombinedPhotoID] {
        var found: [CombinedPhotoID] = []
        for account in accounts.map({ $0.map(\.text) }) ?? [""] {
            found += try database.all(
                """
                SELECT account, photo FROM known
                WHERE order_key IS NOT NULL AND (?1 = '' OR account = ?1) AND NOT EXISTS (
                    SELECT 1 FROM hidden
                    WHERE hidden.account = known.account AND hidden.photo = known.photo)
                ORDER BY order_key LIMIT ?2
                """, [.text(account), .integer(limit)]
            ) { Self.id($0, 0) }
        }
        return found
    }

    /// Begins a new round: all photos that were found in the source get a new random key.
    ///
    /// - Returns: The number of known photos.
    func beginRound(using random: inout some RandomNumberGenerator) throws(StorageError) -> Int {
        // Photos that were shown in the last round and not found in the source.
        try database.query("DELETE FROM known WHERE pass = 0")
        let numbers = try database.all("SELECT number FROM known ORDER BY number") { $0.integer(0) }
        for number in numbers {
            try database.query(
                "UPDATE known SET order_key = ? WHERE number = ?",
                [.integer(.random(in: Self.keyRange, using: &random)), .integer(number)])
        }
        return numbers.count
    }
}
