internal import Glibc
internal import Logging
internal import ProviderKit
internal import Storage

/// The database of the index, with one connection for writing and one for serving pages meanwhile. If no file can be
/// created, the index is in memory, with one connection for both.
struct PictureDatabase: Sendable {
    let writer: DatabaseQueue
    let reader: DatabaseQueue
    private let path: String
    private let logger: Logger

    /// - Parameters:
    ///   - folder: The cache folder. It may be deleted at any time, and is created on demand.
    ///   - logger: Receives problems with the file.
    init(folder: String, logger: Logger) {
        let path = "\(folder)/pictures.sqlite"
        self.path = path
        self.logger = logger
        let open: @Sendable () throws -> Database = {
            try PrivateFolder.create(folder)
            do {
                return try Self.open(path)
            } catch StorageError.damaged, StorageError.newerVersion {
                Self.delete(path, logger)
                return try Self.open(path)
            }
        }
        guard Self.canWrite(folder, logger) else {
            writer = DatabaseQueue(label: "pictures") { try Self.open(":memory:") }
            reader = writer
            return
        }
        writer = DatabaseQueue(label: "pictures", open: open)
        reader = DatabaseQueue(label: "pictures-reader", open: open)
    }

    private static func canWrite(_ folder: String, _ logger: Logger) -> Bool {
        do {
            try PrivateFolder.create(folder)
            guard access(folder, W_OK) != 0 else { return true }
            throw StorageError.cannotOpen(folder, String(cString: strerror(errno)))
        } catch StorageError.full {
            // There may be space when the file is created.
            return true
        } catch {
            logger.warning(
                "The file of the index cannot be created; the index is in memory",
                metadata: ["reason": "\(error)"])
            return false
        }
    }

    /// The size of the page cache of a connection.
    private static let cacheKibibytes = 256
    /// The size while many photos are added: each row and its entries in the indexes are in other pages.
    private static let largeCacheKibibytes = 16 << 10

    /// Gives the writer a large page cache, or a small one again. Blocks.
    func setCache(isLarge: Bool) {
        try? writer.runAndWait { database in
            try database.setCacheSize(
                kibibytes: isLarge ? Self.largeCacheKibibytes : Self.cacheKibibytes)
            if !isLarge { database.releaseMemory() }
        }
    }

    /// Closes and deletes the file. It is created again when it is needed next.
    func discard() async {
        await reader.close()
        await writer.close()
        Self.delete(path, logger)
    }

    private static func delete(_ path: String, _ logger: Logger) {
        logger.warning(
            "The index of the pictures folder cannot be used and is created again",
            metadata: ["path": "\(path)"])
        Database.delete(path)
    }

    private static func open(_ path: String) throws(StorageError) -> Database {
        // A migration writes many pages.
        let database = try Database(
            path: path, durability: .process, cacheKibibytes: largeCacheKibibytes)
        try database.migrate(PictureIndex.migrations)
        try database.setCacheSize(kibibytes: cacheKibibytes)
        return database
    }
}

extension ProviderError {
    /// Converts the error of a database or of a private folder.
    init(_ error: StorageError) {
        self = error == .full ? .storageFull : .failed(error.message)
    }
}
