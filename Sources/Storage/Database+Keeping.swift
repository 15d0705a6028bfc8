internal import Glibc

extension Database {
    /// Opens a file that must not be lost. One that is damaged gets another name, under which it stays, and is
    /// begun anew.
    ///
    /// - Parameters:
    ///   - path: Its folder must exist.
    ///   - migrations: Given to ``migrate(_:)``.
    ///   - read: Reads what is needed at once, so that what cannot be read is known now.
    /// - Returns: The database, what `read` gave, and what the damaged file is called now; nil if it was sound.
    /// - Throws: ``StorageError``. A file of a newer version is left alone.
    package static func open<Value>(
        keeping path: String, _ migrations: [String],
        read: (Database) throws(StorageError) -> Value
    ) throws(StorageError) -> (database: Database, value: Value, damaged: String?) {
        do throws(StorageError) {
            let (database, value) = try openSound(path, migrations, read)
            return (database, value, nil)
        } catch {
            guard case .damaged = error, let kept = setAside(path) else { throw error }
            let (database, value) = try openSound(path, migrations, read)
            return (database, value, kept)
        }
    }

    private static func openSound<Value>(
        _ path: String, _ migrations: [String], _ read: (Database) throws(StorageError) -> Value
    ) throws(StorageError) -> (Database, Value) {
        let database = try Database(path: path, durability: .full)
        try database.migrate(migrations)
        return (database, try read(database))
    }

    /// - Returns: The new name; nil if it could not be given one.
    private static func setAside(_ path: String) -> String? {
        for number in 1..<1000 {
            let kept = "\(path).damaged-\(number)"
            guard access(kept, F_OK) != 0 else { continue }
            guard rename(path, kept) == 0 else { return nil }
            // What its log has may help whoever mends it, and would harm a new file.
            rename("\(path)-wal", "\(kept)-wal")
            unlink("\(path)-shm")
            return kept
        }
        return nil
    }
}
