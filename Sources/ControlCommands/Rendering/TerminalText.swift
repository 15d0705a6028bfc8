internal import ProviderKit

/// Removal of control characters from text of services and files.
///
/// A title or file name may contain any character: an escape sequence would control the terminal, a line feed or tab
/// would split a field, and a change of the writing direction would reorder the text next to it.
enum TerminalText {
    /// Returns the text as one line without control characters. Control characters that are white space become a space.
    static func line(_ text: String) -> String {
        guard !text.unicodeScalars.allSatisfy(ServiceText.isPermitted) else { return text }
        let scalars = text.unicodeScalars.compactMap { scalar in
            ServiceText.isPermitted(scalar) ? scalar : scalar.properties.isWhitespace ? " " : nil
        }
        return String(String.UnicodeScalarView(scalars))
    }

    /// Returns a line of fields, separated by tabs, with a line feed.
    static func fields(_ fields: [String]) -> String {
        fields.map(line).joined(separator: "\t") + "\n"
    }
}
