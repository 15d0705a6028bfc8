internal import Glibc

/// Conversion of bytes that may be invalid UTF-8 to strings and back, for parsers that take strings.
///
/// A byte that is not part of valid UTF-8 becomes one scalar of a private use area. A scalar of that range in the text
/// itself is also replaced byte by byte, so that ``bytes(of:)`` restores the bytes exactly.
package enum RawText {
    /// The scalar for byte 0x80; the following 127 scalars represent the following bytes.
    private static let first: UInt32 = 0x10_FE80

    /// Returns the string that represents the bytes.
    package static func text(of bytes: some Collection<UInt8>) -> String {
        if let text = String(validating: bytes, as: UTF8.self),
            !text.unicodeScalars.contains(where: isReplacement)
        {
            return text
        }
        var text = String.UnicodeScalarView()
        var rest = Array(bytes)[...]
        while let byte = rest.first {
            if let scalar = scalar(at: rest), !isReplacement(scalar) {
                text.append(scalar)
                rest = rest.dropFirst(UTF8.width(scalar))
            } else {
                text.append(Unicode.Scalar(first + UInt32(byte & 0x7F)) ?? "\u{FFFD}")
                rest = rest.dropFirst()
            }
        }
        return String(text)
    }

    /// Returns the bytes for which ``text(of:)`` returned `text`.
    package static func bytes(of text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            if isReplacement(scalar) {
                bytes.append(UInt8(truncatingIfNeeded: scalar.value - first) | 0x80)
            } else {
                bytes += Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            }
        }
        return bytes
    }

    private static func isReplacement(_ scalar: Unicode.Scalar) -> Bool {
        first..<first + 128 ~= scalar.value
    }

    /// Returns the scalar that begins the bytes; nil if they do not begin with valid UTF-8.
    private static func scalar(at bytes: ArraySlice<UInt8>) -> Unicode.Scalar? {
        var decoder = UTF8()
        var iterator = bytes.prefix(4).makeIterator()
        guard case .scalarValue(let scalar) = decoder.decode(&iterator) else { return nil }
        return scalar
    }
}

extension [UInt8] {
    /// Creates an array of the bytes of a C string, without the terminating NUL.
    package init(cString: UnsafePointer<CChar>) {
        self.init(UnsafeRawBufferPointer(start: cString, count: strlen(cString)))
    }
}
