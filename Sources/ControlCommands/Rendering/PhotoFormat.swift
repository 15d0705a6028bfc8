internal import ArgumentParser
internal import Contract
internal import DBus
internal import Quoting
internal import Translation

/// The value of `--format`: a text with placeholders for the properties of a photo.
struct PhotoFormat: Equatable {
    private let text: String
    /// The keys of a photo, and that of the path of its image, which only the slideshow has.
    private static let keys = PhotoEntry.keys + ["path"]
    private static let markup = "|markup"

    /// Parses a value.
    ///
    /// - Parameter text: `{key}` is the value of a key, and `{key|markup}` the value escaped for Pango markup; `\n` and
    ///   `\t` are a line feed and a tab. Other braces and backslashes are literal.
    /// - Throws: `ValidationError` for a key that does not exist.
    init(_ text: String) throws {
        // By scalars, because a combining mark after a placeholder is a part of its last Character.
        self.text = String(
            text.unicodeScalars.replacing("\\n".unicodeScalars, with: "\n".unicodeScalars)
                .replacing("\\t".unicodeScalars, with: "\t".unicodeScalars))
        var unknown: String?
        _ = filled { key in
            if !Self.keys.contains(key) { unknown = key }
            return ""
        }
        guard let unknown else { return }
        throw ValidationError(
            tr(
                "There is no key “{key}”. The keys are: {keys}.",
                ["key": unknown, "keys": list(Self.keys)]))
    }

    /// Returns the text for a photo, with a line feed at the end.
    ///
    /// - Parameters:
    ///   - photo: The photo. A value takes one line; one that is unknown is empty.
    ///   - path: The path of its image.
    /// - Returns: The text.
    func line(_ photo: PhotoEntry, path: String = "") -> String {
        filled { key in
            key == "path" ? path : photo[key].map { OutputTarget.pipe.text(key, $0) } ?? ""
        } + "\n"
    }

    /// Returns the text with values in place of the placeholders, which are lowercase letters and `_` in braces.
    private func filled(_ value: (String) -> String) -> String {
        var result = ""
        var rest = text.unicodeScalars[...]
        while let end = rest.firstIndex(of: "}") {
            let start = rest[..<end].lastIndex(of: "{") ?? end
            let name = String(rest[start..<end].dropFirst())
            let key = name.hasSuffix(Self.markup) ? String(name.dropLast(Self.markup.count)) : name
            if !key.isEmpty, key.unicodeScalars.allSatisfy({ "a"..."z" ~= $0 || $0 == "_" }) {
                let line = TerminalText.line(value(key))
                result += String(rest[..<start]) + (key == name ? line : line.escapedForXML)
            } else {
                result += String(rest[...end])
            }
            rest = rest[rest.index(after: end)...]
        }
        return result + String(rest)
    }
}

extension ArgumentHelp {
    /// The help of the option `--format`.
    static var format: ArgumentHelp {
        .tr(
            "Print this text for each photo: {key} stands for a property, such as {title}, and {key|markup} for one that is escaped for Pango markup; \\n and \\t for a line feed and a tab.",
            valueName: "text")
    }
}
