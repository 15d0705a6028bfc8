/// Removal of control characters from text of services and files.
///
/// A title or file name may contain any character: an escape sequence would control the terminal, a line feed or tab
/// would split a field, and a change of the writing direction would reorder the text next to it.
enum TerminalText {
    /// Returns the text as one line without control characters. Control characters that are white space become a space.
    static func line(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnwanted) else { return text }
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if !isUnwanted(scalar) {
                line.append(scalar)
            } else if scalar.properties.isWhitespace {
                line.append(" ")
            }
        }
        return String(line)
    }

    /// Returns a line of fields, separated by tabs, with a line feed.
    static func fields(_ fields: [String]) -> String {
        fields.map(line).joined(separator: "\t") + "\n"
    }

    /// Returns true if `scalar` is a C0 or C1 control, a line separator or a control of the writing direction.
    static func isUnwanted(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
