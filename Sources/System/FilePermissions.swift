internal import Glibc

/// Returns the permission bits of a file; nil if it does not exist or cannot be accessed.
///
/// - Parameter path: The path. Symbolic links are followed.
package func filePermissions(_ path: String) -> UInt32? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return status.st_mode & 0o777
}
