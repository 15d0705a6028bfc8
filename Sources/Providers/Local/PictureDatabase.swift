internal import Glibc
internal import Logging
internal import Storage

/// The file of the index, with a connection that writes and one that serves pages meanwhile; where there can be
/// no file, memory, with one connection for both.
struct PictureDatabase: Sendable {
    let writer: DatabaseQueue
    let reader: DatabaseQueue
    private let path: String
    private let logger: Logger

    /// - Parameters:
    ///   - folder: The cache folder, which may be deleted at any time, and is made when it is needed.
    ///   - logger: Where to report to.
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
            // There may be room by the time it is needed.
            return true
        } catch {
            logger.warning(
                "The index of the pictures folder is kept in memory",
                metadata: ["reason": "\(error)"])
            return false
        }
    }

    /// Closes the file and deletes it; it is made anew when it is needed next.
    func discard() async {
        await reader.close()
        await writer.close()
        Self.delete(path, logger)
    }

    private static func delete(_ path: String, _ logger: Logger) {
        logger.warning(
            "The index of the pictures folder is made anew", metadata: ["path": "\(path)"])
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    }

    private static func open(_ path: String) throws(StorageError) -> Database {
        let database = try Database(path: path, durability: .process, cacheKibibytes: 256)
        try database.migrate(PictureIndex.migrations)
        return database
    }
}
