/// Random numbers that are the same every time.
///
/// Source: Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators (2014).
package struct SplitMix: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }

    /// Characters of ids and tokens: letters, digits, `-` and `_`.
    package mutating func identifier(_ count: Int) -> String {
        String((0..<count).map { _ in Self.alphabet.randomElement(using: &self) ?? "a" })
    }

    package mutating func hexadecimal(_ count: Int) -> String {
        String((0..<count).map { _ in Self.digits.randomElement(using: &self) ?? "0" })
    }

    private static let digits = Array("0123456789abcdef")
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
}
