internal import Glibc

/// A day in the time zone of this computer.
package struct LocalDay: Hashable, Sendable {
    package let year: Int
    package let month: Int
    package let day: Int

    /// Creates the day of a time.
    package init(_ moment: Timestamp) {
        var seconds = time_t(moment.secondsSince1970)
        var fields = tm()
        localtime_r(&seconds, &fields)
        year = Int(fields.tm_year) + 1900
        month = Int(fields.tm_mon) + 1
        day = Int(fields.tm_mday)
    }

    /// Noon of the day, `2026-11-22T12:00:00.000Z`. Servers state days in UTC.
    package var noon: String { "\(year)-\(Self.digits(month))-\(Self.digits(day))T12:00:00.000Z" }

    /// Returns true if a time in RFC 3339 is on this day of an earlier year.
    package func isAnniversary(_ text: String) -> Bool {
        let parts = text.prefix(10).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let year = Int(parts[0]) else { return false }
        return year < self.year && parts[1] == Self.digits(month) && parts[2] == Self.digits(day)
    }

    private static func digits(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number)" }
}
