package import LoopbackHTTP

extension [UInt8] {
    /// Returns the bytes of a document with a few changes.
    ///
    /// - Parameters:
    ///   - texts: The texts that replace bytes.
    ///   - random: The generator of the changes.
    /// - Returns: The bytes, of which some are changed, removed, repeated, or replaced by a text.
    package func mutated(with texts: [String], using random: inout SeededRandom) -> [UInt8] {
        var bytes = self
        for _ in 0..<Int.random(in: 1...6, using: &random) where bytes.count > 64 {
            let start = Int.random(in: 0..<bytes.count - 32, using: &random)
            let end = start + Int.random(in: 1...32, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[start] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.removeSubrange(start..<end)
            case 2: bytes.insert(contentsOf: bytes[start..<end], at: start)
            default:
                let text = texts.randomElement(using: &random) ?? ""
                bytes.replaceSubrange(start..<end, with: Array(text.utf8))
            }
        }
        return bytes
    }
}
