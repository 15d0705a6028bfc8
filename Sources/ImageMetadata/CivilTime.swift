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
    /// False for the start of a clock without a battery, and for a time more than a day in the future.
    var isPlausible: Bool {
        seconds != 0 && seconds - Int64(offset ?? 0) <= Timestamp.now.secondsSince1970 + 86_400
    }

    /// Reads the beginning of a text: `2026:11:21 06:22:00`, or the forms of XMP and of other programs. Blanks and quotes
    /// may precede it, the numbers may be separated by other characters and have one digit, and a fraction and an offset
    /// may follow. Without a valid time of day, it is midnight.
    ///
    /// - Parameters:
    ///   - text: The time.
    ///   - offset: The offset, `+01:00`, in place of that in the text. A malformed one counts as missing.
    ///   - fraction: The digits of the fraction of a second, in place of those in the text. Malformed ones count as
    ///     missing.
    init?(_ text: some Collection<UInt8>, offset: [UInt8]? = nil, fraction: [UInt8]? = nil) {
        var rest = Array(text.drop { leadingCharacters.utf8.contains($0) })[...]
        guard let date = rest.popDate(), date.year >= 1800 else { return nil }
        let time = rest.popTime()
        let digits = rest.popFraction()
        var offset = offset?[...] ?? []
        self.init(
            seconds: Int64(date.dayNumber * 86_400 + (time ?? 0)),
            offset: time == nil ? nil : offset.popOffset() ?? rest.popOffset())
        let valid = [fraction, digits].lazy.compactMap(\.self)
            .first { 1...9 ~= $0.count && $0.allSatisfy(\.isDigit) }
        self.fraction = String(decoding: valid ?? [], as: UTF8.self)
    }

    /// Reads a text of a PNG file: `Tue, 28 Nov 2023 10:11:12 +0000`, `Tue Nov 28 10:11:12 2023`, `28-Nov-23`, or another
    /// form. A year of two digits is one of 1970 to 2069.
    ///
    /// Source: PNG, third edition, §11.3.3.1; RFC 822 §5; RFC 850; RFC 5322 §3.3; ISO/IEC 9899 §7.27.3.1.
    init?(internetDate text: String) {
        let words = text.split { $0.isWhitespace || $0 == "," }
        let parts = words.flatMap {
            // An offset may be in the time, or follow it.
            $0.contains(":") || $0.hasPrefix("-") ? [$0] : $0.split(separator: "-")
        }
        func numbers(_ digits: ClosedRange<Int>) -> [Substring] {
            parts.filter { digits ~= $0.utf8.count && $0.utf8.allSatisfy(\.isDigit) }
        }
        let month = parts.lazy
            .compactMap { part in Timestamp.months.firstIndex(where: part.hasPrefix) }.first
        let short = numbers(1...2)
        let shortYear: Substring? = short.dropFirst().first { $0.utf8.count == 2 }
            .map { ($0 < "70" ? "20" : "19") + $0 }
        guard let month, let year = numbers(4...4).first ?? shortYear, let day = short.first else {
            self.init(text.utf8)
            return
        }
        let time = parts.drop { !$0.contains(":") }.filter { $0 != year }.joined(separator: " ")
        self.init("\(year)-\(month + 1)-\(day) \(time)".utf8)
    }

    /// Reads the time in the name of a file, as phones, messengers and programs for screenshots write it:
    /// `PXL_20231128_101112123`, `IMG-20231128-WA0001`, `2023-11-28 10.11.12`, `28.11.2023 10.11.12`,
    /// `photo_1@28-11-2023_10-11-12`, or as milliseconds since 1970. Without a time of day, it is midnight.
    ///
    /// - Parameter name: The name, as bytes of the file system.
    package init?(fileName name: some Collection<UInt8>) {
        let name = Array(name)
        var end = 0
        for start in name.indices where start >= end && (start == 0 || !name[start - 1].isDigit) {
            var rest = name[start...]
            if rest.first != UInt8(ascii: "0"), rest.prefix(while: \.isDigit).count == 13,
                let milliseconds = rest.popNumber(13...13)
            {
                self.init(seconds: Int64(milliseconds / 1000), offset: 0)
                if isPlausible { return }
                continue
            }
            // Exports of Telegram have the day first.
            let isExport = name[..<start].last == UInt8(ascii: "@")
            let dayFirstDate = rest.popDayFirstDate(isCertain: isExport)
            // The year of a removed date does not begin another one.
            end = rest.startIndex
            let isNumber =
                dayFirstDate == nil && rest.dropFirst(5).prefix(while: \.isDigit).count == 4
            guard let date = dayFirstDate ?? rest.popDate(), date.year >= 1990 else { continue }
            let time = rest.popTime(isInName: true)
            // A longer number is not a date, and `2021-1104` is one only before a time.
            guard time != nil || rest.first?.isDigit != true && !isNumber else { continue }
            // A fraction of a second may precede a mark of UTC.
            let suffix = rest.drop(while: \.isDigit)
            let digits = suffix.dropFirst().prefix(while: \.isDigit)
            let mark = digits.isEmpty ? suffix : suffix[digits.endIndex...]
            // The camera of Pixel phones and the uploads of OneDrive write UTC, other programs state it.
            let isUTC =
                name[..<start].suffix(4).elementsEqual("PXL_".utf8)
                || ["_iOS", "_UTC", "Z"].contains {
                    mark.starts(with: $0.utf8)
                        && !mark.dropFirst($0.utf8.count).prefix(1)
                            .contains { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "+") }
                }
            self.init(
                seconds: Int64(date.dayNumber * 86_400 + (time ?? 0)),
                offset: isUTC && time != nil ? 0 : nil)
            if isPlausible { return }
        }
        return nil
    }
}

