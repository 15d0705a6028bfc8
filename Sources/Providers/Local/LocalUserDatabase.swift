internal import Logging
internal import Storage

/// The database of the local users and their marks, which must not be lost.
enum LocalUserDatabase {
    static let migrations: KeyValuePairs = [
        3: """
        CREATE TABLE user (
            -- Numbers are never reused
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            -- The name in the form for comparisons
            key TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            -- A hash in the format of crypt(5); NULL for a user without a password
            password TEXT
        );
        CREATE TABLE liked (
            number INTEGER PRIMARY KEY, digest BLOB, size INTEGER, file INTEGER, path BLOB,
            modified INTEGER);
        CREATE TABLE favourite (user INTEGER, liked INTEGER);
        """,
        5: """
        -- The photos that users have marked. The ID of a photo, which is also its row in the index, never changes.
        CREATE TABLE marked (
            id INTEGER PRIMARY KEY,
            -- The last known file: the path below the pictures folder, the stamp, the SHA-256, which is empty
            -- before the file was read, the time of creation in nanoseconds since 1970, and the capture time
            path BLOB NOT NULL,
            inode INTEGER NOT NULL,
            size INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            digest BLOB NOT NULL,
            birth INTEGER,
            taken TEXT
        );
        CREATE INDEX marked_by_digest ON marked (digest);
        CREATE TABLE mark (
            user INTEGER NOT NULL REFERENCES user (number) ON DELETE CASCADE,
            photo INTEGER NOT NULL REFERENCES marked (id) ON DELETE CASCADE,
            kind TEXT NOT NULL,
            PRIMARY KEY (user, photo, kind)
        ) WITHOUT ROWID;
        CREATE INDEX mark_by_photo ON mark (photo);
        -- A file that is gone has no row, and gets an ID that no other photo has.
        ALTER TABLE liked ADD COLUMN photo INTEGER;
        UPDATE liked SET photo = CASE WHEN file <> 0 AND number =
            (SELECT min(number) FROM liked AS other WHERE other.file = liked.file)
            THEN file ELSE -number END;
        -- Without an inode and a time, all files are read once to get the other properties.
        INSERT INTO marked SELECT photo, path, 0, size, 0, digest, NULL, NULL FROM liked;
        INSERT INTO mark SELECT user, photo, 'like' FROM favourite JOIN liked ON number = liked;
        DROP TABLE favourite;
        DROP TABLE liked;
        """,
    ]

    /// Creates the database queue. A damaged file is moved aside, and a new database is created.
    ///
    /// - Parameters:
    ///   - folder: The data folder, which is private to the user.
    ///   - logger: Receives problems with the file.
    /// - Returns: The queue. It opens the database on first use.
    static func queue(folder: String, logger: Logger) -> DatabaseQueue {
        DatabaseQueue(label: "local-users") {
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
                    "The database of local users was damaged; it was renamed, and a new one was created",
                    metadata: ["kept": "\(damaged)"])
            }
            return database
        }
    }
}
