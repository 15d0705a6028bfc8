/// The path of a file.
struct FilePath: Renderable {
    let path: PathBytes

    /// JSON is UTF-8. A path that is not has the address of the file too, in which its bytes are percent-encoded.
    var json: JSON {
        var members = [JSON.Member("path", .string(path.text))]
        if !path.isUTF8, let address = path.address {
            members.append(.init("uri", .string(address)))
        }
        return .object(members)
    }

    func text(for medium: OutputTarget) -> String {
        (medium == .pipe ? path.text : TerminalText.line(path.text)) + "\n"
    }

    /// Returns, for a program, the bytes of the path, whatever they are.
    func bytes(for medium: OutputTarget) -> [UInt8] {
        medium == .pipe ? path.bytes + [UInt8(ascii: "\n")] : Array(text(for: medium).utf8)
    }
}
