internal import ProviderKit
internal import Storage

/// The registered local users. They are users of Image Feed, not of the operating system.
struct LocalUsers: Sendable {
    /// A registered user.
    struct User: Sendable {
        let number: Int64
        /// The name as it was registered.
        let name: String
        /// The hash of the password; nil for a user without one.
        let password: String?
    }

    private let database: DatabaseQueue

    init(_ database: DatabaseQueue) { self.database = database }

    /// Adds a user.
    ///
    /// - Parameters:
    ///   - name: A name that is not in use.
    ///   - password: The hash of the password; nil for a user without one.
    /// - Throws: `ProviderError.userExists` if the name is in use.
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

    /// Returns the user with a name in any spelling; nil if there is none.
    func find(_ name: UserName) async throws -> User? {
        try await database.run { database in
            try database.first(
                "SELECT number, name, password FROM user WHERE key = ?", [.text(name.key)]
            ) { User(number: $0.integer(0), name: $0.text(1), password: $0.optionalText(2)) }
        }
    }

    /// Deletes a user with their marks, and erases the password hash from the file.
    func remove(_ name: UserName) async throws {
        try await database.run { database in
            try database.transaction { () throws(StorageError) in
                try database.query("DELETE FROM user WHERE key = ?", [.text(name.key)])
                try LocalMarks.deleteUnmarked(database)
            }
            // Best effort: VACUUM may fail on a full disk; the rows are gone.
            try? database.scrub()
        }
    }
}
