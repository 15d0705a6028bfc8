/// A hash that is the same in every process, unlike `Hasher`: FNV-1a with 64 bits.
///
/// It is not cryptographic.
package struct StableHash {
    /// The hash of the bytes so far.
    package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    /// Creates the hash of no bytes.
    package init() {}

    /// Creates the hash of bytes.
    package init(of bytes: some Sequence<UInt8>) { combine(bytes) }

    /// Adds bytes.
    package mutating func combine(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }

    /// Returns the hash of a list of texts as 16 hexadecimal digits.
    package static func digits(of texts: [String]) -> String {
        var hash = StableHash()
        for text in texts {
            hash.combine(text.utf8)
            // 0xff does not occur in UTF-8, so it separates the texts.
            hash.combine([0xff])
        }
        return hash.value.hexDigits
    }
}

extension UInt64 {
    /// The number as 16 hexadecimal digits in lower case.
    package var hexDigits: String {
        String(unsafeUninitializedCapacity: 16) { digits in
            for index in 0..<16 {
                let digit = UInt8(truncatingIfNeeded: self >> UInt64(60 - 4 * index)) & 15
                digits[index] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
            }
            return 16
        }
    }
}
