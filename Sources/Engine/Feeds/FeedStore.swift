package import Accounts
package import Logging
package import ProviderKit
package import Storage
internal import System

/// The feed cache on disk: the order of each source, and one row for each photo, regardless of the number of its
/// sources.
///
/// The file may be deleted at any time, because its contents can be fetched again. If it cannot be written, a database
/// in memory replaces it.
nonisolated package struct FeedStore: Sendable {
    package let queue: DatabaseQueue
    private let file: FeedFile
    private let disk: DiskWatch

    /// - Parameters:
    ///   - folder: The cache folder. It is created if necessary.
    ///   - disk: The state of the disk, which is updated after failed writes.
    ///   - logger: The logger for file errors.
    package init(folder: String, disk: DiskWatch, logger: Logger) {
        self.disk = disk
        let file = FeedFile(folder: folder, logger: logger)
        self.file = file
        queue = DatabaseQueue(
            label: "feeds", repair: { file.repair($0) }, open: { try file.open() })
    }

    /// Runs `body` on the data of an account, in a transaction.
    ///
    /// A deleted or damaged file is replaced by an empty one.
    package func run<Value: Sendable>(
        _ account: AccountID,
        _ body: @escaping @Sendable (FeedTables) throws -> Value
    ) async throws -> Value {
        if file.isOutdated { await queue.close() }
        do {
            let value = try await queue.run { database in
                try database.transaction { () throws(StorageError) in
                    try Self.perform(body, FeedTables(database: database, account: account))
                }
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
        guard !file.isOutdated else { return try await run(account, body) }
        let value = try? await queue.run { database in
            try database.snapshot {
                try body(FeedTables(database: database, account: account))
            }
        }
        guard let value else { return try await run(account, body) }
        if disk.isFull { await disk.check() }
        return value
    }

    /// Runs `body`, which throws no other errors than those of the database.
    private static func perform<Value>(
        _ body: (FeedTables) throws -> Value, _ tables: FeedTables
    ) throws(StorageError) -> Value {
        do {
            return try body(tables)
        } catch {
            throw (error as? StorageError) ?? .failed(code: 0, message: "\(error)")
        }
    }

    /// Deletes the data of an account, and overwrites it in the file.
    package func forget(_ account: AccountID) async throws {
        try await run(account) { try $0.forget() }
        // Best effort: VACUUM may fail on a full disk; the rows are gone.
        try? await queue.run { try? $0.scrub() }
    }

    /// Closes the file to free memory. The next use opens it again.
    package func trimMemory() async {
        // A database in memory stays open.
        if file.isOpen { await queue.close() }
    }

    /// Closes the file. Blocks; for the exit of the program only.
    package func close() { queue.close() }

    /// Upgrades a file to the current format: runs ``migrations``, then adds the columns of properties of photos that
    /// the file does not have. A column alone does not change the version of the file, so that an older daemon can
    /// still read it.
    package static func migrate(_ database: Database) throws(StorageError) {
        try database.migrate(migrations)
        guard try !missingPhotoColumns(database).isEmpty else { return }
        try database.transaction { () throws(StorageError) in
            // Another connection may have added them meanwhile.
            let columns = try missingPhotoColumns(database)
            guard !columns.isEmpty else { return }
            // The columns are empty, so the sums stay correct.
            try database.execute(
                """
                DROP TRIGGER photo_inserted;
                DROP TRIGGER photo_updated;
                DROP TRIGGER photo_deleted;
                ALTER TABLE photo DROP COLUMN bytes;
                \(columns.map { "ALTER TABLE photo ADD COLUMN \"\($0.name)\" \($0.type);" }.joined())
                ALTER TABLE photo ADD COLUMN bytes INTEGER GENERATED ALWAYS AS (\(photoBytes)) VIRTUAL;
                \(photoTriggers)
                """)
        }
    }

    /// Returns the columns of ``PhotoField``, and of ``CachedPhoto/isMeasured``, that the table of photos does not have.
    private static func missingPhotoColumns(
        _ database: Database
    ) throws(StorageError) -> [(name: String, type: String)] {
        let known = Set(try database.all("PRAGMA table_info(photo)") { $0.text(1) })
        return (PhotoField.described.flatMap(\.columns) + [("is_measured", "INTEGER")])
            .filter { !known.contains($0.name) }
    }

    /// The size of a row of a photo: see ``byteCounts``.
    private static let photoBytes: String = {
        let columns =
            PhotoField.described.flatMap(\.columns).filter { $0.type == "TEXT" }.map(\.name)
            + ["thumb", "small", "regular", "full"]
        let texts = columns.map { "coalesce(\"\($0)\", '')" }
        return "256 + length(CAST(\((["id", "note"] + texts).joined(separator: " || ")) AS BLOB))"
    }()

    /// The steps that upgrade a file to the current format, except for columns of properties: see ``migrate(_:)``.
    static let migrations = [
        """
        CREATE TABLE photo (
            account TEXT NOT NULL,
            id TEXT NOT NULL,
            created INTEGER, updated INTEGER, width INTEGER, height INTEGER,
            color TEXT, blur_hash TEXT, title TEXT, description TEXT,
            author TEXT, author_username TEXT, author_url TEXT, url TEXT,
            likes INTEGER, is_liked INTEGER NOT NULL, is_sensitive INTEGER, media_type TEXT,
            thumb TEXT, small TEXT, regular TEXT, "full" TEXT, note TEXT NOT NULL,
            -- When the service confirmed a like or unlike of ours: until a while later, lists are behind.
            like_confirmed INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (account, id)
        ) WITHOUT ROWID;
        CREATE TABLE source (
            key INTEGER PRIMARY KEY,
            account TEXT NOT NULL,
            id TEXT NOT NULL,
            -- Tells cursors of an earlier cache from those of this one.
            epoch INTEGER NOT NULL,
            -- When its top was asked for last.
            fetched INTEGER NOT NULL,
            total INTEGER,
            UNIQUE (account, id)
        );
        -- The order of a source: newest first is highest first. Neighbours lie far apart.
        CREATE TABLE entry (
            source INTEGER NOT NULL REFERENCES source ON DELETE CASCADE,
            position INTEGER NOT NULL,
            photo TEXT NOT NULL,
            PRIMARY KEY (source, position)
        ) WITHOUT ROWID;
        CREATE UNIQUE INDEX entry_photo ON entry (source, photo);
        -- Right below the entry at this position there are photos that were not asked for yet.
        CREATE TABLE gap (
            source INTEGER NOT NULL REFERENCES source ON DELETE CASCADE,
            position INTEGER NOT NULL,
            place TEXT NOT NULL,
            PRIMARY KEY (source, position)
        ) WITHOUT ROWID;
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
            url TEXT NOT NULL, avatar TEXT NOT NULL, avatar_url TEXT NOT NULL, likes INTEGER
        ) WITHOUT ROWID;
        """,
        // In millionths.
        """
        ALTER TABLE photo ADD COLUMN focus_x INTEGER;
        ALTER TABLE photo ADD COLUMN focus_y INTEGER;
        """,
        """
        -- When a like was confirmed last: what the service counts may be from before.
        ALTER TABLE profile ADD COLUMN likes_changed INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX photo_liked ON photo (account) WHERE is_liked;
        -- When the service said where the photos below are: it may count from the top.
        ALTER TABLE gap ADD COLUMN told INTEGER NOT NULL DEFAULT 0;
        -- What was here and further down was dropped.
        ALTER TABLE source ADD COLUMN floor INTEGER;
        """,
        // The order by number becomes an order by key, and entries get versions. The cached data remains.
        """
        CREATE TABLE new_source (
            key INTEGER PRIMARY KEY,
            account TEXT NOT NULL,
            id TEXT NOT NULL,
            -- Distinguishes the caches of a source.
            epoch INTEGER NOT NULL,
            -- When the top was fetched; NULL if nothing is cached.
            fetched INTEGER,
            total INTEGER,
            -- Counts the changes. A walk sees the entries of the generation in which it began.
            generation INTEGER NOT NULL DEFAULT 0,
            -- 1 if the order keys are those of the service, 0 if they are made here, NULL if that is not known yet.
            keyed INTEGER,
            -- 1 if the last response for the top was empty and not believed.
            doubted INTEGER NOT NULL DEFAULT 0,
            -- Walks that began before this generation have lost their position.
            horizon INTEGER NOT NULL DEFAULT 0,
            -- Walks that began before this generation have lost their position if it is at this key or below.
            floor_generation INTEGER NOT NULL DEFAULT 0,
            floor TEXT,
            UNIQUE (account, id)
        );
        CREATE TABLE new_entry (
            source INTEGER NOT NULL REFERENCES new_source ON DELETE CASCADE,
            key TEXT NOT NULL,
            -- The generations in which the entry was in the source: from `born`, before `died`.
            born INTEGER NOT NULL,
            died INTEGER NOT NULL DEFAULT 9223372036854775807,
            photo TEXT NOT NULL,
            PRIMARY KEY (source, key, born)
        ) WITHOUT ROWID;
        -- Right below the key begins the page that this token leads to.
        CREATE TABLE mark (
            source INTEGER NOT NULL REFERENCES new_source ON DELETE CASCADE,
            key TEXT NOT NULL,
            token TEXT NOT NULL,
            -- When the service gave the token.
            told INTEGER NOT NULL,
            -- Whether the page was not fetched yet.
            is_gap INTEGER NOT NULL,
            -- The generation in which the gap was left.
            born INTEGER NOT NULL,
            -- When the photos below were fetched; for a gap, those below it.
            fetched INTEGER NOT NULL,
            doubted INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (source, key)
        ) WITHOUT ROWID;
        INSERT INTO new_source (key, account, id, epoch, fetched, total, generation)
            SELECT key, account, id, random() >> 1, fetched, total, 1 FROM source;
        INSERT INTO new_entry (source, key, born, photo)
            SELECT source, printf('%016x', CASE WHEN position < 0
                THEN position + 9223372036854775807 + 1
                ELSE position - 9223372036854775807 - 1 END), 1, photo FROM entry;
        INSERT INTO mark (source, key, token, told, is_gap, born, fetched)
            SELECT source, printf('%016x', CASE WHEN position < 0
                THEN position + 9223372036854775807 + 1
                ELSE position - 9223372036854775807 - 1 END), place, told, 1, 1, told FROM gap;
        DROP TABLE gap;
        DROP TABLE entry;
        DROP TABLE source;
        ALTER TABLE new_source RENAME TO source;
        ALTER TABLE new_entry RENAME TO entry;
        CREATE INDEX entry_photo ON entry (source, photo);
        CREATE INDEX mark_gap ON mark (source, key) WHERE is_gap;
        CREATE INDEX entry_dead ON entry (source, died) WHERE died < 9223372036854775807;
        """,
        byteCounts,
    ]

    /// The sizes of rows, about as many bytes as they take in the file, and their sums: for photos by account, for
    /// entries and marks by source. Triggers keep the sums; `REPLACE` would delete rows without them.
    private static let byteCounts = """
        ALTER TABLE photo ADD COLUMN bytes INTEGER GENERATED ALWAYS AS (256 + length(CAST(
            id || note || coalesce(color, '') || coalesce(blur_hash, '') || coalesce(title, '')
            || coalesce(description, '') || coalesce(author, '') || coalesce(author_username, '')
            || coalesce(author_url, '') || coalesce(url, '') || coalesce(media_type, '')
            || coalesce(thumb, '') || coalesce(small, '') || coalesce(regular, '')
            || coalesce("full", '') AS BLOB))) VIRTUAL;
        -- An entry is in two indexes.
        ALTER TABLE entry ADD COLUMN bytes INTEGER
            GENERATED ALWAYS AS (64 + 2 * length(CAST(key || photo AS BLOB))) VIRTUAL;
        ALTER TABLE mark ADD COLUMN bytes INTEGER
            GENERATED ALWAYS AS (64 + length(CAST(key || token AS BLOB))) VIRTUAL;
        ALTER TABLE source ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
        UPDATE source SET bytes =
            coalesce((SELECT sum(entry.bytes) FROM entry WHERE entry.source = source.key), 0)
            + coalesce((SELECT sum(mark.bytes) FROM mark WHERE mark.source = source.key), 0);
        CREATE TABLE account_bytes (
            account TEXT PRIMARY KEY,
            bytes INTEGER NOT NULL
        ) WITHOUT ROWID;
        INSERT INTO account_bytes SELECT account, sum(bytes) FROM photo GROUP BY account;
        \(photoTriggers)
        \(sourceTriggers("entry", changing: "photo"))
        \(sourceTriggers("mark", changing: "token"))
        """

    /// Returns the triggers that keep the sums of the bytes of a table by source: see ``byteCounts``.
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

    /// The triggers that keep the sums of the bytes of photos: see ``byteCounts``.
    private static let photoTriggers = """
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
        """
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
    ///   - check: Throws if the page must not be stored. It is called before each transaction that inserts.
    ///   - announce: Receives the changes as soon as reads show them; rows that are deleted later, with a second call.
    /// - Returns: The changes.
    /// - Throws: ``StorageError``, and the errors of `check`; then the source has not changed.
    package func merge(
        _ arrival: FeedTables.Arrival, in source: SourceID, of account: AccountID,
        after earlier: ChangeQueue, check: @MainActor () throws -> Void,
        announce: @MainActor (FeedTables.Merge) async -> Void = { _ in }
    ) async throws -> FeedTables.Merge {
        try await earlier.run {
            let now = arrival.now
            let size = FeedTables.Bounds().piece
            var arrival = arrival
            let isLarge = arrival.page.photos.count > size
            var photos = arrival.page.photos[...]
            while isLarge, !photos.isEmpty {
                let piece = Array(photos.prefix(size))
                photos = photos.dropFirst(size)
                try check()
                arrival.prepared.formUnion(
                    try await runPaced(account) { try $0.photos.prepare(piece, now: now) })
            }
            try check()
            let prepared = arrival
            var merge = try await run(account) { try $0.store(prepared, in: source) }
            await announce(merge)
            var swept = FeedTables.Merge()
            while !merge.unswept.isEmpty {
                let piece = Array(merge.unswept.prefix(size))
                merge.unswept.removeFirst(piece.count)
                // Best effort: the bounds of the cache delete the other rows.
                let gone = try? await runPaced(account) { try $0.photos.sweep(piece, now: now) }
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
