internal import CGLib
internal import ProviderKit
package import Storage
internal import Translation

/// The registered local users. They are users of Image Feed, not of the operating system.
struct LocalUsers: Sendable {
    private let store: Store

    init(_ store: Store) { self.store = store }

    /// Adds a user.
    ///
    /// - Parameters:
    ///   - name: A name that is not in use.
    ///   - password: The hash of the password; nil for a user without one.
    /// - Throws: `ProviderError.userExists` if the name is in use.
    func register(_ name: UserName, password: String?) async throws {
        try await store.run { database in
            try database.query(
                """
                INSERT INTO user (key, name, password) VALUES (?, ?, ?)
                ON CONFLICT (key) DO NOTHING
                """,
                [.text(name.key), .text(name.text), .text(password)])
            guard database.changedRows > 0 else {
                throw ProviderError.userExists(
                    Message(
                        "There is a user {user} already; log in without registering, or choose another name.",
                        ["user": name.text]))
            }
        }
    }

    /// Returns the user with a name in any spelling: the name as it was registered, and the hash of the password, which
    /// is nil for a user without one; nil if there is no user.
    func find(_ name: UserName) async throws -> (name: String, hash: String?)? {
        try await store.run { database in
            try database.first(
                "SELECT name, password FROM user WHERE key = ?", [.text(name.key)]
            ) { (name: $0.text(0), hash: $0.optionalText(1)) }
        }
    }

    /// Deletes a user with their marks, and erases the password hash from the file.
    func remove(_ name: UserName) async throws {
        try await store.run { database in
            try database.transaction { () throws(StorageError) in
                try database.query("DELETE FROM user WHERE key = ?", [.text(name.key)])
                try LocalMarks.deleteUnmarked(database)
            }
        }
        await store.scrub(copiesWith: name.key)
    }
}

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
