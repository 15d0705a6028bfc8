/// The characters of a document.
///
/// Source: XML 1.0 §2.2, `Char`, and §4.1, `CharRef`.
extension XMLDocument {
    /// Returns a document in UTF-8 with U+FFFD instead of the characters that are not allowed, and of references to them.
    ///
    /// - Parameter bytes: The document.
    /// - Returns: The document; nil if there are no such characters.
    static func replacingForbidden(in bytes: [UInt8]) -> [UInt8]? {
        var result: [UInt8] = []
        // The part of the document that is not copied yet.
        var rest = bytes[...]
        var index = 0
        while index < bytes.count {
            let length = forbiddenLength(bytes[index...])
            if length > 0 {
                result += rest[..<index]
                result += "\u{fffd}".utf8
                rest = bytes[(index + length)...]
            }
            index += max(length, 1)
        }
        return rest.count == bytes.count ? nil : result + rest
    }

    /// Returns the length of the character or reference at the start of a text; 0 if it is allowed.
    private static func forbiddenLength(_ text: ArraySlice<UInt8>) -> Int {
        switch text.first {
        case 0xef:
            text.starts(with: [0xef, 0xbf, 0xbe]) || text.starts(with: [0xef, 0xbf, 0xbf]) ? 3 : 0
        case UInt8(ascii: "&"): forbiddenReferenceLength(text)
        case let byte?: isAllowed(UInt32(byte)) ? 0 : 1
        case nil: 0
        }
    }

    /// The largest number of digits of a reference that is replaced.
    private static let maximumDigits = 12

    private static func forbiddenReferenceLength(_ text: ArraySlice<UInt8>) -> Int {
        let isHexadecimal = text.starts(with: "&#x".utf8)
        guard isHexadecimal || text.starts(with: "&#".utf8) else { return 0 }
        let prefix = isHexadecimal ? 3 : 2
        let digits = text.dropFirst(prefix).prefix(maximumDigits).prefix { $0 != UInt8(ascii: ";") }
        guard text.dropFirst(prefix + digits.count).first == UInt8(ascii: ";"),
            let number = UInt64(
                String(decoding: digits, as: UTF8.self), radix: isHexadecimal ? 16 : 10)
        else { return 0 }
        return UInt32(exactly: number).map(isAllowed) == true ? 0 : prefix + digits.count + 1
    }

    private static func isAllowed(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x9, 0xa, 0xd, 0x20...0xd7ff, 0xe000...0xfffd, 0x10000...0x10ffff: true
        default: false
        }
    }
}
