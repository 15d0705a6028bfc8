package import EngineModel
package import ProviderKit
package import Storage

/// The wanted state of a like group, and its way to the service.
nonisolated package struct OutboxRow: Hashable, Sendable {
    /// The position of a row on the way to the service.
    package enum State: String, Sendable {
        /// Stored. No request was sent, or the service did not execute it.
        case queued
        /// A request was sent, or is about to be sent: the state at the service is unknown until a response.
        case sending
        /// The service confirmed the wanted state. The row is shown in place of the cache, until the cache and the service
        /// agree with it.
        case confirmed
        /// The service has no likes. The row is the only record of the like or unlike.
        case local
    }

    /// The photo that represents the like group.
    package let photo: PhotoID
    /// True for a like, false for an unlike.
    package var isWanted: Bool
    package var state = State.queued
    /// The last state that the service confirmed, if the cache or a list of the service may be older; nil if the cache is
    /// right.
    package var known: Bool?
    /// The time of the confirmation of ``known``.
    package var confirmed: Timestamp?
    /// The order of the rows of an account.
    package var position: Int64

    // The following properties are not stored.

    /// The number of the confirmation of ``known`` within the session; 0 for one of an earlier session.
    package var confirmation = 0
    /// True if the cache has ``known``.
    package var isInCache = false
    /// True if an answer of the service had ``known``: the row only corrects answers to earlier requests.
    package var isAgreed = false
    /// True if the database has the state ``State/sending``, or does not need it.
    package var isMarked = false
    /// True while a local like is sent again: the cache has ``isWanted``.
    package var isRetried = false
    /// False if the photo has to be fetched before its like is sent, because the cache does not have it.
    package var isPhotoKnown = true

    /// True while the service has not confirmed the wanted state.
    package var isPending: Bool { state == .queued || state == .sending }
    /// True if the database does not need the row.
    var isSettled: Bool { state == .confirmed && isAgreed }
    /// The state that is shown in place of the cached one; nil if the cached one is shown.
    var shown: Bool? { state == .local || isRetried ? isWanted : known }
}

/// A store of the rows of an account.
package protocol OutboxStorage: Sendable {
    /// Runs `body` on the rows, after all earlier calls.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (OutboxTable) throws(StorageError) -> Value
    ) async throws -> Value

    /// Removes deleted rows from the files.
    func scrub() async
}

/// The rows of the outbox of an account in the data store. They survive a restart and an abrupt end.
nonisolated package struct OutboxStore: OutboxStorage {
    package let store: Store
    let account: AccountID

    package init(store: Store, account: AccountID) {
        self.store = store
        self.account = account
    }

    package func run<Value: Sendable>(
        _ body: @escaping @Sendable (OutboxTable) throws(StorageError) -> Value
    ) async throws -> Value {
        try await store.run { [account] in
            try body(OutboxTable(database: $0, account: account))
        }
    }

    package func scrub() async { await store.scrub(copiesWith: account.text) }
}

/// The statements that read and change the rows of an account.
nonisolated package struct OutboxTable {
    package static let format = TableFormat(
        "likes",
        sql: """
            CREATE TABLE outbox (
                -- Without a reference, so that the likes remain for a login with this ID if damage removes the account
                account TEXT NOT NULL,
                photo TEXT NOT NULL,
                is_wanted INTEGER NOT NULL CHECK (is_wanted IN (0, 1)),
                state TEXT NOT NULL,
                known INTEGER,
                confirmed INTEGER,
                position INTEGER NOT NULL,
                PRIMARY KEY (account, photo)
            ) WITHOUT ROWID;
            """)
    /// The largest number of rows that one transaction changes.
    static let transactionLimit = 500

    package let database: Database
    package let account: AccountID

    /// Reads the rows, in their order. A row with an unknown state is treated as one that was being sent.
    package func rows() throws(StorageError) -> [OutboxRow] {
        try database.all(
            """
            SELECT photo, is_wanted, state, known, confirmed, position FROM outbox
            WHERE account = ? ORDER BY position
            """, [.text(account.text)]
        ) { row in
            let state = OutboxRow.State(rawValue: row.text(2)) ?? .sending
            return OutboxRow(
                photo: PhotoID(row.text(0)), isWanted: row.integer(1) != 0, state: state,
                known: row.optionalInteger(3).map { $0 != 0 },
                confirmed: row.optionalInteger(4).map(Timestamp.init(secondsSince1970:)),
                // New rows follow one with a damaged position.
                position: min(row.integer(5), TableFormat.largestNumber),
                isMarked: state == .sending)
        }
    }

    /// Stores a row in place of the one of its photo.
    package func write(_ row: OutboxRow) throws(StorageError) {
        // The cache is right about a state that the service has shown.
        let known = row.isAgreed ? nil : row.known
        try database.query(
            "INSERT OR REPLACE INTO outbox VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                .text(account.text), .text(row.photo.text), .bool(row.isWanted),
                .text(row.state.rawValue), .integer(known.map { $0 ? 1 : 0 }),
                .integer(known == nil ? nil : row.confirmed?.secondsSince1970),
                .integer(row.position),
            ])
    }

    /// Deletes the rows of at most ``transactionLimit`` photos.
    package func remove(_ photos: some Collection<PhotoID>) throws(StorageError) {
        try database.transaction { () throws(StorageError) in
            for photo in photos {
                try database.query(
                    "DELETE FROM outbox WHERE account = ? AND photo = ?",
                    [.text(account.text), .text(photo.text)])
            }
        }
    }

    /// Turns local likes into ones that are sent.
    ///
    /// - Returns: True if none remain; otherwise the call has to be repeated.
    package func sendLocalLikes() throws(StorageError) -> Bool {
        try change("UPDATE outbox SET state = 'sending'", where: "state = 'local'")
    }

    /// Deletes rows, because the account is logged out.
    ///
    /// - Parameter keepsLocalLikes: True if the likes that are stored locally remain.
    /// - Returns: True if none remain; otherwise the call has to be repeated.
    /// - Throws: ``StorageError``.
    package func clear(keepsLocalLikes: Bool) throws(StorageError) -> Bool {
        try change("DELETE FROM outbox", where: keepsLocalLikes ? "state <> 'local'" : "true")
    }

    private func change(_ statement: String, where condition: String) throws(StorageError) -> Bool {
        try database.query(
            """
            \(statement) WHERE account = ?1 AND photo IN (
                SELECT photo FROM outbox WHERE account = ?1 AND \(condition)
                LIMIT \(Self.transactionLimit))
            """, [.text(account.text)])
        return database.changedRows < Self.transactionLimit
    }
}
