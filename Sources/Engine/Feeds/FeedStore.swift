package import EngineModel
package import ProviderKit
package import Storage
package import System

/// The feed cache: the order of each source, and one row for each photo, regardless of the number of its sources.
///
/// Its contents can be fetched again.
nonisolated package struct FeedStore: Sendable {
    package let store: Store
    private let disk: DiskWatch

    /// - Parameters:
    ///   - store: A store with ``format``.
    ///   - disk: The state of the disk, which is updated after failed writes.
    package init(_ store: Store, disk: DiskWatch) {
        self.store = store
        self.disk = disk
    }

    /// Runs `body` on the data of an account, in a transaction, and again if the store has replaced the file. `body`
    /// throws no other errors than those of the database.
    package func run<Value: Sendable>(
        _ account: AccountID,
        _ body: @escaping @Sendable (FeedTables) throws -> Value
    ) async throws -> Value {
        let task: @Sendable (Database) throws -> Value = { database in
            try database.transaction { () throws(StorageError) in
                do { return try body(FeedTables(database: database, account: account)) } catch {
                    throw (error as? StorageError) ?? .failed(code: 0, message: "\(error)")
                }
            }
        }
        do {
            let value: Value
            do { value = try await store.run(task) } catch StorageError.damaged {
                value = try await store.run(task)
            }
            if disk.isFull { await disk.check() }
            return value
        } catch StorageError.full {
            await disk.recordFullDisk()
            throw StorageError.full
        }
    }

    /// Runs `body`, which only reads, on one state of the database.
    ///
    /// It takes no write lock, and is faster than ``run(_:_:)``.
    package func read<Value: Sendable>(
        _ account: AccountID,
        _ body: @escaping @Sendable (FeedTables) throws -> Value
    ) async throws -> Value {
        let value = try? await store.read { try body(FeedTables(database: $0, account: account)) }
        guard let value else { return try await run(account, body) }
        if disk.isFull { await disk.check() }
        return value
    }

    /// Deletes the data of an account, and overwrites it in the file.
    package func forget(_ account: AccountID) async {
        await store.delete { database in
            try database.transaction { () throws(StorageError) in
                try FeedTables(database: database, account: account).forget()
            }
        }
    }

    /// Deletes the data of all accounts but some.
    package func forget(besides accounts: Set<AccountID>) async {
        let stored = try? await store.run { database in
            try database.all(
                """
                SELECT account FROM account_bytes UNION SELECT account FROM source
                UNION SELECT account FROM listed_source UNION SELECT account FROM profile
                """
            ) { AccountID(stored: $0.text(0)) }
        }
        for account in stored ?? [] where !accounts.contains(account) { await forget(account) }
    }

    /// The columns of the properties of photos.
    private static let photoColumns = PhotoField.described.flatMap(\.columns)

    /// The size of a row of a photo.
    private static let photoBytes: String = {
        let columns =
            photoColumns.filter { $0.type == "TEXT" }.map(\.name)
            + ["thumb", "small", "regular", "full"]
        let texts = columns.map { "coalesce(\"\($0)\", '')" }
        return "256 + length(CAST(\((["id", "note"] + texts).joined(separator: " || ")) AS BLOB))"
    }()

    /// The tables of the cache.
    ///
    /// The columns `bytes` are the sizes of rows, about as many bytes as they take in the file, and their sums: for
    /// photos by account, for entries and marks by source. Triggers keep the sums; `REPLACE` would delete rows without
    /// them.
    package static let format = TableFormat(
        "feeds",
        sql: """
            CREATE TABLE photo (
                account TEXT NOT NULL,
                id TEXT NOT NULL,
                \(photoColumns.map { "\"\($0.name)\" \($0.type)," }.joined(separator: " "))
                is_liked INTEGER NOT NULL,
                thumb TEXT, small TEXT, regular TEXT, "full" TEXT, note TEXT NOT NULL,
                -- The time at which the service confirmed a like or unlike: lists are older for a while
                like_confirmed INTEGER NOT NULL DEFAULT 0,
                is_measured INTEGER,
                bytes INTEGER GENERATED ALWAYS AS (\(photoBytes)) VIRTUAL,
                PRIMARY KEY (account, id)
            ) WITHOUT ROWID;
            CREATE INDEX photo_liked ON photo (account) WHERE is_liked;
            CREATE TABLE account_bytes (
                account TEXT PRIMARY KEY,
                bytes INTEGER NOT NULL
            ) WITHOUT ROWID;
            CREATE TABLE source (
                key INTEGER PRIMARY KEY,
                account TEXT NOT NULL,
                id TEXT NOT NULL,
                -- Distinguishes the caches of a source
                epoch INTEGER NOT NULL,
                -- The time at which the top was fetched; NULL if nothing is cached
                fetched INTEGER,
                total INTEGER,
                -- Counts the changes. A walk sees the entries of the generation in which it began
                generation INTEGER NOT NULL DEFAULT 0,
                -- 1 if the order keys are those of the service, 0 if they are made here, NULL if that is not known yet
                keyed INTEGER,
                -- 1 if the last response for the top was empty and not believed
                doubted INTEGER NOT NULL DEFAULT 0,
                -- Walks that began before this generation have lost their position
                horizon INTEGER NOT NULL DEFAULT 0,
                -- Walks that began before this generation have lost their position if it is at this key or below
                floor_generation INTEGER NOT NULL DEFAULT 0,
                floor TEXT,
                -- The lowest order key that a client read, and the time
                depth TEXT,
                depth_read INTEGER NOT NULL DEFAULT 0,
                bytes INTEGER NOT NULL DEFAULT 0,
                UNIQUE (account, id)
            );
            CREATE TABLE entry (
                source INTEGER NOT NULL REFERENCES source ON DELETE CASCADE,
                key TEXT NOT NULL,
                -- The generations in which the entry was in the source: from `born`, before `died`
                born INTEGER NOT NULL,
                died INTEGER NOT NULL DEFAULT 9223372036854775807,
                photo TEXT NOT NULL,
                -- An entry is in two indexes
                bytes INTEGER GENERATED ALWAYS AS (64 + 2 * length(CAST(key || photo AS BLOB))) VIRTUAL,
                PRIMARY KEY (source, key, born)
            ) WITHOUT ROWID;
            CREATE INDEX entry_photo ON entry (source, photo);
            CREATE INDEX entry_dead ON entry (source, died) WHERE died < 9223372036854775807;
            CREATE TABLE mark (
                source INTEGER NOT NULL REFERENCES source ON DELETE CASCADE,
                -- Right below the key begins the page that the token leads to
                key TEXT NOT NULL,
                token TEXT NOT NULL,
                -- The time at which the service sent the token
                told INTEGER NOT NULL,
                -- 1 if the page was not fetched yet
                is_gap INTEGER NOT NULL,
                -- The generation in which the gap was left
                born INTEGER NOT NULL,
                -- The time at which the photos below were fetched; for a gap, those below it
                fetched INTEGER NOT NULL,
                doubted INTEGER NOT NULL DEFAULT 0,
                bytes INTEGER GENERATED ALWAYS AS (64 + length(CAST(key || token AS BLOB))) VIRTUAL,
                PRIMARY KEY (source, key)
            ) WITHOUT ROWID;
            CREATE INDEX mark_gap ON mark (source, key) WHERE is_gap;
            CREATE TABLE listed_source (
                account TEXT NOT NULL,
                number INTEGER NOT NULL,
                id TEXT NOT NULL, title TEXT NOT NULL, kind TEXT NOT NULL, count INTEGER, cover TEXT,
                PRIMARY KEY (account, number)
            ) WITHOUT ROWID;
            CREATE TABLE profile (
                account TEXT PRIMARY KEY,
                fetched INTEGER NOT NULL,
                username TEXT NOT NULL, name TEXT NOT NULL, bio TEXT NOT NULL, location TEXT NOT NULL,
                url TEXT NOT NULL, avatar TEXT NOT NULL, avatar_url TEXT NOT NULL, likes INTEGER,
                -- The time at which a like was confirmed last: the number of the service may be older
                likes_changed INTEGER NOT NULL DEFAULT 0
            ) WITHOUT ROWID;
            CREATE TRIGGER photo_inserted AFTER INSERT ON photo BEGIN
                INSERT INTO account_bytes VALUES (NEW.account, NEW.bytes)
                    ON CONFLICT (account) DO UPDATE SET bytes = bytes + excluded.bytes;
            END;
            CREATE TRIGGER photo_updated AFTER UPDATE ON photo BEGIN
                UPDATE account_bytes SET bytes = bytes + NEW.bytes - OLD.bytes
                    WHERE account = NEW.account;
            END;
            CREATE TRIGGER photo_deleted AFTER DELETE ON photo BEGIN
                UPDATE account_bytes SET bytes = bytes - OLD.bytes WHERE account = OLD.account;
            END;
            \(sourceTriggers("entry", changing: "photo"))
            \(sourceTriggers("mark", changing: "token"))
            """)

    /// Returns the triggers that keep the sums of the bytes of a table by source.
    private static func sourceTriggers(_ table: String, changing column: String) -> String {
        """
        CREATE TRIGGER \(table)_inserted AFTER INSERT ON \(table) BEGIN
            UPDATE source SET bytes = bytes + NEW.bytes WHERE key = NEW.source;
        END;
        CREATE TRIGGER \(table)_updated AFTER UPDATE OF \(column) ON \(table) BEGIN
            UPDATE source SET bytes = bytes + NEW.bytes - OLD.bytes WHERE key = NEW.source;
        END;
        CREATE TRIGGER \(table)_deleted AFTER DELETE ON \(table) BEGIN
            UPDATE source SET bytes = bytes - OLD.bytes WHERE key = OLD.source;
        END;
        """
    }
}

