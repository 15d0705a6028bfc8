internal import Glibc

/// A folder that only the user can access.
package enum PrivateFolder {
    /// Creates the folder and its missing ancestors with mode 0700, and restricts the mode of an existing folder.
    ///
    /// - Throws: ``StorageError/cannotOpen(_:_:)``, ``StorageError/full``.
    package static func create(_ path: String) throws(StorageError) {
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & (S_IFMT | 0o077) == S_IFDIR { return }
        var built = ""
        var isReadOnly = false
        for element in path.split(separator: "/") {
            built += "/\(element)"
            guard mkdir(built, 0o700) != 0, errno != EEXIST, errno != EISDIR else { continue }
            let code = errno
            guard code != EROFS else {
                isReadOnly = true
                continue
            }
            // An ancestor that cannot be read can still be a part of the path.
            guard access(built, F_OK) == 0 else {
                if code == ENOSPC || code == EDQUOT { throw .full }
                throw .cannotOpen(path, String(cString: strerror(code)))
            }
        }
        guard stat(path, &status) == 0 else {
            throw .cannotOpen(path, String(cString: strerror(isReadOnly ? EROFS : errno)))
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw .cannotOpen(path, "it is not a folder")
        }
        if status.st_mode & 0o077 != 0, chmod(path, 0o700) != 0 {
            throw .cannotOpen(path, String(cString: strerror(errno)))
        }
    }
}
