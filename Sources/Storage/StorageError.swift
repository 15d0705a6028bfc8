package import Translation

/// The errors of database files.
package enum StorageError: Error, Equatable {
    /// The file cannot be opened or created. The values are the path and the reason of the system.
    case cannotOpen(String, String)
    /// The file can be read but not written. The values are the path and the reason of the system.
    case readOnly(String, String)
    /// The disk is full, or the user's quota is used up. Nothing of the transaction was written.
    case full
    /// The file is damaged or not a database.
    case damaged(String)
    /// A newer version of the program wrote the file. The values are its format and the newest known format.
    case newerVersion(path: String, found: Int, known: Int)
    /// Any other error, with SQLite's extended result code and message.
    case failed(code: Int32, message: String)
}

extension StorageError: ExplainedError, CustomStringConvertible {
    package var message: Message {
        switch self {
        case .cannotOpen(let path, let reason):
            Message("{file} cannot be opened: {reason}.", ["file": path, "reason": reason])
        case .readOnly(let path, let reason):
            Message("{file} cannot be written: {reason}.", ["file": path, "reason": reason])
        case .full: Message("The disk is full; free some space and try again.")
        case .damaged(let path): Message("{file} is damaged.", ["file": path])
        case .newerVersion(let path, let found, let known):
            Message(
                "{file} was written by a newer version of Image Feed (its format is {found}, this version supports up to {known}). Install the newer version again.",
                ["file": path, "found": "\(found)", "known": "\(known)"])
        case .failed(let code, let message):
            Message(
                "The database reported an error: {reason} ({code}).",
                ["reason": message, "code": "\(code)"])
        }
    }
}
