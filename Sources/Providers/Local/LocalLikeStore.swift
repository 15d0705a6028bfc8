internal import Storage

/// The stored likes of all local users.
struct LocalLikeStore: Sendable {
    /// The stored data, without the contents and locations of the liked files.
    struct Contents: Sendable {
        /// The number of each user, by ``UserName/key``.
        var users: [String: Int64] = [:]
        var liked: [(number: Int64, row: Int64?, users: Set<Int64>)] = []
    }

    /// A like that moves from one record to another of the same content.
    struct Transfer: Hashable, Sendable {
        let user: Int64
        let from: Int64
        let to: Int64
    }

    /// The value of the column `file` for a file that is gone.
    private static let noRow: Int64 = 0

    private let database: DatabaseQueue

    init(_ database: DatabaseQueue) { self.database = database }

    func read() async throws -> Contents {
        let contents = try await database.run { database in
            var contents = Contents()
            try database.query("SELECT key, number FROM user") { row throws(StorageError) in
                contents.users[row.text(0)] = row.integer(1)
            }
            try database.query(
                "SELECT liked, file, user FROM favourite JOIN liked ON number = liked ORDER BY liked"
            ) { row throws(StorageError) in
                let number = row.integer(0)
                if contents.liked.last?.number != number {
                    contents.liked.append((number, Self.row(row.integer(1)), []))
                }
                contents.liked[contents.liked.count - 1].users.insert(row.integer(2))
            }
            return contents
        }
        // The database is not needed again before a login or a like.
        await database.close()
        return contents
    }

    func user(_ key: String) async throws -> Int64? {
        try await database.run { database in
            try database.first("SELECT number FROM user WHERE key = ?", [.text(key)]) {
                $0.integer(0)
            }
        }
    }

    /// Stores the like of a user. It replaces likes of the same content whose files are gone.
    ///
    /// - Parameters:
    ///   - user: The number of the user.
    ///   - file: A stored record, or a new one, which is stored.
    /// - Returns: The number of the record, and the records that the user does not like any more.
    /// - Throws: `StorageError`.
    func add(
        _ user: Int64, _ file: LikedFile
    ) async throws -> (number: Int64, replaced: [Int64]) {
        try await database.run { database in
            try database.transaction { () throws(StorageError) in
                var number = file.number
                if number == 0 {
                    try database.query(
                        """
                        INSERT INTO liked (digest, size, file, path, modified, inode, birth, taken)
                        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                        """, Self.values(file))
                    number =
                        try database.first("SELECT last_insert_rowid()") { $0.integer(0) } ?? 0
                }
                try database.query(
                    "INSERT OR IGNORE INTO favourite VALUES (?, ?)",
                    [.integer(user), .integer(number)])
                let replaced = try Self.removeGone(user, sameAs: number, database)
                return (number, replaced)
            }
        }
    }

    /// Removes the like of a user, and the likes of the same content whose files are gone. Otherwise, one of them would
    /// restore the like.
    ///
    /// - Parameters:
    ///   - user: The number of the user.
    ///   - number: The number of the record.
    /// - Returns: The other records that the user does not like any more.
    /// - Throws: `StorageError`.
    func remove(_ user: Int64, _ number: Int64) async throws -> [Int64] {
        try await database.run { database in
            try database.transaction { () throws(StorageError) in
                let removed = try Self.removeGone(user, sameAs: number, database)
                try database.query(
                    "DELETE FROM favourite WHERE user = ? AND liked = ?",
                    [.integer(user), .integer(number)])
                try Self.deleteUnliked(database)
                return removed
            }
        }
    }

    private static func removeGone(
        _ user: Int64, sameAs number: Int64, _ database: Database
    ) throws(StorageError) -> [Int64] {
        var removed: [Int64] = []
        try database.query(
            """
            SELECT other.number FROM liked JOIN liked AS other
                ON other.digest = liked.digest AND other.size = liked.size
            WHERE liked.number = ?1 AND other.number <> ?1 AND other.file = ?2
                AND EXISTS (SELECT 1 FROM favourite WHERE user = ?3 AND liked = other.number)
            """, [.integer(number), .integer(noRow), .integer(user)]
        ) { row throws(StorageError) in removed.append(row.integer(0)) }
        for other in removed {
            try database.query(
                "DELETE FROM favourite WHERE user = ? AND liked = ?",
                [.integer(user), .integer(other)])
        }
        if !removed.isEmpty { try deleteUnliked(database) }
        return removed
    }

    /// Removes the rows of all records. Paths and stamps stay, so that files that reappear are not read again.
    func forgetLocations() async throws {
        try await database.run { database in
            try database.query("UPDATE liked SET file = ?", [.integer(Self.noRow)])
        }
    }

