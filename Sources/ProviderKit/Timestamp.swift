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

    /// Returns the time after a duration. An overflow results in the last or first time that can be represented.
    public static func + (moment: Timestamp, duration: Duration) -> Timestamp {
        let seconds = duration.components.seconds
        let (sum, overflows) = moment.secondsSince1970.addingReportingOverflow(seconds)
        return Timestamp(secondsSince1970: overflows ? (seconds > 0 ? .max : .min) : sum)
    }
}
