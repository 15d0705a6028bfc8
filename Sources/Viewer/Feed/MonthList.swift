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
        let title: String
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

    /// A date of photos, with the months in which it orders them.
    private struct Order {
        let date: @Sendable (Photo) -> Timestamp?
        var months: [Month] = []

        /// Adds a photo. Returns false if its date is unknown, or in a later month than that of the photo before.
        mutating func add(_ photo: Photo, at index: Int) -> Bool {
            guard let number = number(photo) else { return false }
            guard let last = months.last?.number, number >= last else {
                let title = MonthList.title(of: number)
                months.append(Month(number: number, first: index, title: title))
                return true
            }
            return number == last
        }

        /// Returns the number of the month of a photo; nil if its date is unknown.
        func number(_ photo: Photo) -> Int? {
            guard let date = date(photo) else { return nil }
            var time = time_t(date.secondsSince1970)
            var parts = tm()
            guard localtime_r(&time, &parts) != nil else { return nil }
            return Int(parts.tm_year) * 12 + Int(parts.tm_mon)
        }
    }

    /// The dates that order all photos so far. Local photos are ordered by the times of their files.
    private var orders = [Order { $0.photo.created }, Order { $0.photo.updated }]
    /// The number of photos.
    private(set) var count = 0

    var months: [Month] { orders.first?.months ?? [] }

    /// Adds photos.
    ///
    /// - Returns: False if the months of earlier photos are no longer valid.
    mutating func append(_ photos: some Sequence<Photo>) -> Bool {
        var isSameOrder = true
        for photo in photos {
            for order in orders.indices.reversed() where !orders[order].add(photo, at: count) {
                orders.remove(at: order)
                if order == 0 { isSameOrder = false }
            }
            count += 1
        }
        return isSameOrder
    }

    /// Returns true if a photo that has changed is still in its month.
    func isValid(_ photo: Photo, at index: Int) -> Bool {
        orders.first.map { $0.number(photo) == month(of: index)?.number } ?? true
    }

    /// Returns the month of a photo; nil if there are no months.
    func month(of photo: Int) -> Month? { months.last { $0.first <= photo } }
}
