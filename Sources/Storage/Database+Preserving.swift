internal import Glibc

extension Database {
    /// Opens a file with data that cannot be recreated, in a folder that is created if necessary.
    ///
    /// A damaged file is renamed and a new one is created. If the file cannot be written, the result is a copy of it in
    /// memory, or an empty database if it cannot be read; every write to it fails with ``writeError``.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - migrations: The argument of ``migrate(_:)``.
    ///   - read: Reads the values that are needed immediately, so that damage is detected now.
    /// - Returns: The database, the result of `read`, and the new name of a damaged file; nil if it was not damaged.
    /// - Throws: ``StorageError``. A file of a newer version is not changed.
    package static func open<Value>(
        preserving path: String, _ migrations: KeyValuePairs<Int, String>,
        read: (Database) throws(StorageError) -> Value
    ) throws(StorageError) -> (database: Database, value: Value, damaged: String?) {
        do throws(StorageError) {
            try PrivateFolder.create(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
            let (database, value) = try openSound(path, migrations, read)
            return (database, value, nil)
        } catch {
            switch error {
            case .damaged:
                guard let newName = renameDamaged(path) else {
                    return try openCopy(path, error, migrations, read)
                }
                let (database, value) = try openSound(path, migrations, read)
                return (database, value, newName)
            case .cannotOpen(_, let reason), .readOnly(_, let reason):
                return try openCopy(path, .readOnly(path, reason), migrations, read)
            case .full: return try openCopy(path, error, migrations, read)
            case .newerVersion, .failed: throw error
            }
        }
    }

    private static func openSound<Value>(
        _ path: String, _ migrations: KeyValuePairs<Int, String>,
        _ read: (Database) throws(StorageError) -> Value
    ) throws(StorageError) -> (Database, Value) {
        let database = try Database(path: path, durability: .full)
        try database.migrate(migrations)
        return (database, try read(database))
    }

    /// Reads a file that cannot be written into memory.
    private static func openCopy<Value>(
        _ path: String, _ error: StorageError, _ migrations: KeyValuePairs<Int, String>,
        _ read: (Database) throws(StorageError) -> Value
    ) throws(StorageError) -> (database: Database, value: Value, damaged: String?) {
        func open(_ isCopy: Bool) throws(StorageError) -> (Database, Value) {
            let database = try Database(path: ":memory:", durability: .process)
            if isCopy { try database.copy(from: path) }
            try database.migrate(migrations)
            return (database, try read(database))
        }
        var (database, value): (Database, Value)
        do throws(StorageError) {
            (database, value) = try open(true)
        } catch .newerVersion(_, let found, let known) {
            throw .newerVersion(path: path, found: found, known: known)
        } catch {
            (database, value) = try open(false)
        }
        try database.execute("PRAGMA query_only = ON")
        database.readOnlyError = error
        return (database, value, nil)
    }

    /// Renames a damaged file.
    ///
    /// - Returns: The new name; nil if the file cannot be renamed.
    private static func renameDamaged(_ path: String) -> String? {
        for number in 1..<1000 {
            let newName = "\(path).damaged-\(number)"
            guard access(newName, F_OK) != 0 else { continue }
            guard rename(path, newName) == 0 else { return nil }
            // The contents of the log may help to repair the file, and would damage a new one.
            rename("\(path)-wal", "\(newName)-wal")
            unlink("\(path)-shm")
            return newName
        }
        return nil
    }
}
