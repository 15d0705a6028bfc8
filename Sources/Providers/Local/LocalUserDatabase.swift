internal import Logging
internal import Storage

/// What is kept of local users and must not be lost: who they are, and what they like.
enum LocalUserDatabase {
    static let migrations = [
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
        """
        CREATE TABLE liked (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            -- SHA-256 of the file, and its size in bytes: what it is known by wherever it turns up
            digest BLOB NOT NULL,
            size INTEGER NOT NULL,
            -- What the file was when it was seen last, so that it need not be read again: the row of the
            -- index, the path below the pictures folder, when it was changed
            file INTEGER NOT NULL,
            path BLOB NOT NULL,
            modified INTEGER NOT NULL
        );
        CREATE TABLE favourite (
            user INTEGER NOT NULL REFERENCES user (number) ON DELETE CASCADE,
            liked INTEGER NOT NULL REFERENCES liked (number) ON DELETE CASCADE,
            PRIMARY KEY (user, liked)
        ) WITHOUT ROWID;
        CREATE INDEX favourite_by_liked ON favourite (liked);
        """,
        """
        -- The properties by which an edited file is recognized: inode, time of creation in nanoseconds
        -- since 1970, capture time
        ALTER TABLE liked ADD COLUMN inode INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE liked ADD COLUMN birth INTEGER;
        ALTER TABLE liked ADD COLUMN taken TEXT;
        CREATE INDEX liked_by_digest ON liked (digest);
        -- So that all files are read once for these properties
        UPDATE liked SET modified = 0;
        """,
    ]

    /// A damaged file is set aside and begun anew.
    ///
    /// - Parameters:
    ///   - folder: The data folder, only for the user.
    ///   - logger: Told of a file that was damaged.
    /// - Returns: The database, which is opened when it is first needed.
    static func queue(folder: String, logger: Logger) -> DatabaseQueue {
        DatabaseQueue(label: "household") {
            let (database, _, damaged) = try Database.open(
                preserving: "\(folder)/local.sqlite", migrations
            ) { database throws(StorageError) in
                try database.first("SELECT count(*) FROM user") { $0.integer(0) }
            }
            if let error = database.writeError {
                logger.warning(
                    "Local users and their likes cannot be changed",
                    metadata: ["reason": "\(error)"])
            }
            if let damaged {
                logger.error(
                    "The file of local users was damaged, and a new one is begun",
                    metadata: ["kept": "\(damaged)"])
            }
            return database
        }
    }
}
