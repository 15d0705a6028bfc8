internal import Storage

/// What is kept of a photo that somebody likes.
struct Keepsake: Sendable, Equatable {
    /// Names it in the store; 0 before it is there.
    var number: Int64 = 0
    /// What the file held, and how many bytes: by that it is known wherever it turns up.
    var digest: [UInt8]
    var size: Int64
    /// What the file was when it was seen last: its row in the index, its path, when it was changed.
    var row: Int64
    var path: RelativePath
    var modified: Int64
}

/// The likes of all local users, on the disk.
struct FavouriteStore: Sendable {
    /// Everything but the keepsakes.
    struct Contents: Sendable {
        /// The number of each user, by ``UserName/key``.
        var users: [String: Int64] = [:]
        var liked: [(number: Int64, row: Int64, users: Set<Int64>)] = []
    }

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
                    contents.liked.append((number, row.integer(1), []))
                }
                contents.liked[contents.liked.count - 1].users.insert(row.integer(2))
            }
            return contents
        }
        // Until somebody logs in or likes something, nobody needs it again.
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

    /// Notes that a user likes a photo.
    ///
    /// - Parameters:
    ///   - user: Their number.
    ///   - keepsake: One that is stored already, or a new one, which is stored then.
    /// - Returns: The number of the keepsake.
    /// - Throws: `StorageError`.
    func add(_ user: Int64, _ keepsake: Keepsake) async throws -> Int64 {
        try await database.run { database in
            try database.transaction { () throws(StorageError) in
                var number = keepsake.number
                if number == 0 {
                    try database.query(
                        """
                        INSERT INTO liked (digest, size, file, path, modified)
                        VALUES (?, ?, ?, ?, ?)
                        """, Self.values(keepsake))
                    number =
                        try database.first("SELECT last_insert_rowid()") { $0.integer(0) } ?? 0
                }
                try database.query(
                    "INSERT OR IGNORE INTO favourite VALUES (?, ?)",
                    [.integer(user), .integer(number)])
                return number
            }
        }
    }

    func remove(_ user: Int64, _ number: Int64) async throws {
        try await database.run { database in
            try database.transaction { () throws(StorageError) in
                try database.query(
                    "DELETE FROM favourite WHERE user = ? AND liked = ?",
                    [.integer(user), .integer(number)])
                try Self.deleteUnliked(database)
            }
        }
    }

    /// Forgets where the files are.
    func loseSight() async throws {
        try await database.run { database in
            try database.execute("UPDATE liked SET file = 0, path = x'', modified = 0")
        }
    }

    /// The keepsakes of these numbers that are there.
    func keepsakes(_ numbers: [Int64]) async throws -> [Keepsake] {
        try await database.run { database in
            try numbers.compactMap { number in
                try database.first(
                    """
                    SELECT number, digest, size, file, path, modified FROM liked
                    WHERE number = ?
                    """, [.integer(number)]
                ) { row in
                    Keepsake(
                        number: row.integer(0), digest: row.blob(1), size: row.integer(2),
                        row: row.integer(3), path: RelativePath(bytes: row.blob(4)),
                        modified: row.integer(5))
                }
            }
        }
    }

    func update(_ keepsakes: [Keepsake]) async throws {
        try await database.run { database in
            try database.transaction { () throws(StorageError) in
                for keepsake in keepsakes {
                    try database.query(
                        """
                        UPDATE liked SET digest = ?, size = ?, file = ?, path = ?, modified = ?
                        WHERE number = ?
                        """, Self.values(keepsake) + [.integer(keepsake.number)])
                }
            }
        }
    }

    /// Deletes what is left of photos that nobody likes any more.
    static func deleteUnliked(_ database: Database) throws(StorageError) {
        try database.query(
            "DELETE FROM liked WHERE NOT EXISTS (SELECT 1 FROM favourite WHERE liked = number)")
    }

    private static func values(_ keepsake: Keepsake) -> [SQLValue] {
        [
            .blob(keepsake.digest), .integer(keepsake.size), .integer(keepsake.row),
            .blob(keepsake.path.bytes), .integer(keepsake.modified),
        ]
    }
}
