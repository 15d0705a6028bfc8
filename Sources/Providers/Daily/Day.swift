internal import Glibc
internal import ProviderKit

/// A day in UTC, on which Wikimedia Commons changes the picture.
struct Day: Hashable, Comparable, Sendable {
    /// The number of days since 1970-01-01.
    let number: Int

    /// The day of the first picture, 2004-11-01.
    static let first = Day(number: 12_723)

    private static let seconds: Int64 = 86_400

    init(number: Int) { self.number = number }

    /// Creates the day of a time.
    init(_ time: Timestamp) {
        let days = time.secondsSince1970 / Self.seconds
        // Without this, times before 1970 would be rounded up.
        number = Int(time.secondsSince1970 % Self.seconds < 0 ? days - 1 : days)
    }

    /// Creates the day of a text, `2026-11-22`; nil for a day that does not exist, or before ``first``.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard text.utf8.count == 10, parts.map(\.utf8.count) == [4, 2, 2],
            parts.allSatisfy({ $0.utf8.allSatisfy(\.isDigit) }), let year = Int(parts[0]),
            let month = Int(parts[1]), let day = Int(parts[2]),
            CalendarDate(year: year, month: month, day: day) != nil
        else { return nil }
        // The year begins with March, so that the leap day is its last day.
        let years = month > 2 ? year : year - 1
        let months = month > 2 ? month - 3 : month + 9
        number =
            365 * years + years / 4 - years / 100 + years / 400 + (153 * months + 2) / 5 + day - 1
            - 719_468
        guard self >= .first else { return nil }
    }

    /// The text, `2026-11-22`.
    var text: String {
        let date = CalendarDate(clockSeconds: Int64(number) * Self.seconds)
        return "\(date.year)-\(Self.digits(date.month))-\(Self.digits(date.day))"
    }

    /// The first second of the day in the time zone of this computer. In UTC, the day of the picture would be another
    /// one for users west of Greenwich.
    var localStart: Timestamp {
        var seconds = time_t(Int64(number) * Self.seconds)
        var fields = tm()
        gmtime_r(&seconds, &fields)
        fields.tm_isdst = -1
        return Timestamp(secondsSince1970: Int64(mktime(&fields)))
    }

    static func < (left: Day, right: Day) -> Bool { left.number < right.number }

    static func - (day: Day, days: Int) -> Day { Day(number: day.number - days) }

    private static func digits(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number)" }
}
