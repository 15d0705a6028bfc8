internal import Contract
internal import Glibc
internal import ProviderKit
internal import Translation

/// The months of the photos of a feed, the newest first; empty if the feed is not ordered by date.
nonisolated struct MonthList {
    nonisolated struct Month: Equatable {
        /// The number of months since the year 1900.
        let number: Int
        /// The index of its first photo.
        let first: Int
        var title: String { MonthList.title(of: number) }
    }

    // Translators: a month as a heading, as a format of strftime(3).
    static var titleFormat: String { tr("%OB %Y") }

    /// Returns the title of a month.
    ///
    /// - Parameter number: The number of months since the year 1900.
    /// - Returns: The month and the year.
    static func title(of number: Int) -> String {
        var parts = tm()
        (parts.tm_year, parts.tm_mon) = (Int32(number / 12), Int32(number % 12))
        // The middle of the month is in it in each time zone.
        parts.tm_mday = 15
        let time = Timestamp(secondsSince1970: Int64(mktime(&parts)))
        return time.localText(titleFormat) ?? ""
    }

    /// The dates that order all photos so far, with the months. Local photos are ordered by the times of their files.
    private var orders: [(date: @Sendable (Photo) -> Timestamp?, months: [Month])] = [
        ({ $0.photo.created }, []), ({ $0.photo.updated }, []),
    ]
    /// The number of photos.
    private(set) var count = 0

    var months: [Month] { orders.first?.months ?? [] }

    /// Adds photos.
    ///
    /// - Returns: False if the months of earlier photos are no longer valid.
    mutating func append(_ photos: some Sequence<Photo>) -> Bool {
        var isSameOrder = true
        for photo in photos {
            for order in orders.indices.reversed() where !add(photo, to: order) {
                orders.remove(at: order)
                if order == 0 { isSameOrder = false }
            }
            count += 1
        }
        return isSameOrder
    }

    /// Adds a photo. Returns false if its date is unknown, or in a later month than that of the photo before.
    private mutating func add(_ photo: Photo, to order: Int) -> Bool {
        guard let number = Self.number(orders[order].date(photo)) else { return false }
        guard let last = orders[order].months.last?.number, number >= last else {
            orders[order].months.append(Month(number: number, first: count))
            return true
        }
        return number == last
    }

    /// Returns true if a photo that has changed is still in its month.
    func isValid(_ photo: Photo, at index: Int) -> Bool {
        orders.first.map { Self.number($0.date(photo)) == month(of: index)?.number } ?? true
    }

    /// Returns the number of the month of a date; nil if the date is unknown.
    private static func number(_ date: Timestamp?) -> Int? {
        guard let date else { return nil }
        var time = time_t(date.secondsSince1970)
        var parts = tm()
        guard localtime_r(&time, &parts) != nil else { return nil }
        return Int(parts.tm_year) * 12 + Int(parts.tm_mon)
    }

    /// Returns the month of a photo; nil if there are no months.
    func month(of photo: Int) -> Month? { months.last { $0.first <= photo } }
}
