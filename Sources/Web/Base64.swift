/// Base64 in its two alphabets.
///
/// Source: RFC 4648 §4 and §5.
package enum Base64 {
    private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    private static let standardAlphabet = Array((letters + "+/").utf8)
    private static let urlAlphabet = Array((letters + "-_").utf8)

    /// Returns the encoding of bytes with padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        String(decoding: encodedBytes(bytes), as: UTF8.self)
    }

    /// Returns the encoding of bytes with padding, in ASCII.
    package static func encodedBytes(_ bytes: [UInt8]) -> [UInt8] {
        var text = digits(bytes, standardAlphabet)
        while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        return text
    }

    /// Returns the encoding of bytes for addresses, without padding, in ASCII. Makes no other copy of the bytes.
    package static func encodedBytesForURL(_ bytes: [UInt8]) -> [UInt8] {
        digits(bytes, urlAlphabet)
    }

    private static func digits(_ bytes: [UInt8], _ alphabet: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        // A reallocation would leave a copy in freed memory.
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        let whole = bytes.count / 3 * 3
        for start in stride(from: 0, to: whole, by: 3) {
            let bits = Int(bytes[start]) << 16 | Int(bytes[start + 1]) << 8 | Int(bytes[start + 2])
            text.append(alphabet[bits >> 18])
            text.append(alphabet[bits >> 12 & 63])
            text.append(alphabet[bits >> 6 & 63])
            text.append(alphabet[bits & 63])
        }
        guard whole < bytes.count else { return text }
        let rest = bytes[whole...]
        let bits = rest.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - rest.count))
        for place in 0...rest.count { text.append(alphabet[bits >> (18 - 6 * place) & 63]) }
        return text
    }

    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xff, count: 256)
        for (value, digit) in standardAlphabet.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()

    /// Decodes a text in the standard alphabet; nil for an invalid text. The padding may be missing.
    package static func decode(_ text: String) -> [UInt8]? {
        var digits = Array(text.utf8)[...]
        for _ in 0..<2 where digits.last == UInt8(ascii: "=") { digits.removeLast() }
        guard digits.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count * 3 / 4)
        var (bits, count) = (UInt32(0), 0)
        for digit in digits {
            let value = values[Int(digit)]
            guard value < 64 else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }
}
