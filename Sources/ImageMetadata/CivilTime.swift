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

    /// Reads the beginning of a text: `2026:11:21 06:22:00`, or the forms of XMP and of other programs. The numbers may
    /// be separated by other characters, and a fraction and an offset may follow. Without a valid time of day, it is
    /// midnight.
    ///
    /// - Parameters:
    ///   - text: The time.
    ///   - offset: The offset, `+01:00`, in place of that in the text. A malformed one counts as missing.
    ///   - fraction: The digits of the fraction of a second, in place of those in the text. Malformed ones count as
    ///     missing.
    init?(_ text: some Collection<UInt8>, offset: [UInt8]? = nil, fraction: [UInt8]? = nil) {
        var rest = Array(text)[...]
        guard let date = rest.popDate(), date.year >= 1800 else { return nil }
        let time = rest.popTime(needsSeconds: false)
        let digits = rest.popFraction()
        var offset = offset?[...] ?? rest
        self.init(
            seconds: Int64(date.dayNumber * 86_400 + (time ?? 0)),
            offset: time == nil ? nil : offset.popOffset())
        if let fraction = fraction ?? digits, 1...9 ~= fraction.count,
            fraction.allSatisfy(\.isDigit)
        {
            self.fraction = String(decoding: fraction, as: UTF8.self)
        }
    }

    /// Reads a text of a PNG file: `Tue, 28 Nov 2023 10:11:12 +0000`, or another form.
    ///
    /// Source: PNG, third edition, §11.3.3.1; RFC 5322 §3.3.
    init?(internetDate text: String) {
        let months: [Substring] = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        let parts = text.split { $0 == " " || $0 == "," }
        for (index, part) in parts.enumerated().dropFirst() where index + 2 < parts.count {
            guard let month = months.firstIndex(of: part) else { continue }
            let date = "\(parts[index + 1])-\(month + 1)-\(parts[index - 1])"
            self.init("\(date) \(parts[(index + 2)...].joined(separator: " "))".utf8)
            return
        }
        self.init(text.utf8)
    }

    /// Reads the time in the name of a file, as phones, messengers and programs for screenshots write it:
    /// `PXL_20231128_101112123`, `IMG-20231128-WA0001`, `2023-11-28 10.11.12`. Without a time of day, it is midnight.
    ///
    /// - Parameter name: The name, as bytes of the file system.
    package init?(fileName name: some Collection<UInt8>) {
        let name = Array(name)
        for start in name.indices where start == 0 || !name[start - 1].isDigit {
            var rest = name[start...]
            guard let date = rest.popDate(), date.year >= 1990 else { continue }
            let time = rest.popTime(needsSeconds: true)
            // A longer number is not a date.
            guard time != nil || rest.first?.isDigit != true else { continue }
            self.init(seconds: Int64(date.dayNumber * 86_400 + (time ?? 0)), offset: nil)
            if isPlausible { return }
        }
        return nil
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { 0x30...0x39 ~= self }
}

extension ArraySlice<UInt8> {
    /// Removes a number of some digits from the beginning; nil, without a change, if there are fewer.
    private mutating func popNumber(_ digits: ClosedRange<Int>) -> Int? {
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

    /// Removes a date that exists: year, month and day, which may be separated.
    fileprivate mutating func popDate() -> CalendarDate? {
        guard let year = popNumber(4...4) else { return nil }
        let digits = popOne(of: ":-/._ ") ? 1...2 : 2...2
        guard let month = popNumber(digits), digits.lowerBound == 2 || popOne(of: ":-/._ "),
            let day = popNumber(digits)
        else { return nil }
        return CalendarDate(year: year, month: month, day: day)
    }

    /// Removes a time of day, and returns its seconds; nil, without a change, if there is none.
    fileprivate mutating func popTime(needsSeconds: Bool) -> Int? {
        var rest = self
        if rest.starts(with: " at ".utf8) { rest = rest.dropFirst(4) }
        while rest.popOne(of: " T_-.,") {}
        guard var hour = rest.popNumber(1...2), hour < 24 else { return nil }
        _ = rest.popOne(of: ":.-_")
        guard let minute = rest.popNumber(2...2), minute < 60 else { return nil }
        let end = rest
        _ = rest.popOne(of: ":.-_")
        var second = 0
        if let number = rest.popNumber(2...2), number < 61 {
            second = number
        } else {
            guard !needsSeconds else { return nil }
            rest = end
        }
        // A space of several bytes may be before `PM`.
        let suffix = String(decoding: rest.prefix(5), as: UTF8.self).uppercased()
            .drop { !$0.isLetter }
        if suffix.hasPrefix("PM"), hour < 12 { hour += 12 }
        if suffix.hasPrefix("AM"), hour == 12 { hour = 0 }
        self = rest
        return (hour * 60 + minute) * 60 + second
    }

    /// Removes the digits after a point.
    fileprivate mutating func popFraction() -> [UInt8]? {
        guard popOne(of: ".") else { return nil }
        let digits = Array(prefix(while: \.isDigit))
        self = dropFirst(digits.count)
        return digits
    }

    /// Removes `Z` or `+02:00`, and returns the seconds east of UTC; nil if there is none.
    fileprivate mutating func popOffset() -> Int? {
        while popOne(of: " ") {}
        if popOne(of: "Zz") || starts(with: "GMT".utf8) || starts(with: "UTC".utf8) { return 0 }
        let isWest = first == UInt8(ascii: "-")
        guard popOne(of: "+-"), let hours = popNumber(2...2) else { return nil }
        _ = popOne(of: ":")
        let seconds = hours * 3600 + (popNumber(2...2) ?? 0) * 60
        guard seconds <= 14 * 3600 else { return nil }
        return isWest ? -seconds : seconds
    }
}
