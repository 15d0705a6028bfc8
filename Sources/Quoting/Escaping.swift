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

extension String {
    /// The text with references for the characters that have a meaning in XML, HTML and Pango markup. Control
    /// characters, which XML cannot represent, are left out.
    ///
    /// Source: XML 1.0 §2.2 and §2.4.
    package var escapedForXML: String {
        var escaped = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\t", "\n", "\r": escaped += "&#\(scalar.value);"
            default:
                if scalar.value >= 0x20, scalar.value | 1 != 0xffff {
                    escaped.unicodeScalars.append(scalar)
                }
            }
        }
        return escaped
    }
}
