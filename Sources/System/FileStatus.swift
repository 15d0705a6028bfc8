internal import Glibc

/// The status of a file.
package struct FileStatus: Sendable {
    /// The kind: a file, a directory or another one.
    package let kind: DirectoryListing.Kind
    package let identity: FileIdentity
    package let hardLinks: Int
    package let byteCount: Int64
    /// The modification time in seconds since 1970.
    package let modified: Int64
    /// The fraction of the modification time.
    package let modifiedNanoseconds: Int64
    /// The time of the last change of the contents or the status in seconds since 1970.
    package let changed: Int64
    /// The fraction of that time.
    package let changedNanoseconds: Int64

    /// Reads the status of a file. Symbolic links are followed.
    ///
    /// - Returns: nil, with `errno`, if it does not exist or cannot be accessed.
    ///
    /// The corresponding C function is `stat`.
    package init?(_ path: [UInt8]) {
        var status = stat()
        guard PathBytes(bytes: path).withCString({ stat($0, &status) }) == 0 else { return nil }
        self.init(status)
    }

    /// Reads the status of a file whose path is UTF-8; see ``init(_:)``.
    package init?(_ path: String) { self.init(Array(path.utf8)) }

    /// Reads the status of an open file.
    ///
    /// The corresponding C function is `fstat`.
    package init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFDIR: .directory
            case S_IFREG: .file
            default: .other
            }
        identity = FileIdentity(
            device: Int64(bitPattern: UInt64(status.st_dev)),
            inode: Int64(bitPattern: UInt64(status.st_ino)))
        hardLinks = Int(status.st_nlink)
        byteCount = Int64(status.st_size)
        modified = Int64(status.st_mtim.tv_sec)
        modifiedNanoseconds = Int64(status.st_mtim.tv_nsec)
        changed = Int64(status.st_ctim.tv_sec)
        changedNanoseconds = Int64(status.st_ctim.tv_nsec)
    }
}

/// The numbers that distinguish a file from all others that exist at the same time.
package struct FileIdentity: Hashable, Sendable {
    package let device: Int64
    package let inode: Int64
}
