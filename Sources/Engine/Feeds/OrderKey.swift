/// The keys that order the entries of a source: a higher key is nearer to the top.
///
/// If the entries of a service have keys, the order keys are derived from them. Otherwise the keys are created here.
/// There is always a further key between two of them: a key becomes longer when the numbers between its neighbours are
/// used up. All keys consist of visible ASCII characters without `~`, and of spaces that only this type writes.
nonisolated package enum OrderKey {
    /// The key of a part that begins at the top of a source, above all entries.
    package static let base = "~"

    /// The difference between new keys if the range between the neighbours is large enough.
    private static let step: UInt64 = 1 << 32
    /// The divisor of the range between the neighbours: one insertion uses at most a 64th of the range.
    private static let share: UInt64 = 64

    // MARK: Keys of a service

    /// Returns true if a provider may use this key for an entry.
    static func isValid(_ key: String) -> Bool {
        1...512 ~= key.utf8.count && key.utf8.allSatisfy { 0x21...0x7d ~= $0 }
    }

    /// Returns the order key of a photo in an entry of a service.
    ///
    /// - Parameters:
    ///   - key: The key of the entry. It is lower than the keys of its photos.
    ///   - index: The index of the photo in the entry.
    /// - Returns: A key that is lower for each further photo.
    static func photo(_ key: String, _ index: Int) -> String { "\(key) \(999_999 - index)" }

    /// Returns a key right below another one.
    static func below(_ key: String) -> String {
        let bytes = Array(key.utf8)
        return String(decoding: bytes.dropLast() + [(bytes.last ?? 1) - 1, 0x7d], as: UTF8.self)
    }

    /// Returns the key of an entry that the service shows above another one although its own key is lower, or is not
    /// below the key at which the page begins.
    static func displaced(_ key: String, above lower: String) -> String { "\(lower)!\(key)" }

    // MARK: Created keys

    /// Creates keys between two neighbours.
    ///
    /// - Parameters:
    ///   - count: The number of keys.
    ///   - lower: The neighbour below; nil if there is none.
    ///   - upper: The neighbour above; nil if there is none.
    ///   - isNextBelow: True if the next insertion is below: the keys are placed next to the upper neighbour then, otherwise
    ///     next to the lower one.
    /// - Returns: The keys, the highest first.
    static func keys(
        _ count: Int, above lower: String?, below upper: String?, isNextBelow: Bool
    ) -> [String] {
        guard count > 0 else { return [] }
        let upper = upper == base ? nil : upper
        let isNextBelow = isNextBelow || lower == nil
        let low = lower.map(numbers) ?? []
        // The first keys of an empty source are in the middle of the range.
        let high = upper.map(numbers) ?? (lower == nil ? [1 << 63 + UInt64(count + 1) * step] : [])
        var isBounded = !high.isEmpty
        var prefix: [UInt64] = []
        while true {
            let level = prefix.count
            let bottom = level < low.count ? low[level] : 0
            let top = isBounded ? (level < high.count ? high[level] : 0) : .max
            if isBounded, bottom == top, level < max(low.count, high.count) {
                prefix.append(bottom)
                continue
            }
            // Neighbors with damaged keys may have another order.
            let room = top > bottom ? top - bottom - 1 : 0
            let wanted = UInt64(count)
            if room >= wanted {
                let distance = max(1, min(step, room / (wanted * share)))
                return (0..<wanted).map { index in
                    let number =
                        isNextBelow && isBounded
                        ? top - distance * (index + 1) : bottom + distance * (wanted - index)
                    return text(prefix + [number])
                }
            }
            // Below the next number, the range has no upper end.
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
