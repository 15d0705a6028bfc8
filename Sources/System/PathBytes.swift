internal import Glibc

/// The path of a file in bytes, because a path need not be UTF-8.
package struct PathBytes: Hashable, Sendable {
    package let bytes: [UInt8]

    /// Creates a path from its bytes, which must not contain 0.
    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// Creates a path that is UTF-8.
    package init(_ text: String) { bytes = Array(text.utf8) }

    /// The path for messages, with U+FFFD for bytes that are not UTF-8.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The folder of the file with a slash at the end; empty if the path has no slash.
    package var folder: PathBytes {
        PathBytes(bytes: bytes.lastIndex(of: UInt8(ascii: "/")).map { Array(bytes[...$0]) } ?? [])
    }

    package var isEmpty: Bool { bytes.isEmpty }
    package var hasSlashAtEnd: Bool { bytes.last == UInt8(ascii: "/") }

    /// Returns the path of `name` in this folder.
    package func appending(_ name: PathBytes) -> PathBytes {
        PathBytes(bytes: bytes + (hasSlashAtEnd || isEmpty ? [] : [UInt8(ascii: "/")]) + name.bytes)
    }

    /// Calls `body` with the path as a C string.
    package func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        let string = bytes.map(CChar.init(bitPattern:)) + [0]
        return body(string)
    }

    /// Follows the symbolic links at this path.
    ///
    /// - Returns: The path of the target, which need not exist; nil if it cannot be determined, with `errno` set.
    package func followingLinks() -> PathBytes? {
        var path = self
        // Source: path_resolution(7): at most 40 links are followed.
        for _ in 0..<40 {
            guard let target = path.target else {
                return errno == EINVAL || errno == ENOENT ? path : nil
            }
            path = target
        }
        errno = ELOOP
        return nil
    }

    /// The path to which the symbolic link at this path leads; nil, with `errno`, if there is no link.
    package var target: PathBytes? {
        linkTarget.map { $0.bytes.first == UInt8(ascii: "/") ? $0 : folder.appending($0) }
    }

    /// The path that the symbolic link at this path contains; nil, with `errno`, if there is no link.
    package var linkTarget: PathBytes? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = withCString { readlink($0, &buffer, buffer.count) }
        guard count >= 0 else { return nil }
        return PathBytes(bytes: buffer.prefix(count).map(UInt8.init(bitPattern:)))
    }
}
