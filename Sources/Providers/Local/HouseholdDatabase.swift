internal import Storage

/// What is kept of local users and must not be lost: who they are, and what they like.
enum HouseholdDatabase {
    private static let migrations = [
        """
        CREATE TABLE user (
            -- The name in the form in which names are compared
            key TEXT PRIMARY KEY,
            name TEXT NOT NULL
        ) WITHOUT ROWID;
        """,
        """
        CREATE TABLE person (
            -- Never used again
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            key TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            -- As crypt(5) writes it; NULL for a user without one
            password TEXT
        );
        INSERT INTO person (key, name) SELECT key, name FROM user;
        DROP TABLE user;
        ALTER TABLE person RENAME TO user;
        """,
    ]

    /// - Parameter folder: The data folder, only for the user.
    /// - Returns: The database, which is opened when it is first needed.
    static func queue(folder: String) -> DatabaseQueue {
        DatabaseQueue(label: "household") {
            try PrivateFolder.create(folder)
            let database = try Database(path: "\(folder)/local.sqlite", durability: .full)
            try database.migrate(migrations)
            return database
        }
    }
}
