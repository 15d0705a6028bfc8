internal import Glibc

/// Reads the permission bits of a file.
///
/// - Parameter path: The path. Symbolic links are followed.
/// - Returns: The bits; nil if the file does not exist or cannot be accessed.
package func filePermissions(_ path: String) -> UInt32? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return status.st_mode & 0o777
}
