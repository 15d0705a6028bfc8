extension Sequence<UInt8> {
    /// Returns the bytes as text for a name with few permitted characters.
    ///
    /// - Parameter others: The ASCII characters that are kept, besides ASCII letters and digits.
    /// - Returns: The text. Other bytes become `_xx` with two lowercase hexadecimal digits.
    package func escaped(keeping others: String = "") -> String {
        reduce(into: "") { text, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            case _ where others.utf8.contains(byte):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += "_" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
    }
}
