internal import Accounts
internal import Glibc
internal import ProviderKit
package import Storage
package import System

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
        /// True if the image of the current photo is known to be missing.
        var isImageMissing = false

        package init() {}

        /// Looks for the image of the current photo, which may be on a disk that does not respond.
        package mutating func findImage(_ files: FileThreads) async {
            guard let image = state.current?.image else { return }
            let path = Array(image.utf8)
            let isReadable = await files.run(path) { progress in
                progress.begin(path) == 0 && access(image, R_OK) == 0
            }
            isImageMissing = isReadable != true
        }
    }

    private let database: DatabaseQueue

    /// Returns the names of the slideshows with a file in the data folder, besides the default one.
    package static func names(folder: String) -> [String] {
        let files = (try? DirectoryListing(folder))?.names ?? []
        return files.filter { $0.hasPrefix(prefix) && $0.hasSuffix(suffix) }
            .map { String($0.dropFirst(prefix.count).dropLast(suffix.count)) }
            .filter(isValid).sorted()
    }

    /// Returns true for a name that a client may choose: 1 to 32 characters of `a` to `z`, `0` to `9` and `_`.
    package static func isValid(_ name: String) -> Bool {
        1...32 ~= name.utf8.count
            && name.unicodeScalars.allSatisfy { "a"..."z" ~= $0 || "0"..."9" ~= $0 || $0 == "_" }
    }

    private static let prefix = "slideshow-"
    private static let suffix = ".sqlite"

    /// Opens and reads the store; see ``AccountStore/open(folder:lock:)``.
    ///
    /// - Parameters:
    ///   - name: The name of the slideshow; empty for the default one.
    ///   - folder: The data folder, which is created if necessary.
    ///   - lock: The lock of the data folder.
    /// - Returns: The store and its contents.
    /// - Throws: ``StorageError``.
    package static func open(
        _ name: String = "", folder: String, lock: FolderLock? = nil
    ) throws(StorageError) -> (store: SlideshowStore, contents: Contents) {
        let path =
            name.isEmpty ? "\(folder)/slideshow.sqlite" : "\(folder)/\(prefix)\(name)\(suffix)"
        let file = try DatabaseQueue.open(
            preserving: path, SlideshowTables.migrations, label: "slideshow", lock: lock, read: read
        )
        var contents = file.value
        contents.damagedFile = file.damagedFile
        return (SlideshowStore(database: file.queue), contents)
    }

    /// Creates a store in memory, for an engine without a data folder.
    package static func inMemory() -> SlideshowStore {
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
    package func releaseMemory() async { await database.releaseMemory() }

    /// Closes the store and deletes its file. Later changes fail.
    package func delete() async { await database.delete() }

    /// Completes the writes in progress and closes the store. Blocks; call it only when the daemon ends.
    package func close() { database.close() }
}
