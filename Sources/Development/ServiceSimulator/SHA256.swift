/// SHA-256, for the check of code verifiers.
///
/// The implementation is independent of the code under test.
///
/// Source: FIPS 180-4 §6.2.
enum SHA256 {
    static func digest(_ message: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [
            0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c,
            0x1f83_d9ab, 0x5be0_cd19,
        ]
        var bytes = message + [0x80]
        while bytes.count % 64 != 56 { bytes.append(0) }
        let bits = UInt64(message.count) * 8
        bytes += (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(56 - 8 * $0)) }
        for start in stride(from: 0, to: bytes.count, by: 64) {
            mix(bytes[start..<start + 64], into: &state)
        }
        return state.flatMap { word in
            (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) }
        }
    }

    private static func mix(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
        func rotated(_ value: UInt32, _ count: UInt32) -> UInt32 {
            value >> count | value << (32 - count)
        }
        var words = (0..<16).map { index in
            (0..<4).reduce(0 as UInt32) {
                $0 << 8 | UInt32(block[block.startIndex + 4 * index + $1])
            }
        }
        for index in 16..<64 {
            let (first, last) = (words[index - 15], words[index - 2])
            let low = rotated(first, 7) ^ rotated(first, 18) ^ first >> 3
            let high = rotated(last, 17) ^ rotated(last, 19) ^ last >> 10
            words.append(words[index - 16] &+ low &+ words[index - 7] &+ high)
        }
        var work = state
        for index in 0..<64 {
            let (a, e) = (work[0], work[4])
            let sum = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
            let choice = e & work[5] ^ ~e & work[6]
            let first = work[7] &+ sum &+ choice &+ constants[index] &+ words[index]
            let other = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
            let majority = a & work[1] ^ a & work[2] ^ work[1] & work[2]
            work = [
                first &+ other &+ majority, a, work[1], work[2], work[3] &+ first, e, work[5],
                work[6],
            ]
        }
        for index in 0..<8 { state[index] = state[index] &+ work[index] }
    }

    /// The fractional parts of the cube roots of the first 64 primes.
    private static let constants: [UInt32] = {
        var primes: [Int] = []
        var candidate = 2
        while primes.count < 64 {
            if !primes.contains(where: { candidate % $0 == 0 }) { primes.append(candidate) }
            candidate += 1
        }
        return primes.map(fraction)
    }()

    /// Returns the first 32 bits of the fractional part of a cube root.
    private static func fraction(_ number: Int) -> UInt32 {
        // The largest r with r³ <= number · 2⁹⁶.
        var root: UInt64 = 0
        for bit in (0..<36).reversed() {
            let next = root | 1 << UInt64(bit)
            let square = next.multipliedFullWidth(by: next)
            // next < 2³⁶, so the square has at most 72 bits, and the cube at most 108.
            let low = square.low.multipliedFullWidth(by: next)
            let high = square.high * next + low.high
            let limit = UInt64(number) << 32
            if high < limit || high == limit && low.low == 0 { root = next }
        }
        return UInt32(truncatingIfNeeded: root)
    }
}
