/// Base64 for addresses, without padding.
///
/// Source: RFC 4648 §5; RFC 7636 appendix A.
nonisolated enum Base64URL {
    private static let digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Returns the encoding of `bytes`, in ASCII.
    static func encode(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var encoded: [UInt8] = []
        // A reallocation would leave a copy in freed memory.
        encoded.reserveCapacity((bytes.count * 4 + 2) / 3)
        var bits: UInt32 = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                encoded.append(digits[Int(bits >> UInt32(count)) & 63])
            }
        }
        if count > 0 { encoded.append(digits[Int(bits << UInt32(6 - count)) & 63]) }
        return encoded
    }
}
