internal import ArgumentParser
internal import Contract
internal import DBus
internal import ProviderKit
internal import Quoting
internal import Translation

/// The value of `--format`: a text with placeholders for the properties of a photo.
struct PhotoFormat: Equatable {
    private enum Piece: Equatable {
        case text(String)
        /// The value of a key; with the second value, it is escaped for Pango markup.
        case value(key: String, isMarkup: Bool)
    }

    private var pieces: [Piece] = []
    /// The key of the path of the image, which only the slideshow has.
    private static let pathKey = "path"

    /// Parses a value.
    ///
    /// - Parameter text: `{key}` is the value of a key, and `{key|markup}` the value escaped for Pango markup; `\n`, `\t`
    ///   and `\\` are a line feed, a tab and a backslash. Other braces and backslashes are literal.
    /// - Throws: `ValidationError` for a key that does not exist.
    init(_ text: String) throws {
        var rest = text[...]
        var literal = ""
        while let character = rest.popFirst() {
            let escaped: [Character: Character] = ["n": "\n", "t": "\t", "\\": "\\"]
            if character == "\\", let next = rest.first.flatMap({ escaped[$0] }) {
                rest.removeFirst()
                literal.append(next)
            } else if character == "{", let match = rest.prefixMatch(of: /([a-z_]+)(\|markup)?}/) {
                let key = String(match.output.1)
                guard PhotoEntry.keys.contains(key) || key == Self.pathKey else {
                    throw ValidationError(
                        tr(
                            "There is no key “{key}”. The keys are: {keys}.",
                            [
                                "key": key,
                                "keys": list(PhotoEntry.keys + [Self.pathKey]),
                            ]))
                }
                rest = rest[match.range.upperBound...]
                pieces += [.text(literal), .value(key: key, isMarkup: match.output.2 != nil)]
                literal = ""
            } else {
                literal.append(character)
            }
        }
        pieces.append(.text(literal))
    }

    /// Returns the text for a photo, with a line feed at the end.
    ///
    /// - Parameters:
    ///   - photo: The photo. A value takes one line; one that is unknown is empty.
    ///   - path: The path of its image.
    /// - Returns: The text.
    func line(_ photo: PhotoEntry, path: String = "") -> String {
        pieces.map { piece in
            switch piece {
            case .text(let text): return text
            case .value(let key, let isMarkup):
                let value =
                    key == Self.pathKey
                    ? path : photo[key].map { OutputTarget.pipe.text(key, $0) } ?? ""
                let line = TerminalText.line(value)
                return isMarkup ? line.escapedForMarkup : line
            }
        }.joined() + "\n"
    }
}

/// The option `--format`.
struct FormatOption: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: .tr(
            "Print this text for each photo: {key} stands for a property, such as {title}, and {key|markup} for one that is escaped for Pango markup; \\n and \\t for a line feed and a tab.",
            valueName: "text"),
        transform: PhotoFormat.init)
    var format: PhotoFormat?

    /// - Throws: `ValidationError` if another option selects another output.
    func check(_ output: OutputOptions) throws {
        if format != nil, output.json {
            throw ValidationError(tr("--format cannot be combined with --json."))
        }
    }
}

extension String {
    /// The text in Pango markup, which is that of XML.
    fileprivate var escapedForMarkup: String {
        let entities: [Character: String] = [
            "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;",
        ]
        return map { entities[$0] ?? String($0) }.joined()
    }
}
