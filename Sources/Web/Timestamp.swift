internal import Glibc

/// A time in whole seconds since 1970 in UTC.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// The seconds since 1970-01-01 00:00:00 UTC, without leap seconds.
    public let secondsSince1970: Int64

    /// Creates a time.
    public init(secondsSince1970: Int64) { self.secondsSince1970 = secondsSince1970 }

    /// Returns true if `left` is earlier.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.secondsSince1970 < right.secondsSince1970
    }

    /// The present time of the system clock.
    public static var now: Timestamp { Timestamp(secondsSince1970: Int64(time(nil))) }

    /// Returns the local time in a format of `strftime`, with the names of months in the user's language.
    ///
    /// - Returns: The text; nil if the year does not fit into an `int`.
    package func localText(_ format: String) -> String? {
        var moment = time_t(secondsSince1970)
        var fields = tm()
        guard localtime_r(&moment, &fields) != nil else { return nil }
        var buffer = [CChar](repeating: 0, count: 128)
        let count = strftime(&buffer, buffer.count, format, &fields)
        return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Returns the local time, `14:03` on the day of `now`, otherwise with the date in a format of `strftime`.
    ///
    /// - Returns: The text; nil if the year does not fit into an `int`.
    package func localClock(now: Timestamp, dated format: String = "%Y-%m-%d %H:%M") -> String? {
        localText(localText("%F") == now.localText("%F") ? "%H:%M" : format)
    }

    /// Returns the time after a duration. An overflow results in the last or first time that can be represented.
    public static func + (moment: Timestamp, duration: Duration) -> Timestamp {
        let seconds = duration.components.seconds
        let (sum, overflows) = moment.secondsSince1970.addingReportingOverflow(seconds)
        return Timestamp(secondsSince1970: overflows ? (seconds > 0 ? .max : .min) : sum)
    }
}

extension Timestamp {
    /// Parses `2021-04-11T10:31:09-04:00` or `2023-06-21T15:14:49Z`; nil if the text is malformed. A fraction of a
    /// second is dropped.
    ///
    /// Source: RFC 3339 §5.6. A second 60 is the first second of the next minute.
    public init?(rfc3339 text: String) {
        var rest = Substring(text).utf8
        guard let year = rest.popNumber(4), rest.popOne(of: "-"),
            let month = rest.popNumber(2), rest.popOne(of: "-"), let day = rest.popNumber(2),
            let date = CalendarDate(year: year, month: month, day: day), rest.popOne(of: "Tt "),
            let hour = rest.popNumber(2), hour < 24, rest.popOne(of: ":"),
            let minute = rest.popNumber(2), minute < 60, rest.popOne(of: ":"),
            let second = rest.popNumber(2), second <= 60
        else { return nil }
        if rest.popOne(of: ".") {
            guard rest.popNumber(1) != nil else { return nil }
            while rest.popNumber(1) != nil {}
        }
        guard let offset = rest.popOffset(), rest.isEmpty else { return nil }
        let seconds = date.dayNumber * 86_400 + hour * 3600 + minute * 60 + second
        self.init(secondsSince1970: Int64(seconds - offset))
    }

    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`; nil if the text is malformed.
    ///
    /// Source: RFC 9110 §5.6.7. The two obsolete forms are not supported.
    public init?(httpDate text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, Self.weekdays.contains(parts[0]), parts[1].utf8.count == 2,
            let month = Self.months.firstIndex(of: parts[2]), parts[3].utf8.count == 4,
            parts[4].utf8.count == 8, parts[5] == "GMT"
        else { return nil }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        self.init(rfc3339: "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
    }

    private static let weekdays: Set<Substring> = [
        "Mon,", "Tue,", "Wed,", "Thu,", "Fri,", "Sat,", "Sun,",
    ]

    /// The beginnings of the English names of the months.
    package static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}

extension Substring.UTF8View {
    /// Removes that many digits from the beginning; nil, without a change, if there are fewer.
    fileprivate mutating func popNumber(_ digits: Int) -> Int? {
        let text = prefix(digits)
        guard text.count == digits, text.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        removeFirst(digits)
        return text.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// Removes the first character if it is one of the given ones.
    fileprivate mutating func popOne(of characters: StaticString) -> Bool {
        let isOne = characters.withUTF8Buffer { characters in
            first.map { characters.contains($0) } ?? false
        }
        if isOne { removeFirst() }
        return isOne
    }

    /// Removes `Z` or `+02:00`, and returns the seconds east of UTC.
    fileprivate mutating func popOffset() -> Int? {
        if popOne(of: "Zz") { return 0 }
        let isWest = first == UInt8(ascii: "-")
        guard popOne(of: "+-"), let hours = popNumber(2), hours < 24, popOne(of: ":"),
            let minutes = popNumber(2), minutes < 60
        else { return nil }
        let seconds = hours * 3600 + minutes * 60
        return isWest ? -seconds : seconds
    }
}
