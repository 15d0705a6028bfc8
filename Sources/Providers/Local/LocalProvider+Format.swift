package import Storage

extension LocalProvider {
    /// The tables of the local users and their marks, which must not be lost.
    package static let format = TableFormat(
        "local",
        sql: """
            CREATE TABLE user (
                -- Numbers are never reused
                number INTEGER PRIMARY KEY AUTOINCREMENT
                    CHECK (number BETWEEN 0 AND \(TableFormat.largestNumber)),
                -- The name in the form for comparisons
                key TEXT NOT NULL UNIQUE,
                name TEXT NOT NULL,
                -- A hash in the format of crypt(5); NULL for a user without a password
                password TEXT
            );
            -- The photos that users have marked. The ID of a photo, which is also its row in the index, never changes.
            CREATE TABLE marked (
                id INTEGER PRIMARY KEY,
                -- The last known file: the pictures folder, the path below it, the stamp, and the SHA-256 of the image data
                -- with their number of bytes, which is empty before the file was read
                root BLOB NOT NULL,
                path BLOB NOT NULL,
                inode INTEGER NOT NULL,
                size INTEGER NOT NULL,
                modified INTEGER NOT NULL,
                digest BLOB NOT NULL,
                bytes INTEGER NOT NULL,
                -- 1 if there was no file at the path, or another photo
                is_gone INTEGER NOT NULL DEFAULT 0
            );
            CREATE INDEX marked_by_digest ON marked (digest);
            CREATE TABLE mark (
                user INTEGER NOT NULL REFERENCES user (number) ON DELETE CASCADE,
                photo INTEGER NOT NULL REFERENCES marked (id) ON DELETE CASCADE,
                kind TEXT NOT NULL,
                PRIMARY KEY (user, photo, kind)
            ) WITHOUT ROWID;
            CREATE INDEX mark_by_photo ON mark (photo);
            """)
}