    /// Sets the row of each record whose file is not gone to the row of its path in a new index.
    ///
    /// - Returns: The rows, by the number of the record.
    /// - Throws: `StorageError`.
    func resetLocations() async throws -> [Int64: Int64] {
        try await database.run { database in
            try database.transaction { () throws(StorageError) in
                var rows: [Int64: Int64] = [:]
                try database.query(
                    "SELECT number, path FROM liked WHERE file <> ?", [.integer(Self.noRow)]
                ) { row throws(StorageError) in
                    rows[row.integer(0)] = PictureIndex.firstRow(
                        of: RelativePath(bytes: row.blob(1)))
                }
                for (number, row) in rows {
                    try database.query(
                        "UPDATE liked SET file = ? WHERE number = ?",
                        [.integer(row), .integer(number)])
                }
                return rows
            }
        }
    }

    /// Returns the records of these numbers that exist.
    func files(_ numbers: some Sequence<Int64> & Sendable) async throws -> [LikedFile] {
        try await database.run { database in
            try numbers.sorted().compactMap { number in
                try database.first(
                    """
                    SELECT number, digest, size, file, path, modified, inode, birth, taken
                    FROM liked WHERE number = ?
                    """, [.integer(number)], Self.file)
            }
        }
    }

    /// Returns the numbers of the records that have the same content as given ones.
    ///
    /// - Parameter files: The records whose content is searched for.
    /// - Returns: For the number of each of these records, the other records of its content.
    /// - Throws: `StorageError`.
    func sameContent(as files: [LikedFile]) async throws -> [Int64: [Int64]] {
        try await database.run { database in
            var numbers: [Int64: [Int64]] = [:]
            for file in files {
                try database.query(
                    """
                    SELECT number FROM liked WHERE digest = ? AND size = ? AND number <> ?
                    ORDER BY number
                    """,
                    [
                        .blob(file.content.bytes), .integer(file.content.stamp.sizeBytes),
                        .integer(file.number),
                    ]
                ) { row throws(StorageError) in
                    numbers[file.number, default: []].append(row.integer(0))
                }
            }
            return numbers
        }
    }

    /// Stores a reconciliation.
    ///
    /// - Parameters:
    ///   - files: The records that have changed.
    ///   - transfers: The likes that move to other records.
    /// - Throws: `StorageError`.
    func update(_ files: [LikedFile], _ transfers: Set<Transfer>) async throws {
        guard !files.isEmpty || !transfers.isEmpty else { return }
        try await database.run { database in
            try database.transaction { () throws(StorageError) in
                for file in files {
                    try database.query(
                        """
                        UPDATE liked SET digest = ?, size = ?, file = ?, path = ?, modified = ?,
                            inode = ?, birth = ?, taken = ?
                        WHERE number = ?
                        """, Self.values(file) + [.integer(file.number)])
                }
                for transfer in transfers {
                    try database.query(
                        "UPDATE OR IGNORE favourite SET liked = ? WHERE user = ? AND liked = ?",
                        [.integer(transfer.to), .integer(transfer.user), .integer(transfer.from)])
                }
                if !transfers.isEmpty { try Self.deleteUnliked(database) }
            }
        }
    }

    /// Deletes the records that no user likes any more.
    static func deleteUnliked(_ database: Database) throws(StorageError) {
        try database.query(
            "DELETE FROM liked WHERE NOT EXISTS (SELECT 1 FROM favourite WHERE liked = number)")
    }

    // MARK: Rows

    private static func row(_ file: Int64) -> Int64? { file == noRow ? nil : file }

    private static func file(_ row: borrowing Row) -> LikedFile {
        LikedFile(
            number: row.integer(0), row: Self.row(row.integer(3)),
            path: RelativePath(bytes: row.blob(4)),
            content: FileDigest(
                bytes: row.blob(1),
                stamp: FileStamp(
                    inode: row.integer(6), sizeBytes: row.integer(2), modified: row.integer(5)),
                birth: row.optionalInteger(7), changed: 0,
                taken: row.optionalText(8).flatMap(CaptureTime.init)))
    }

    private static func values(_ file: LikedFile) -> [SQLValue] {
        let stamp = file.content.stamp
        return [
            .blob(file.content.bytes), .integer(stamp.sizeBytes), .integer(file.row ?? noRow),
            .blob(file.path.bytes), .integer(stamp.modified), .integer(stamp.inode),
            file.content.birth.map { .integer($0) } ?? .null, .text(file.content.taken?.text),
        ]
    }
}
