internal import Dispatch
internal import ProviderKit
package import Storage

/// The file with the state of the slideshow and the photos of the current round.
///
/// Every change is stored before it is announced, so that it survives the end of the process.
nonisolated package struct SlideshowStore: Sendable {
    /// The contents of the store when the daemon started.
    package struct Contents: Sendable {
        var state = SlideshowState()
        var parts: [AccountID: SlideshowTables.PartState] = [:]
        /// The new path of a damaged file; nil if the file was intact.
        package var damagedFile: String?
        /// The reason why nothing can be stored; nil if the store can be written.
        package var readOnlyError: StorageError?

        package init() {}
    }

    private let database: DatabaseQueue

    /// Opens and reads the store; see ``AccountStore/open(folder:lock:)``.
    ///
    /// - Parameters:
    ///   - folder: The data folder, which is created if necessary.
    ///   - lock: The lock of the data folder.
    /// - Returns: The store and its contents.
    /// - Throws: ``StorageError``.
    package static func open(
        folder: String, lock: FolderLock? = nil
    ) throws(StorageError) -> (store: SlideshowStore, contents: Contents) {
        let path = "\(folder)/slideshow.sqlite"
        var (database, contents, damaged) = try Database.open(
            preserving: path, SlideshowTables.migrations, read: read)
        contents.damagedFile = damaged
        contents.readOnlyError = database.writeError
        database.releaseMemory()
        let queue = DatabaseQueue(database, label: "slideshow") {
            if case .inUse = lock?.attempt() {
                throw StorageError.readOnly(path, "another imagefeedd uses it")
            }
            return try Database.open(preserving: path, SlideshowTables.migrations) {
                _ throws(StorageError) in
            }.database
        }
        return (SlideshowStore(database: queue), contents)
    }

    /// Creates a store in memory, for an engine without a data folder.
    static func inMemory() -> SlideshowStore {
        SlideshowStore(
            database: DatabaseQueue(label: "slideshow") {
                let database = try Database(path: ":memory:", durability: .process)
                try database.migrate(SlideshowTables.migrations)
                return database
            })
    }

    private static func read(_ database: Database) throws(StorageError) -> Contents {
        let tables = SlideshowTables(database: database)
        var contents = Contents()
        contents.state = try tables.state()
        contents.parts = try tables.parts()
        return contents
    }

    /// Reads the contents again.
    func contents() async throws -> Contents { try await database.run { try Self.read($0) } }

    /// Stores a transition of the state, and the changes of known photos that belong to it.
    func save(
        _ new: SlideshowState, replacing old: SlideshowState, _ changes: [SlideshowTables.Change]
    ) async throws {
        try await change { (tables) throws(StorageError) in
            try tables.write(new, replacing: old)
            for change in changes {
                try tables.apply(change, isShuffled: new.settings.isShuffled)
            }
        }
    }

    /// Runs `body` in a transaction. The calls are ordered.
    func change<Value: Sendable>(
        _ body: @escaping @Sendable (SlideshowTables) throws(StorageError) -> Value
    ) async throws -> Value {
        try await database.run { database in
            try database.transaction { () throws(StorageError) in
                try body(SlideshowTables(database: database))
            }
        }
    }

    /// Returns the next photos of the round; see ``SlideshowTables/candidates(limit:of:)``.
    func candidates(
        limit: Int, of accounts: Set<AccountID>? = nil
    ) async throws -> [CombinedPhotoID] {
        try await database.run {
            try SlideshowTables(database: $0).candidates(limit: limit, of: accounts)
        }
    }

    /// Releases memory that is not needed now.
    func releaseMemory() async { await database.releaseMemory() }

    /// Completes the writes in progress and closes the store. Blocks; call it only when the daemon ends.
    func close() { database.close() }
}
