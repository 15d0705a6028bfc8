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

    /// Creates the date that a clock shows.
    ///
    /// - Parameter clockSeconds: The time on the clock, as seconds since 1970 if the clock showed UTC.
    package init(clockSeconds: Int64) {
        let days = Int(clockSeconds >= 0 ? clockSeconds / 86_400 : (clockSeconds + 1) / 86_400 - 1)
        // Days since 1 March of the year 0, so that the leap day is the last day of a year. An era is 400 years.
        let shifted = days + 719_468
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

    /// True if the year has a 29 February.
    package static func isLeapYear(_ year: Int) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: isLeapYear(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