/// The blanks between the parts of a time.
private let blanks = " \t\r\n"
/// The characters that may precede a time.
private let leadingCharacters = blanks + "\"'"
/// The characters that may separate a date and a time of day.
private let separators = blanks + "T_-.,:"
/// The words for the halves of a day; true for the afternoon. Phones and programs for screenshots write those of Chinese,
/// Japanese and Korean before the time.
private let halves = [
    "AM": false, "PM": true, "上午": false, "下午": true, "午前": false, "午後": true, "오전": false,
    "오후": true,
]
/// The names of zones, with the hours east of UTC.
private let zones = [
    "UT": 0, "GMT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8,
    "PDT": -7,
]

extension UInt8 {
    fileprivate var isDigit: Bool { 0x30...0x39 ~= self }
}

extension ArraySlice<UInt8> {
    /// Removes a number of some digits from the beginning; nil, without a change, if there are fewer.
    fileprivate mutating func popNumber(_ digits: ClosedRange<Int>) -> Int? {
        let text = prefix(digits.upperBound).prefix(while: \.isDigit)
        guard digits ~= text.count else { return nil }
        self = dropFirst(text.count)
        return text.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// Removes the first character if it is one of the given ones.
    private mutating func popOne(of characters: String) -> Bool {
        guard let first, characters.utf8.contains(first) else { return false }
        removeFirst()
        return true
    }

    /// Removes a date that exists: year, month and day. The year may be separated, and then also the month.
    fileprivate mutating func popDate() -> CalendarDate? {
        guard let year = popNumber(4...4) else { return nil }
        let isSeparated = popOne(of: ":-/._ ")
        guard let month = popPart(isSeparated),
            case let isDaySeparated = isSeparated && popOne(of: ":-/._ "),
            let day = popPart(isDaySeparated)
        else { return nil }
        return CalendarDate(year: year, month: month, day: day)
    }

    /// Removes a date with the day first, and returns it if it exists. Without a point, as in `05-06-2023`, the month may be
    /// first, unless it is certain that it is not: that date is removed, but not returned.
    fileprivate mutating func popDayFirstDate(isCertain: Bool) -> CalendarDate? {
        var rest = self
        guard let day = rest.popNumber(1...2), let separator = rest.popFirst(),
            "-._".utf8.contains(separator), let month = rest.popNumber(1...2),
            rest.popFirst() == separator, let year = rest.popNumber(4...4),
            rest.first?.isDigit != true
        else { return nil }
        self = rest
        guard isCertain || day > 12 || separator == UInt8(ascii: ".") else { return nil }
        return CalendarDate(year: year, month: month, day: day)
    }

    /// Removes a number of two digits. With `isShort`, it may have one digit, and spaces may precede it.
    private mutating func popPart(_ isShort: Bool) -> Int? {
        while isShort, popOne(of: " ") {}
        return popNumber(isShort ? 1...2 : 2...2)
    }

    /// Removes a time of day, and returns its seconds; nil, without a change, if there is none. With `isInName`, seconds
    /// are required, and have two digits as the minutes do, because any number may be in a name.
    fileprivate mutating func popTime(isInName: Bool = false) -> Int? {
        var rest = self
        // Words in any language may precede it: ` at `, ` um `, ` a las `, `_at_`.
        let words = rest.prefix(16).prefix { !$0.isDigit }
        var isAfternoon = words.count > 1 ? words.half : nil
        if let first = words.first,
            isAfternoon != nil || first == words.last && " _-".utf8.contains(first)
        {
            rest = rest.dropFirst(words.count)
        }
        while rest.popOne(of: separators) {}
        // Some phones count the first hour as the 24th.
        guard var hour = rest.popNumber(1...2), hour < (isInName ? 24 : 25) else { return nil }
        // An offset, which begins with `-`, may follow `10:11`.
        let separators = rest.first == UInt8(ascii: ":") ? ":" : ":.-_ hm"
        guard let minute = rest.popPart(rest.popOne(of: separators) && !isInName), minute < 60
        else { return nil }
        let end = rest
        var second = 0
        if let number = rest.popPart(rest.popOne(of: separators) && !isInName), number < 61 {
            second = number
        } else {
            guard !isInName else { return nil }
            rest = end
        }
        // A space of several bytes may be before `PM`.
        if isAfternoon == nil, !rest.isEmpty { isAfternoon = rest.prefix(9).half }
        if isAfternoon == true, hour < 12 { hour += 12 }
        if isAfternoon == false, hour == 12 { hour = 0 }
        self = rest
        return (hour % 24 * 60 + minute) * 60 + second
    }

    /// The half of the day that the first word states, true for the afternoon; nil for another word.
    private var half: Bool? {
        let text = String(decoding: self, as: UTF8.self).uppercased()
        return halves[String(text.drop { !$0.isLetter }.prefix(while: \.isLetter))]
    }

    /// Removes the digits after a point.
    fileprivate mutating func popFraction() -> [UInt8]? {
        guard popOne(of: ".") else { return nil }
        let digits = Array(prefix(while: \.isDigit))
        self = dropFirst(digits.count)
        return digits
    }

    /// Removes `Z`, `+02:00` or the name of a zone, and returns the seconds east of UTC; nil if there is none.
    ///
    /// Source: RFC 5322 §4.3.
    fileprivate mutating func popOffset() -> Int? {
        while popOne(of: blanks) {}
        if popOne(of: "Zz") { return 0 }
        if let zone = zones.first(where: { starts(with: $0.key.utf8) }) { return zone.value * 3600 }
        let isWest = first == UInt8(ascii: "-")
        guard popOne(of: "+-"), let hours = popNumber(2...2) else { return nil }
        _ = popOne(of: ":")
        let seconds = hours * 3600 + (popNumber(2...2) ?? 0) * 60
        guard seconds <= 14 * 3600 else { return nil }
        return isWest ? -seconds : seconds
    }
}
