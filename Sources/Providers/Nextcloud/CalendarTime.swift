internal import Glibc
internal import ProviderKit

/// A time in UTC by the calendar.
struct CalendarTime: Hashable, Sendable {
    private let year: Int
    private let month: Int
    private let day: Int
    private let secondsOfDay: Int

    init(seconds: Int64) {
        var time = time_t(seconds)
        var fields = tm()
        gmtime_r(&time, &fields)
        year = Int(fields.tm_year) + 1900
        month = Int(fields.tm_mon) + 1
        day = Int(fields.tm_mday)
        secondsOfDay = Int(fields.tm_hour) * 3600 + Int(fields.tm_min) * 60 + Int(fields.tm_sec)
    }

    /// The time, `2026-11-22T20:00:00+00:00`.
    var rfc3339: String {
        func digits(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number)" }
        let time = [secondsOfDay / 3600, secondsOfDay / 60 % 60, secondsOfDay % 60]
        return
            "\(year)-\(digits(month))-\(digits(day))T\(time.map(digits).joined(separator: ":"))+00:00"
    }

    /// Returns the first second of a day; nil if the month does not have the day.
    static func start(year: Int, month: Int, day: Int) -> Int64? {
        var fields = tm()
        fields.tm_year = Int32(year - 1900)
        fields.tm_mon = Int32(month - 1)
        fields.tm_mday = Int32(day)
        let seconds = timegm(&fields)
        return fields.tm_mday == Int32(day) ? Int64(seconds) : nil
    }
}
