internal import ArgumentParser
internal import Glibc
internal import JSONFormat
internal import ProviderKit
internal import Quoting
internal import System

extension PathBytes: ExpressibleByArgument {
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
        var absolute = bytes
        if bytes.first != slash {
            guard let folder = getcwd(nil, 0) else { return nil }
            defer { free(folder) }
            absolute = PathBytes(bytes: [UInt8](cString: folder)).appending(self).bytes
        }
        var address = Array("file://".utf8)
        for name in absolute.split(separator: slash, omittingEmptySubsequences: false).dropFirst() {
            address.append(slash)
            URLEncoding.escape(name, into: &address)
        }
        return String(decoding: address, as: UTF8.self)
    }
}

/// A result that is the path of a file.
struct FilePath: Renderable {
    let path: PathBytes

    /// An object with the path.
    ///
    /// JSON must be UTF-8. If the path is not, the object also has the file's URI with percent-encoded bytes.
    var json: JSON {
        var members = [JSON.Member("path", .string(path.text))]
        if !path.isUTF8, let address = path.address {
            members.append(.init("uri", .string(address)))
        }
        return .object(members)
    }

    func text(for target: OutputTarget) -> String {
        (target == .pipe ? path.text : TerminalText.line(path.text)) + "\n"
    }

    /// Returns the unchanged bytes of the path for a pipe, because a path need not be UTF-8.
    func bytes(for target: OutputTarget) -> [UInt8] {
        target == .pipe ? path.bytes + [UInt8(ascii: "\n")] : Array(text(for: target).utf8)
    }
}
