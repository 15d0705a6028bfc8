package import EngineModel
internal import Likes
package import ProviderKit
internal import SlideshowCore
package import Storage
internal import Translation

/// The stored properties of an account.
nonisolated package struct AccountRecord: Sendable, Equatable {
    package fileprivate(set) var id: AccountID
    package let provider: String
    /// The identity, as last reported by the service.
    package var identity: AccountIdentity
    /// The label, which the user can change.
    package var label: String
    package var isLoggedIn: Bool
    /// The default source; nil if the user has not chosen one.
    package var defaultSource: SourceID?
    /// A random number of the last login. A position of the combined feed contains it, so that it ends with a logout.
    package var loginNumber = UInt32.random(in: 1 ... .max)

    /// Applies the identity that the service reported.
    ///
    /// A known user ID is kept if the service reports none. A label that is the old user name becomes the new one.
    package mutating func update(_ reported: AccountIdentity) {
        if label == identity.username { label = reported.username }
        identity = AccountIdentity(
            username: reported.username, server: identity.server,
            userID: reported.userID ?? identity.userID)
    }
}

/// The accounts in the database, in the order of their first login.
nonisolated package struct AccountStore: Sendable {
    /// The contents of the store when the daemon started.
    package struct Contents: Sendable {
        package var accounts: [AccountRecord] = []
        package var defaultAccount: AccountID?
        /// The photos whose like or unlike was not confirmed yet.
        package var pendingLikes: [AccountID: [PhotoID]] = [:]
        /// The default sources of providers, by provider ID, as of the last use of each provider.
        package var defaultSources: [String: SourceID] = [:]
        /// The recipients of tokens, as stored with the last login.
        package var tokenRecipients: [AccountID: Set<String>] = [:]
        /// The default source of the combined account; nil if the user has not chosen one.
        package var combinedSource: SourceID?
    }

    package static let format = TableFormat(
        "accounts",
        sql: """
            CREATE TABLE account (
                position INTEGER PRIMARY KEY CHECK (position BETWEEN 0 AND \(TableFormat.largestNumber)),
                id TEXT NOT NULL UNIQUE,
                provider TEXT NOT NULL,
                username TEXT NOT NULL,
                server TEXT NOT NULL,
                label TEXT NOT NULL,
                is_logged_in INTEGER NOT NULL CHECK (is_logged_in IN (0, 1)),
                default_source TEXT,
                user_id TEXT,
                login INTEGER NOT NULL
            );
            CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
            """)

    private let store: Store

    /// - Parameter store: A store with ``format`` and the format of the likes.
    package init(_ store: Store) { self.store = store }

    /// Reads the contents.
    package func contents() async throws -> Contents { try await store.run(Self.read) }

    /// The sentences for the user about the file.
    var notices: [Message] { store.notices }

    /// Stores a new or changed account, and the default account.
    package func save(_ record: AccountRecord, defaultAccount: AccountID?) async throws {
        try await store.run { database in
            try database.transaction { () throws(StorageError) in
                try database.query(
                    """
                    INSERT INTO account
                        (id, provider, username, server, label, is_logged_in, default_source,
                        user_id, login)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    ON CONFLICT (id) DO UPDATE SET username = excluded.username,
                        label = excluded.label, is_logged_in = excluded.is_logged_in,
                        default_source = excluded.default_source, user_id = excluded.user_id,
                        login = excluded.login
                    """,
                    [
                        .text(record.id.text), .text(record.provider),
                        .text(record.identity.username), .text(record.identity.server),
                        .text(record.label), .bool(record.isLoggedIn),
                        record.defaultSource.map { .text($0.text) } ?? .null,
                        .text(record.identity.userID), .integer(Int64(record.loginNumber)),
                    ])
                try Self.write(defaultAccount, to: database)
            }
        }
    }

    /// Stores the default account.
    package func saveDefaultAccount(_ id: AccountID?) async throws {
        try await store.run { try Self.write(id, to: $0) }
    }

    /// Stores the default source of a provider, for the time when the provider is not installed.
    package func saveDefaultSource(_ source: SourceID, of provider: String) async throws {
        try await write(source.text, forKey: Self.defaultSourcePrefix + provider)
    }

    private func write(_ value: String, forKey key: String) async throws {
        try await store.run { try Self.write(value, forKey: key, to: $0) }
    }

    private static func write(
        _ value: String, forKey key: String, to database: Database
    ) throws(StorageError) {
        try database.query(
            "INSERT OR REPLACE INTO setting VALUES (?, ?)", [.text(key), .text(value)])
    }

    /// Stores the default source of the combined account.
    package func saveCombinedSource(_ source: SourceID) async throws {
        try await write(source.text, forKey: Self.combinedSourceKey)
    }

    private static let combinedSourceKey = "combined_source"
    private static let defaultAccountKey = "default_account"
    private static let defaultSourcePrefix = "default_source:"

    /// Stores the recipients of the token of an account.
    package func saveTokenRecipients(_ recipients: Set<String>, of id: AccountID) async throws {
        try await write(
            recipients.sorted().joined(separator: "\n"), forKey: Self.recipientsPrefix + id.text)
    }

    /// The prefix of the keys of recipients. The ID of the account follows it.
    private static let recipientsPrefix = "token_recipients:"

    /// Returns the store for the likes of an account, which are deleted with it.
    func likes(of account: AccountID) -> OutboxStore { OutboxStore(store: store, account: account) }

    /// Releases memory that is not needed now.
    package func releaseMemory() async { await store.releaseMemory() }

    /// Completes the writes in progress and closes the store. Blocks; call it only when the daemon ends.
    package func close() { store.close() }

    /// Deletes an account.
    package func delete(_ id: AccountID, defaultAccount: AccountID?) async throws {
        try await store.run { database in
            try database.transaction { () throws(StorageError) in
                try database.query("DELETE FROM account WHERE id = ?", [.text(id.text)])
                try database.query("DELETE FROM outbox WHERE account = ?", [.text(id.text)])
                try SlideshowStore.forget(id, in: database)
                try database.query(
                    "DELETE FROM setting WHERE key = ?", [.text(Self.recipientsPrefix + id.text)])
                try Self.write(defaultAccount, to: database)
            }
        }
        await store.scrub(copiesWith: id.text)
    }

    private static func write(_ id: AccountID?, to database: Database) throws(StorageError) {
        try write(id?.text ?? "", forKey: defaultAccountKey, to: database)
    }

    /// Reads the contents of a store.
    package static func read(_ database: Database) throws -> Contents {
        var contents = Contents()
        let rows = try database.all(
            """
            SELECT id, provider, username, server, label, is_logged_in, default_source, user_id, login, position
            FROM account ORDER BY position
            """
        ) { row in
            let record = AccountRecord(
                id: AccountID(stored: row.text(0)), provider: row.text(1).pathElement,
                identity: AccountIdentity(
                    username: row.text(2), server: row.text(3), userID: row.optionalText(7)),
                label: row.text(4), isLoggedIn: row.integer(5) != 0,
                defaultSource: row.isNull(6) ? nil : SourceID(row.text(6)),
                loginNumber: UInt32(truncatingIfNeeded: row.integer(8)))
            return (record: record, position: row.integer(9))
        }
        for (var record, position) in rows {
            if record.id == .invalid {
                // A damaged ID is replaced by that of a login.
                record.id = AccountID(provider: record.provider, record.identity) { id in
                    (rows.map(\.record) + contents.accounts).contains { $0.id == id }
                }
                // A file that is only readable stays as it is.
                try? database.query(
                    "UPDATE account SET id = ? WHERE position = ?",
                    [.text(record.id.text), .integer(position)])
            }
            contents.accounts.append(record)
        }
        try database.query(
            """
            SELECT account, photo FROM outbox WHERE state IN ('queued', 'sending')
            ORDER BY position
            """
        ) { row throws(StorageError) in
            contents.pendingLikes[AccountID(stored: row.text(0)), default: []].append(
                PhotoID(row.text(1)))
        }
        let settings = try database.all("SELECT key, value FROM setting") {
            ($0.text(0), $0.text(1))
        }
        for (key, value) in settings {
            if key == combinedSourceKey {
                contents.combinedSource = SourceID(value)
            } else if key == defaultAccountKey, !value.isEmpty {
                contents.defaultAccount = AccountID(stored: value)
            } else if key.hasPrefix(defaultSourcePrefix) {
                let provider = String(key.dropFirst(defaultSourcePrefix.count))
                contents.defaultSources[provider] = SourceID(value)
            } else if key.hasPrefix(recipientsPrefix) {
                let account = AccountID(stored: String(key.dropFirst(recipientsPrefix.count)))
                contents.tokenRecipients[account] = Set(
                    value.split(separator: "\n").map(String.init))
            }
        }
        return contents
    }
}
