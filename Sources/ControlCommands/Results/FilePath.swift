internal import JSONFormat
internal import System

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
