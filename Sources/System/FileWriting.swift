internal import Glibc

/// The error of a file system call.
package struct FileError: Error, Hashable, CustomStringConvertible {
    /// The `errno`.
    package let code: Int32

    package init(code: Int32) { self.code = code }

    package var description: String { String(cString: strerror(code)) }
}

/// Replaces the contents of a file, or creates it.
///
/// The contents are written to a second file, which is then renamed: other processes see the old contents or the
/// new ones, also after a failure.
///
/// - Parameters:
///   - bytes: The contents.
///   - path: The path. A symbolic link is replaced, not followed.
///   - part: The path of the second file, in the same file system. A file that a killed process left there is
///     deleted.
///   - mode: The permissions of the new file.
///   - isDurable: True to wait until the contents are on the disk, so that they survive a power failure.
/// - Throws: ``FileError``. In this case, the file is unchanged and the second file is deleted.
///
/// The corresponding C functions are `open`, `write`, `fsync` and `rename`.
package func writeAtomically(
    _ bytes: [UInt8], to path: String, through part: String, mode: UInt32 = 0o600,
    isDurable: Bool = false
) throws(FileError) {
    unlink(part)
    let descriptor = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw FileError(code: errno) }
    let isWritten =
        fchmod(descriptor, mode) == 0 && writeAll(bytes, to: descriptor)
        && (!isDurable || fsync(descriptor) == 0) && rename(part, path) == 0
    let code = errno
    close(descriptor)
    guard isWritten else {
        unlink(part)
        throw FileError(code: code)
    }
}

/// Writes all bytes to a descriptor.
///
/// - Returns: False after an error, which is in `errno`.
package func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        if count == 0 { errno = EIO }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
    }
    return true
}
