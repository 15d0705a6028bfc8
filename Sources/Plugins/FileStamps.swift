internal import Glibc

/// Tells versions of files apart.
nonisolated struct FileStamps: Hashable, Sendable {
    private struct Stamp: Hashable, Sendable {
        let path: String
        let device: UInt64
        let inode: UInt64
        let size: Int64
        let seconds: Int
        let nanoseconds: Int
    }

    private let stamps: [Stamp?]
    private let paths: [String]

    /// The files as they are now.
    init(_ paths: [String]) {
        self.paths = paths
        stamps = paths.map { path in
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            return Stamp(
                path: path, device: UInt64(status.st_dev), inode: UInt64(status.st_ino),
                size: Int64(status.st_size), seconds: status.st_mtim.tv_sec,
                nanoseconds: status.st_mtim.tv_nsec)
        }
    }

    /// The same files as they are now.
    init(_ other: FileStamps) { self.init(other.paths) }

    /// Whether the files are not what they were.
    var haveChanged: Bool { FileStamps(paths) != self }
}
