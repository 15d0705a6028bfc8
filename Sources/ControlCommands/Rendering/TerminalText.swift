/// Text from services and files, made harmless for a terminal and for a line of fields.
///
/// A title or a file name may hold anything: an escape sequence would drive the terminal, a newline or a
/// tab would make two fields of one, a change of direction would reorder what stands beside it.
enum TerminalText {
    /// `text` as one line without control characters; white space among them becomes a space.
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

    /// Whether `scalar` is a C0 or C1 control, breaks a line or changes the direction of writing.
    static func isUnwanted(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
