internal import Web

/// A date and a time of day, as the clock of a camera showed it.
package struct CivilTime: Hashable, Sendable {
    /// Seconds since 1970, if the clock showed UTC.
    package let seconds: Int64
    /// The offset of the clock from UTC in seconds; nil if the camera did not record it.
    package let offset: Int?
    /// The decimal digits of the fraction of a second, `25` for a quarter; empty if the camera did not record it.
    package var fraction = ""
}

extension CivilTime {
    /// Reads `2026:11:21 06:22:00`; nil for other text, and for dates that do not exist.
    ///
    /// - Parameters:
    ///   - text: The time in the form of EXIF.
    ///   - offset: The offset, `+01:00`. A malformed one counts as missing.
    ///   - fraction: The digits of the fraction of a second. Malformed ones count as missing.
    init?(_ text: [UInt8], offset: [UInt8]?, fraction: [UInt8]? = nil) {
        func number(_ range: Range<Int>) -> Int? {
            guard text[range].allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
            return text[range].reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }
        let colon = UInt8(ascii: ":")
        guard text.count == 19, text[4] == colon, text[7] == colon, text[13] == colon,
            text[16] == colon, text[10] == UInt8(ascii: " "),
            let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16),
            let second = number(17..<19), year >= 1800,
            let date = CalendarDate(year: year, month: month, day: day), hour < 24, minute < 60,
            second < 61
        else { return nil }
        self.init(
            seconds: Int64(((date.dayNumber * 24 + hour) * 60 + minute) * 60 + second),
            offset: offset.flatMap(Self.offset))
        if let fraction, 1...9 ~= fraction.count, fraction.allSatisfy({ 0x30...0x39 ~= $0 }) {
            self.fraction = String(decoding: fraction, as: UTF8.self)
        }
    }

    private static func offset(_ text: [UInt8]) -> Int? {
        let digits = [1, 2, 4, 5]
        guard text.count == 6, text[3] == UInt8(ascii: ":"),
            digits.allSatisfy({ 0x30...0x39 ~= text[$0] })
        else { return nil }
        let values = digits.map { Int(text[$0] - 0x30) }
        let minutes = (values[0] * 10 + values[1]) * 60 + values[2] * 10 + values[3]
        guard minutes <= 14 * 60 else { return nil }
        switch text[0] {
        case UInt8(ascii: "+"): return minutes * 60
        case UInt8(ascii: "-"): return -minutes * 60
        default: return nil
        }
    }
}
