/// Percent-encoding of text in addresses and forms.
///
/// Source: RFC 3986 §2; WHATWG URL §5.2 for forms.
public enum URLEncoding {
    /// Returns a text in which every byte except letters, digits and `-._~` is encoded.
    public static func escape(_ text: String) -> String {
        var escaped: [UInt8] = []
        escape(text.utf8, into: &escaped)
        return String(decoding: escaped, as: UTF8.self)
    }

    /// Appends bytes, encoded as by ``escape(_:)``. For secrets, which must not become a `String`.
    package static func escape(_ bytes: some Sequence<UInt8>, into escaped: inout [UInt8]) {
        for byte in bytes {
            if isUnreserved(byte) {
                escaped.append(byte)
            } else {
                escaped.append(UInt8(ascii: "%"))
                escaped.append(hexDigit(byte >> 4))
                escaped.append(hexDigit(byte & 15))
            }
        }
    }

    /// Returns the encoded form `name=value&…`.
    public static func form(_ fields: [(name: String, value: String)]) -> String {
        fields.map { "\(escape($0.name))=\(escape($0.value))" }.joined(separator: "&")
    }

    /// Returns an address with additional query parameters before its fragment.
    ///
    /// - Parameters:
    ///   - fields: The names and values, not encoded.
    ///   - url: The address.
    /// - Returns: The new address.
    public static func adding(
        _ fields: [(name: String, value: String)], to url: String
    ) -> String {
        guard !fields.isEmpty else { return url }
        let fragment = url.firstIndex(of: "#") ?? url.endIndex
        let base = url[..<fragment]
        let needsSeparator = base.last != "?" && base.last != "&"
        let separator = !base.contains("?") ? "?" : needsSeparator ? "&" : ""
        return base + separator + form(fields) + url[fragment...]
    }

    /// Parses a query or a form; nil if it is malformed. `+` is a space.
    public static func fields(_ query: Substring) -> [(name: String, value: String)]? {
        var fields: [(name: String, value: String)] = []
        for field in query.split(separator: "&") {
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = unescape(parts[0]),
                let value = unescape(parts.count > 1 ? parts[1] : "")
            else { return nil }
            fields.append((name, value))
        }
        return fields
    }

    /// Decodes a part of a form; nil for an invalid escape or invalid UTF-8. `+` is a space.
    public static func unescape(_ text: Substring) -> String? {
        bytes(text, plusIsSpace: true).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Decodes the escapes of a text; nil for an invalid escape.
    package static func bytes(_ text: Substring, plusIsSpace: Bool = false) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text.utf8
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(hexValue),
                    let low = rest.popFirst().flatMap(hexValue)
                else { return nil }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return bytes
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || "-._~".utf8.contains(byte)
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        Character(UnicodeScalar(digit)).hexDigitValue.map { UInt8($0) }
    }
}
