/// What can go wrong with a database file.
package enum StorageError: Error, Equatable {
    /// The file cannot be opened or created. The path, and what the system says.
    case cannotOpen(String, String)
    /// The file can be read but not written. The path, and the system's reason.
    case readOnly(String, String)
    /// The disk, or the user's share of it, is full. Nothing of the transaction was written.
    case full
    /// The file is no database, or a damaged one.
    case damaged(String)
    /// A newer program wrote the file: its version, and the newest one that we know.
    case newerVersion(path: String, found: Int, known: Int)
    /// Anything else, with SQLite's extended result code and its words.
    case failed(code: Int32, message: String)
}

extension StorageError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .cannotOpen(let path, let reason): "\(path) cannot be opened: \(reason)."
        case .readOnly(let path, let reason): "\(path) cannot be written: \(reason)."
        case .full: "The disk is full; make some room and try again."
        case .damaged(let path): "\(path) is damaged."
        case .newerVersion(let path, let found, let known):
            "\(path) was written by a newer version of Image Feed "
                + "(its format is \(found), this version knows \(known)). Install that version again."
        case .failed(let code, let message): "The database failed: \(message) (\(code))."
        }
    }
}
