internal import CGLib
internal import ProviderKit
internal import Storage

/// The users of this computer's photos, as far as we know them: names of our own, not the system's users.
struct LocalUsers: Sendable {
    private static let migrations = [
        """
        CREATE TABLE user (
            -- The name in the form in which names are compared
            key TEXT PRIMARY KEY,
            name TEXT NOT NULL
        ) WITHOUT ROWID;
        """
    ]

    private let database: DatabaseQueue

    /// - Parameter folder: The data folder, only for the user.
    init(folder: String) {
        database = DatabaseQueue(label: "local-users") {
            try PrivateFolder.create(folder)
            let database = try Database(path: "\(folder)/local.sqlite", durability: .full)
            try database.migrate(Self.migrations)
            return database
        }
    }

    /// The name as it is kept; nil for one that cannot be kept: 1 to 64 printable characters.
    static func normalised(_ name: String) -> String? {
        guard 1...64 ~= name.count, name.utf8.count <= 4096, name.first != " ", name.last != " ",
            name.unicodeScalars.allSatisfy(isPrintable),
            let normalised = g_utf8_normalize(name, -1, G_NORMALIZE_DEFAULT_COMPOSE)
        else { return nil }
        defer { g_free(normalised) }
        return String(cString: normalised)
    }

    /// Adds a user.
    ///
    /// - Parameter name: A normalised name.
    /// - Throws: `ProviderError.userExists` when somebody has the name, compared without case.
    func register(_ name: String) async throws {
        try await database.run { database in
            try database.query(
                "INSERT OR IGNORE INTO user VALUES (?, ?)", [.text(Self.key(name)), .text(name)])
            guard database.changedRows > 0 else {
                throw ProviderError.userExists(
                    "There is a user \(name) already; log in without registering, or choose another name."
                )
            }
        }
    }

    /// The name of a user as it was registered.
    func find(_ name: String) async throws -> String {
        try await database.run { database in
            let found = try database.first(
                "SELECT name FROM user WHERE key = ?", [.text(Self.key(name))]
            ) { $0.text(0) }
            guard let found else {
                throw ProviderError.noSuchUser("There is no user \(name); register the name first.")
            }
            return found
        }
    }

    /// Deletes a user.
    func remove(_ name: String) async throws {
        try await database.run { database in
            try database.query("DELETE FROM user WHERE key = ?", [.text(Self.key(name))])
        }
    }

    private static func key(_ name: String) -> String {
        guard let folded = g_utf8_casefold(name, -1) else { return name }
        defer { g_free(folded) }
        guard let normalised = g_utf8_normalize(folded, -1, G_NORMALIZE_DEFAULT_COMPOSE) else {
            return name
        }
        defer { g_free(normalised) }
        return String(cString: normalised)
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .surrogate, .unassigned, .lineSeparator, .paragraphSeparator: false
        // Joiners and tags make emoji; the others reorder what stands around them.
        case .format:
            scalar == "\u{200c}" || scalar == "\u{200d}" || ("\u{e0020}"..."\u{e007f}") ~= scalar
        default: true
        }
    }
}
