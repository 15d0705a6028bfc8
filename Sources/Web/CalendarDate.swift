internal import Glibc

/// A date of the Gregorian calendar, without a time zone.
package struct CalendarDate: Hashable, Sendable {
    /// The year, such as 2026.
    package let year: Int
    /// The month, 1 to 12.
    package let month: Int
    /// The day of the month, 1 to 31.
    package let day: Int

    /// Creates a date; nil if it does not exist.
    package init?(year: Int, month: Int, day: Int) {
        guard -100_000...100_000 ~= year, 1...12 ~= month,
            1...Self.days(in: month, of: year) ~= day
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// Creates the date of a text, `2026-11-22`; nil for other text, and for a date that does not exist.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [4, 2, 2],
            parts.allSatisfy({ $0.utf8.allSatisfy(\.isDigit) }), let year = Int(parts[0]),
            let month = Int(parts[1]), let day = Int(parts[2])
        else { return nil }
        self.init(year: year, month: month, day: day)
    }

    /// Creates the date of a time in the time zone of this computer.
    package init(local moment: Timestamp) {
        var seconds = time_t(moment.secondsSince1970)
        var fields = tm()
        localtime_r(&seconds, &fields)
        year = Int(fields.tm_year) + 1900
        month = Int(fields.tm_mon) + 1
        day = Int(fields.tm_mday)
    }

    /// Creates the date that a clock shows.
    ///
    /// - Parameter clockSeconds: The time on the clock, as seconds since 1970 if the clock showed UTC.
    package init(clockSeconds: Int64) {
        self.init(
            dayNumber: Int(
                clockSeconds >= 0 ? clockSeconds / 86_400 : (clockSeconds + 1) / 86_400 - 1))
    }

    /// Creates the date of a number of days since 1970-01-01.
    package init(dayNumber: Int) {
        // Days since 1 March of the year 0, so that the leap day is the last day of a year. An era is 400 years.
        let shifted = dayNumber + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The number of days since 1970-01-01, for years from -399.
    package var dayNumber: Int {
        // The calendar repeats after 400 years, which avoids the division of negative numbers.
        let years = (month > 2 ? year : year - 1) + 400
        let months = month > 2 ? month - 3 : month + 9
        return 365 * years + years / 4 - years / 100 + years / 400 + (153 * months + 2) / 5 + day
            - 865_566
    }

    /// The date as text, `2026-11-22`.
    package var text: String {
        "\(Self.digits(year, 4))-\(Self.digits(month))-\(Self.digits(day))"
    }

    /// True if the year has a 29 February.
    package static func isLeapYear(_ year: Int) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    fileprivate static func digits(_ number: Int, _ count: Int = 2) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: isLeapYear(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension Timestamp {
    /// The time in UTC as text, `2026-11-22T20:00:00Z`.
    package var rfc3339: String {
        let second = Int((secondsSince1970 % 86_400 + 86_400) % 86_400)
        let clock = [second / 3600, second / 60 % 60, second % 60].map { CalendarDate.digits($0) }
        let date = CalendarDate(clockSeconds: secondsSince1970)
        return "\(date.text)T\(clock.joined(separator: ":"))Z"
    }

    /// Creates the time at which a clock in the time zone of this computer shows a time.
    ///
    /// - Parameter seconds: The time on the clock, as seconds since 1970 if the clock showed UTC.
    package init(localClockSeconds seconds: Int64) {
        var seconds = time_t(seconds)
        var fields = tm()
        gmtime_r(&seconds, &fields)
        fields.tm_isdst = -1
        self.init(secondsSince1970: Int64(mktime(&fields)))
    }
}
