internal import CGLib
internal import Logging
internal import ProviderKit
internal import Storage
internal import Translation

/// The registered local users. They are users of Image Feed, not of the operating system.
struct LocalUsers: Sendable {
    /// A registered user.
    struct User: Sendable {
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
                    Message(
                        "There is a user {user} already; log in without registering, or choose another name.",
                        ["user": name.text]))
            }
        }
    }

    /// Returns the user with a name in any spelling; nil if there is none.
    func find(_ name: UserName) async throws -> User? {
        try await database.run { database in
            try database.first(
                "SELECT name, password FROM user WHERE key = ?", [.text(name.key)]
            ) { User(name: $0.text(0), password: $0.optionalText(1)) }
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

/// The database of the local users and their marks, which must not be lost.
enum LocalUserDatabase {
    static let migrations = [
        """
        CREATE TABLE user (
            -- The name in the form for comparisons
            key TEXT PRIMARY KEY,
            name TEXT NOT NULL
        ) WITHOUT ROWID;
        """,
        """
        CREATE TABLE person (
            -- Numbers are never reused
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            key TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            -- A hash in the format of crypt(5); NULL for a user without a password
            password TEXT
        );
        INSERT INTO person (key, name) SELECT key, name FROM user;
        DROP TABLE user;
        ALTER TABLE person RENAME TO user;
        """,
        """
        CREATE TABLE liked (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            -- SHA-256 of the file, and its size in bytes: the file is recognized by these anywhere
            digest BLOB NOT NULL,
            size INTEGER NOT NULL,
            -- The last known location, so that the file is not read again: the row in the index, the path
            -- below the pictures folder, and the modification time
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
        -- So that all files are read once to get these properties
        UPDATE liked SET modified = 0;
        """,
        """
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
        INSERT INTO marked SELECT photo, path, inode, size, modified, digest, birth, taken FROM liked;
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
                try database.integer("SELECT count(*) FROM user")
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

/// The name of a local user: 1 to 64 printable characters. Its spelling is preserved.
struct UserName: Sendable {
    let text: String
    /// The form for comparisons. It is equal for names that differ only in case or in Unicode normalization.
    let key: String

    /// The maximum length in bytes, which allows for 64 characters of many code points each.
    private static let maximumBytes = 4096

    /// - Returns: nil for an invalid name.
    init?(_ text: String) {
        let scalars = text.unicodeScalars
        guard 1...64 ~= text.count, text.utf8.count <= Self.maximumBytes,
            scalars.first?.properties.isWhitespace == false,
            scalars.last?.properties.isWhitespace == false, scalars.allSatisfy(Self.isPrintable)
        else { return nil }
        self.text = text
        key = Self.composed(Self.caseless(Self.composed(text)))
    }

    private static func composed(_ text: String) -> String {
        converted(text) { g_utf8_normalize($0, -1, G_NORMALIZE_DEFAULT_COMPOSE) }
    }

    private static func caseless(_ text: String) -> String {
        converted(text) { g_utf8_casefold($0, -1) }
    }

    private static func converted(
        _ text: String, _ convert: (UnsafePointer<CChar>) -> UnsafeMutablePointer<CChar>?
    ) -> String {
        guard let converted = text.withCString(convert) else { return text }
        defer { g_free(converted) }
        return String(cString: converted)
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .surrogate, .unassigned, .lineSeparator, .paragraphSeparator: false
        // Joiners and tags are parts of emoji. Other format characters change the order of the text around them.
        case .format:
            scalar == "\u{200c}" || scalar == "\u{200d}" || ("\u{e0020}"..."\u{e007f}") ~= scalar
        default: true
        }
    }
}
