/// The keys that order the entries of a source: a higher key is nearer to the top.
///
/// If the service gives its entries keys, the order keys are made from them. Otherwise they are made here, and there
/// is always a further key between two keys: a key becomes longer when the numbers between its neighbours are used up.
/// All keys consist of visible ASCII characters without `~`, and of spaces that only this type writes.
nonisolated enum OrderKey {
    /// The key of a part that begins at the top of a source, above all entries.
    static let base = "~"

    /// The distance between new keys if there is enough room.
    private static let step: UInt64 = 1 << 32
    /// The part of the room that one insertion uses at most.
    private static let share: UInt64 = 64

    /// The end of the room at which new keys are placed.
    enum Side {
        /// Next to the upper neighbour: the next insertion comes below.
        case upper
        /// Next to the lower neighbour: the next insertion comes above.
        case lower
    }

    // MARK: Keys of a service

    /// Returns true if a provider may give this key to an entry.
    static func isValid(_ key: String) -> Bool {
        1...512 ~= key.utf8.count && key.utf8.allSatisfy { 0x21...0x7d ~= $0 }
    }

    /// Makes the order key of a photo in an entry of a service.
    ///
    /// - Parameters:
    ///   - key: The key of the entry. It lies below the keys of its photos.
    ///   - index: The index of the photo in the entry.
    /// - Returns: A key that is lower for each further photo.
    static func photo(_ key: String, _ index: Int) -> String {
        "\(key) \(999_999 - index)"
    }

    // MARK: Keys that are made here

    /// Makes keys between two neighbours.
    ///
    /// - Parameters:
    ///   - count: The number of keys.
    ///   - lower: The neighbour below; nil if there is none.
    ///   - upper: The neighbour above; nil if there is none.
    ///   - side: The neighbour next to which the keys are placed.
    /// - Returns: The keys, the highest first.
    static func keys(
        _ count: Int, above lower: String?, below upper: String?, near side: Side
    ) -> [String] {
        guard count > 0 else { return [] }
        let upper = upper == base ? nil : upper
        let side = lower == nil ? .upper : side
        let low = lower.map(numbers) ?? []
        // An empty source begins in the middle.
        let high = upper.map(numbers) ?? (lower == nil ? [1 << 63 + UInt64(count + 1) * step] : [])
        var isBounded = !high.isEmpty
        var prefix: [UInt64] = []
        while true {
            let level = prefix.count
            let bottom = level < low.count ? low[level] : 0
            let top = isBounded ? (level < high.count ? high[level] : 0) : .max
            if isBounded, bottom == top {
                prefix.append(bottom)
                continue
            }
            let (room, wanted) = (top - bottom - 1, UInt64(count))
            if room >= wanted {
                let distance = max(1, min(step, room / (wanted * share)))
                return (0..<wanted).map { index in
                    let number =
                        side == .upper && isBounded
                        ? top - distance * (index + 1) : bottom + distance * (wanted - index)
                    return text(prefix + [number])
                }
            }
            // Below the next number, the room has no upper end.
            prefix.append(bottom)
            isBounded = false
        }
    }

    private static func text(_ numbers: [UInt64]) -> String {
        numbers.map { number in
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    private static func numbers(_ key: String) -> [UInt64] {
        let digits = Array(key.utf8)
        return stride(from: 0, to: digits.count, by: 16).map { start in
            digits[start..<min(start + 16, digits.count)].reduce(0) { number, digit in
                number << 4 | UInt64(digit <= 0x39 ? digit &- 0x30 : digit &- 0x57)
            }
        }
    }
}