// The transactions of a merge.
extension FeedStore {
    /// Stores a page of a source in short transactions, because other accounts wait for each of them.
    ///
    /// The rows of new photos are inserted first, in pieces. Nothing refers to them before the transaction that stores the
    /// order. The rows of photos that have left the source are deleted at the end, in pieces.
    ///
    /// - Parameters:
    ///   - arrival: The page.
    ///   - source: The source, as it is stored.
    ///   - account: The account of the source.
    ///   - earlier: The merges of the account, which run one after the other.
    ///   - overlay: Returns the liked states that the service may not know yet, immediately before each transaction that
    ///     inserts. Throws if the page must not be stored.
    ///   - announce: Receives the changes as soon as reads show them; rows that are deleted later, with a second call.
    /// - Returns: The changes.
    /// - Throws: ``StorageError``, and the errors of `overlay`; then the source has not changed.
    package func merge(
        _ arrival: FeedTables.Arrival, in source: SourceID, of account: AccountID,
        after earlier: ChangeQueue, overlay: @MainActor () throws -> LikeOverlay,
        announce: @MainActor (FeedTables.Merge) async -> Void = { _ in }
    ) async throws -> FeedTables.Merge {
        try await earlier.run {
            let size = FeedTables.Bounds().piece
            var arrival = arrival
            let isLarge = arrival.page.photos.count > size
            var photos = arrival.page.photos[...]
            while isLarge, !photos.isEmpty {
                let piece = Array(photos.prefix(size))
                photos = photos.dropFirst(size)
                let overlay = try overlay()
                arrival.prepared.formUnion(
                    try await runPaced(account) { try $0.photos.prepare(piece, overlay) })
            }
            arrival.overlay = try overlay()
            let prepared = arrival
            var merge = try await run(account) { try $0.store(prepared, in: source) }
            await announce(merge)
            var swept = FeedTables.Merge()
            while !merge.unswept.isEmpty {
                let piece = Array(merge.unswept.prefix(size))
                merge.unswept.removeFirst(piece.count)
                // Best effort: the bounds of the cache delete the other rows.
                let gone = try? await runPaced(account) { try $0.photos.sweep(piece) }
                if merge.reportsRemovals { swept.removed += gone ?? [] }
            }
            if !swept.removed.isEmpty { await announce(swept) }
            merge.removed += swept.removed
            return merge
        }
    }

    /// Runs a transaction of a large merge, then pauses for three times its duration, so that large merges use at most
    /// a quarter of the time of the database.
    private func runPaced<Value: Sendable>(
        _ account: AccountID,
        _ body: @escaping @Sendable (FeedTables) throws -> Value
    ) async throws -> Value {
        let start = ContinuousClock.now
        let value = try await run(account, body)
        let pause = min((.now - start) * 3, .milliseconds(50))
        // After a cancellation, the merge continues without pauses.
        try? await MainLoopClock().sleep(for: pause)
        return value
    }
}
