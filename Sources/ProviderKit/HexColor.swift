/// A color in the form `#RRGGBB`, with hexadecimal digits of either case.
public enum HexColor {
    /// Returns true if a text has this form.
    public static func isValid(_ text: String) -> Bool {
        let digits = text.utf8.dropFirst()
        return text.utf8.first == UInt8(ascii: "#") && digits.count == 6
            && digits.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }
}
