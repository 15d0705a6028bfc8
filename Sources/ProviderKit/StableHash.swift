/// A checksum of bytes that is the same in every run, unlike Swift's `Hasher`: FNV-1a, 64 bits.
///
/// It tells things apart; it is no defence against anybody.
package struct StableHash {
    package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    package init() {}

    package mutating func combine(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
}

extension UInt64 {
    /// 16 hexadecimal digits, in lower case.
    package var hexDigits: String {
        String(unsafeUninitializedCapacity: 16) { digits in
            for place in 0..<16 {
                let digit = UInt8(truncatingIfNeeded: self >> UInt64(60 - 4 * place)) & 15
                digits[place] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
            }
            return 16
        }
    }
}
