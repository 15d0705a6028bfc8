internal import ProviderKit

extension CalendarDate {
    /// The day within a year: the month times 100 plus the day, in the form in which the index stores it.
    var monthAndDay: Int { month * 100 + day }

    /// The days of earlier years whose photos are shown on this date, in the form of ``monthAndDay``. In common years,
    /// the photos of 29 February are shown on 28 February.
    var daysOfMemories: [Int] {
        month == 2 && day == 28 && !Self.isLeapYear(year) ? [228, 229] : [monthAndDay]
    }

    /// Returns true if a photo that was taken on `other` is shown on this date.
    func isMemory(_ other: CalendarDate) -> Bool {
        other.year < year && daysOfMemories.contains(other.monthAndDay)
    }

    /// The form in cursors: 20261122.
    var number: Int { year * 10_000 + monthAndDay }

    /// Creates a date from ``number``; nil if it does not exist.
    init?(number: Int64) {
        guard 10_000..<100_000_000 ~= number else { return nil }
        let number = Int(number)
        self.init(year: number / 10_000, month: number / 100 % 100, day: number % 100)
    }
}
