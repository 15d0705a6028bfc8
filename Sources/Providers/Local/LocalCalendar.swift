internal import Glibc
package import ProviderKit

/// The calendar of the computer: the present date in its time zone.
package struct LocalCalendar: Sendable {
    /// The present day.
    package struct Day: Hashable, Sendable {
        /// The date.
        package let date: CalendarDate
        /// The time until the next midnight, rounded up to whole seconds.
        package let rest: Duration

        /// Creates a day.
        package init(date: CalendarDate, rest: Duration) {
            self.date = date
            self.rest = rest
        }
    }

    private let read: @Sendable () -> Day

    /// Creates a calendar.
    ///
    /// - Parameter read: Returns the present day. Called again whenever it is needed, because the clock and the time zone
    ///   may be changed at any time.
    package init(_ read: @escaping @Sendable () -> Day) { self.read = read }

    /// The present day.
    package var today: Day { read() }

    /// The calendar of the system clock and the system's time zone.
    package static let system = LocalCalendar { day(at: .now) }

    /// Returns the day of a time in the time zone of the process.
    ///
    /// The corresponding C functions are `tzset`, `localtime_r` and `mktime`.
    static func day(at now: Timestamp) -> Day {
        // Only this function reads a changed time zone.
        tzset()
        var seconds = time_t(now.secondsSince1970)
        var parts = tm()
        localtime_r(&seconds, &parts)
        var midnight = tm()
        midnight.tm_year = parts.tm_year
        midnight.tm_mon = parts.tm_mon
        midnight.tm_mday = parts.tm_mday + 1
        midnight.tm_isdst = -1
        let rest = mktime(&midnight) - seconds
        let date = CalendarDate(
            year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday))
        return Day(
            date: date ?? CalendarDate(clockSeconds: now.secondsSince1970),
            // No day is longer than 25 hours. In a time zone without this midnight, the day ends an hour later.
            rest: .seconds(min(max(1, rest), 90_000)))
    }
}
