internal import Glibc

/// The kind and the time of a file.
package struct FileStatus: Sendable {
    package let isRegular: Bool
    package let isFolder: Bool
    package let byteCount: Int64
    /// The modification time in seconds since 1970.
    package let modified: Int64

    /// Reads the status of a file; nil if it does not exist or cannot be accessed. Symbolic links are followed.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        isRegular = status.st_mode & S_IFMT == S_IFREG
        isFolder = status.st_mode & S_IFMT == S_IFDIR
        byteCount = Int64(status.st_size)
        modified = Int64(status.st_mtim.tv_sec)
    }
}
