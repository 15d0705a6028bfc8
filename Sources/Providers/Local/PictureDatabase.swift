internal import Glibc
internal import Logging
internal import Storage

/// The file of the index, with a connection that writes and one that serves pages meanwhile.
struct PictureDatabase: Sendable {
    let writer: DatabaseQueue
    let reader: DatabaseQueue

    /// - Parameters:
    ///   - folder: The cache folder, which may be deleted at any time, and is made when it is needed.
    ///   - logger: Where to report to.
    init(folder: String, logger: Logger) {
        let open: @Sendable () throws -> Database = {
            try PrivateFolder.create(folder)
            let path = "\(folder)/pictures.sqlite"
            do {
                return try Self.open(path)
            } catch StorageError.damaged, StorageError.newerVersion {
                logger.warning(
                    "The index of the pictures folder is made anew", metadata: ["path": "\(path)"])
                for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
                return try Self.open(path)
            }
        }
        writer = DatabaseQueue(label: "pictures", open: open)
        reader = DatabaseQueue(label: "pictures-reader", open: open)
    }

    private static func open(_ path: String) throws(StorageError) -> Database {
        let database = try Database(path: path, durability: .process, cacheKibibytes: 512)
        try database.migrate(PictureIndex.migrations)
        return database
    }
}
