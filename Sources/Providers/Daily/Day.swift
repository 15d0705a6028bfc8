internal import ProviderKit

/// A day in UTC, on which Wikimedia Commons changes the picture.
struct Day: Hashable, Comparable, Sendable {
    /// The number of days since 1970-01-01.
    let number: Int

    /// The day of the first picture, 2004-11-01.
    static let first = Day(number: 12_723)

    init(number: Int) { self.number = number }

    /// Creates the day of a time.
    init(_ time: Timestamp) {
        number = CalendarDate(clockSeconds: time.secondsSince1970).dayNumber
    }

    /// Creates the day of a text, `2026-11-22`; nil for a day that does not exist, or before ``first``.
    init?(_ text: some StringProtocol) {
        guard let date = CalendarDate(text) else { return nil }
        number = date.dayNumber
        guard self >= .first else { return nil }
    }

    /// The text, `2026-11-22`.
    var text: String { CalendarDate(dayNumber: number).text }

    /// The first second of the day in the time zone of this computer. In UTC, the day of the picture would be another
    /// one for users west of Greenwich.
    var localStart: Timestamp { Timestamp(localClockSeconds: Int64(number) * 86_400) }

    static func < (left: Day, right: Day) -> Bool { left.number < right.number }

    static func - (day: Day, days: Int) -> Day { Day(number: day.number - days) }
}

/// The ID of a picture: the day and the page ID of the file, `2026-11-22-12345`.
///
/// The day distinguishes a file that is the picture of two days. The page ID distinguishes a file from one that
/// replaces it on that day.
extension PhotoID {
    init(day: Day, page: Int) { self.init("\(day.text)-\(page)") }

    /// The day and the page ID; nil if the ID has another form.
    var picture: (day: Day, page: Int)? {
        guard text.utf8.count <= 24, let day = Day(text.prefix(10)) else { return nil }
        let rest = text.dropFirst(10)
        guard rest.first == "-", rest.dropFirst().first != "0",
            rest.dropFirst().utf8.allSatisfy(\.isDigit), let page = Int(rest.dropFirst())
        else { return nil }
        return (day, page)
    }
}
