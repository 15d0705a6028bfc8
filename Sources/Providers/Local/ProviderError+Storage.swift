internal import ProviderKit
internal import Storage

extension ProviderError {
    /// Converts the error of a database or of a private folder.
    init(_ error: StorageError) {
        self = error == .full ? .storageFull : .failed("\(error)")
    }
}
