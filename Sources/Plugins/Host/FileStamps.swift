internal import Glibc

/// The recorded state of files. A new version of a file has another state.
nonisolated struct FileStamps: Hashable, Sendable {
    private struct Stamp: Hashable, Sendable {
        let path: String
        let device: UInt64
        let inode: UInt64
        let size: Int64
        let mode: UInt32
        let seconds: Int
        let nanoseconds: Int
    }

    private let stamps: [Stamp?]
    private let paths: [String]
    /// The permissions of folders, whose contents may change.
    private let modes: [UInt32?]
    private let folders: [String]

    /// Reads the present state of files, and the permissions of folders.
    init(_ paths: [String], folders: [String] = []) {
        self.paths = paths
        self.folders = folders
        modes = folders.map { path in
            var status = stat()
            return stat(path, &status) == 0 ? status.st_mode : nil
        }
        stamps = paths.map { path in
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            return Stamp(
                path: path, device: UInt64(status.st_dev), inode: UInt64(status.st_ino),
                size: Int64(status.st_size), mode: status.st_mode, seconds: status.st_mtim.tv_sec,
                nanoseconds: status.st_mtim.tv_nsec)
        }
    }

    /// Reads the stamps of the same files again.
    init(_ other: FileStamps) { self.init(other.paths, folders: other.folders) }

    /// True if the files changed since the stamps were read.
    var haveChanged: Bool { FileStamps(self) != self }
}
