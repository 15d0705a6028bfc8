internal import ArgumentParser
internal import Glibc
internal import JSONFormat
internal import ProviderKit
internal import Quoting
internal import System

/// A path is an argument of a command, and the result of one that prints where a file is.
extension PathBytes: ExpressibleByArgument, Renderable {
    /// Creates a path from an argument that is encoded by ``RawText``.
    package init?(argument: String) { self.init(bytes: RawText.bytes(of: argument)) }

    package var defaultValueDescription: String { text }

    /// True if the path is UTF-8, so that ``text`` is the path itself.
    var isUTF8: Bool { String(validating: bytes, as: UTF8.self) != nil }

    /// The `file:` URI of the path; nil if the current folder cannot be determined.
    ///
    /// Source: RFC 8089, RFC 3986.
    var address: String? {
        let slash = UInt8(ascii: "/")
        var absolute = self
        if bytes.first != slash {
            guard let folder = getcwd(nil, 0) else { return nil }
            defer { free(folder) }
            absolute = PathBytes(bytes: [UInt8](cString: folder)).appending(self)
        }
        var address = Array("file://".utf8)
        let names = absolute.bytes.split(separator: slash, omittingEmptySubsequences: false)
        for name in names.dropFirst() {
            address.append(slash)
            URLEncoding.escape(name, into: &address)
        }
        return String(decoding: address, as: UTF8.self)
    }

    // MARK: Output

    /// An object with the path.
    ///
    /// JSON must be UTF-8. If the path is not, the object also has the file's URI with percent-encoded bytes.
    var json: JSON {
        var members = [JSON.Member("path", .string(text))]
        if !isUTF8, let address { members.append(.init("uri", .string(address))) }
        return .object(members)
    }

    func text(for target: OutputTarget) -> String {
        (target == .pipe ? text : TerminalText.line(text)) + "\n"
    }

    /// Returns the unchanged bytes of the path for a pipe, because a path need not be UTF-8.
    func bytes(for target: OutputTarget) -> [UInt8] {
        target == .pipe ? bytes + [UInt8(ascii: "\n")] : Array(text(for: target).utf8)
    }
}
