internal import ArgumentParser
internal import Glibc
internal import Quoting

/// The path of a file in bytes, because a path need not be UTF-8.
struct PathBytes: Hashable, ExpressibleByArgument {
    let bytes: [UInt8]

    /// Creates a path from its bytes, which must not contain 0.
    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Creates a path that is UTF-8.
    init(_ text: String) { bytes = Array(text.utf8) }

    /// Creates a path from an argument that is encoded by ``RawText``.
    init?(argument: String) { bytes = RawText.bytes(of: argument) }

    /// The path for messages, with U+FFFD for bytes that are not UTF-8.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// True if the path is UTF-8, so that ``text`` is the path itself.
    var isUTF8: Bool { String(validating: bytes, as: UTF8.self) != nil }

    /// The `file:` URI of the path; nil if the current folder cannot be determined.
    ///
    /// Source: RFC 8089, RFC 3986.
    var address: String? {
        var absolute = bytes
        if bytes.first != UInt8(ascii: "/") {
            guard let folder = getcwd(nil, 0) else { return nil }
            defer { free(folder) }
            absolute = PathBytes(bytes: [UInt8](cString: folder)).appending(self).bytes
        }
        let unreserved = Set("-._~/".utf8)
        return absolute.reduce(into: "file://") { address, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                address.unicodeScalars.append(Unicode.Scalar(byte))
            case _ where unreserved.contains(byte):
                address.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                address += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
    }

    /// The folder of the file with a slash at the end; empty if the path has no slash.
    var folder: PathBytes {
        PathBytes(bytes: bytes.lastIndex(of: UInt8(ascii: "/")).map { Array(bytes[...$0]) } ?? [])
    }

    var isEmpty: Bool { bytes.isEmpty }
    var hasSlashAtEnd: Bool { bytes.last == UInt8(ascii: "/") }

    var defaultValueDescription: String { text }

    /// Returns the path of `name` in this folder.
    func appending(_ name: PathBytes) -> PathBytes {
        PathBytes(bytes: bytes + (hasSlashAtEnd || isEmpty ? [] : [UInt8(ascii: "/")]) + name.bytes)
    }

    /// Calls `body` with the path as a C string.
    func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        var string = bytes.map(CChar.init(bitPattern:))
        string.append(0)
        return string.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { preconditionFailure("a string has a 0") }
            return body(base)
        }
    }

    /// Follows the symbolic links at this path.
    ///
    /// - Returns: The path of the target, which need not exist; nil if it cannot be determined, with `errno` set.
    func followingLinks() -> PathBytes? {
        var path = self
        // Source: path_resolution(7): at most 40 links are followed.
        for _ in 0..<40 {
            guard let target = path.linkTarget else {
                return errno == EINVAL || errno == ENOENT ? path : nil
            }
            path = target.bytes.first == UInt8(ascii: "/") ? target : path.folder.appending(target)
        }
        errno = ELOOP
        return nil
    }

    private var linkTarget: PathBytes? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = withCString { readlink($0, &buffer, buffer.count) }
        guard count >= 0 else { return nil }
        return PathBytes(bytes: buffer.prefix(count).map(UInt8.init(bitPattern:)))
    }
}
