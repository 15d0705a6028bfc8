internal import ProviderKit
internal import Storage

/// The users of this computer's photos, as far as we know them: names of our own, not the system's users.
struct LocalUsers: Sendable {
    /// A user who was registered.
    struct User: Sendable {
        let number: Int64
        /// As it was registered.
        let name: String
        /// The hash of the password; nil for a user without one.
        let password: String?
    }

    private let database: DatabaseQueue

    init(_ database: DatabaseQueue) { self.database = database }

    /// Adds a user.
    ///
    /// - Parameters:
    ///   - name: What nobody is called yet.
    ///   - password: The hash of the password; nil for a user without one.
    /// - Throws: `ProviderError.userExists` when somebody has the name.
    func register(_ name: UserName, password: String?) async throws {
        try await database.run { database in
            try database.query(
                "INSERT OR IGNORE INTO user (key, name, password) VALUES (?, ?, ?)",
                [.text(name.key), .text(name.text), .text(password)])
            guard database.changedRows > 0 else {
                throw ProviderError.userExists(
                    "There is a user \(name.text) already; log in without registering, or choose "
                        + "another name.")
            }
        }
    }

    /// The user of a name, however it is written; nil if there is none.
    func find(_ name: UserName) async throws -> User? {
        try await database.run { database in
            try database.first(
                "SELECT number, name, password FROM user WHERE key = ?", [.text(name.key)]
            ) { User(number: $0.integer(0), name: $0.text(1), password: $0.optionalText(2)) }
        }
    }

    /// Deletes a user with their likes, and leaves nothing of the password in the file.
    func remove(_ name: UserName) async throws {
        try await database.run { database in
            try database.transaction { () throws(StorageError) in
                try database.query("DELETE FROM user WHERE key = ?", [.text(name.key)])
                try LocalLikeStore.deleteUnliked(database)
            }
            // What is deleted is deleted, be the disk too full to prove it.
            try? database.scrub()
        }
    }
}
