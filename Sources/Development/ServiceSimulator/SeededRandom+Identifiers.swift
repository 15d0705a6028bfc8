package import LoopbackHTTP

extension SeededRandom {
    /// Returns an identifier of letters, digits, `-` and `_`, as in IDs and tokens.
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
