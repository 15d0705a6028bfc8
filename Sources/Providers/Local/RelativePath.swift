internal import ProviderKit

/// The path of a file or folder below the pictures folder, as bytes of any encoding. It is empty for the pictures
/// folder itself.
struct RelativePath: Hashable, Sendable {
    let bytes: [UInt8]

    static let root = RelativePath(bytes: [])

    private static let slash = UInt8(ascii: "/")

    /// Returns the absolute path in the pictures folder `root`.
    func absolute(below root: [UInt8]) -> [UInt8] {
        bytes.isEmpty ? root : root + [Self.slash] + bytes
    }

    func appending(_ name: [UInt8]) -> RelativePath {
        RelativePath(bytes: bytes.isEmpty ? name : bytes + [Self.slash] + name)
    }

    /// The parent folder, and the name in it; nil for the pictures folder itself.
    var split: (folder: RelativePath, name: [UInt8])? {
        guard !bytes.isEmpty else { return nil }
        guard let index = bytes.lastIndex(of: Self.slash) else { return (.root, bytes) }
        return (RelativePath(bytes: Array(bytes[..<index])), Array(bytes[(index + 1)...]))
    }

    /// Returns true if this path, or a folder that it is in, meets a condition.
    func isOrIsBelow(where condition: (RelativePath) -> Bool) -> Bool {
        condition(self) || split?.folder.isOrIsBelow(where: condition) == true
    }

    /// Returns true if this is a path, or lies below it.
    func isAt(orBelow path: RelativePath) -> Bool {
        bytes.starts(with: path.bytes)
            && (bytes.count == path.bytes.count || bytes[path.bytes.count] == Self.slash)
    }

    /// True if the name begins with a dot.
    var isHidden: Bool { split?.name.first == UInt8(ascii: ".") }

    /// Returns true if an absolute path lies below a folder.
    static func isBelow(_ path: [UInt8], _ folder: [UInt8]) -> Bool {
        let prefix = folder == [slash] ? folder : folder + [slash]
        return path.count > prefix.count && path.starts(with: prefix)
    }

    /// Returns the mount point that an absolute path belongs to.
    static func mountPoint(of path: [UInt8], _ mountPoints: Set<[UInt8]>) -> [UInt8] {
        mountPoints.filter { $0 == path || isBelow(path, $0) }.max { $0.count < $1.count }
            ?? [slash]
    }

    /// Returns true if this is the name of a backup of `path`, which is never a photo.
    func isBackup(of path: RelativePath) -> Bool {
        PhotoFilter.backupEndings.contains { bytes == path.bytes + $0 }
    }

    var depth: Int { bytes.count { $0 == Self.slash } }

    /// The path in the source ID of an album. Valid UTF-8 is preserved; other bytes, `%`, controls and characters that
    /// change the writing direction are percent-encoded.
    var percentEncoded: String {
        var encoded: [UInt8] = []
        var rest = bytes[...]
        while let first = rest.first {
            if let count = Self.printableLength(rest), first != UInt8(ascii: "%") {
                encoded += rest.prefix(count)
                rest = rest.dropFirst(count)
            } else {
                URLEncoding.escape([first], into: &encoded)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// The title of the album with this path: one line, whose direction no character overrides.
    var title: String {
        let path = String(decoding: bytes, as: UTF8.self)
        return ServiceText.line(path) ?? path.debugDescription
    }

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Parses a path from ``percentEncoded``; nil for other text.
    init?(percentEncoded text: String) {
        guard let bytes = URLEncoding.bytes(text[...]) else { return nil }
        self.bytes = bytes
        guard percentEncoded == text else { return nil }
    }

    /// Returns the number of bytes of the first scalar; nil if it is not valid UTF-8, or not permitted in one line.
    private static func printableLength(_ bytes: ArraySlice<UInt8>) -> Int? {
        var iterator = bytes.prefix(4).makeIterator()
        var decoder = Unicode.UTF8()
        guard case .scalarValue(let scalar) = decoder.decode(&iterator),
            ServiceText.isPermitted(scalar)
        else { return nil }
        return Unicode.UTF8.width(scalar)
    }
}
