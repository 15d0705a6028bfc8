internal import CLinux
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

    /// Returns the time after a duration. An overflow results in the last or first time that can be represented.
    public static func + (moment: Timestamp, duration: Duration) -> Timestamp {
        let seconds = duration.components.seconds
        let (sum, overflows) = moment.secondsSince1970.addingReportingOverflow(seconds)
        return Timestamp(secondsSince1970: overflows ? (seconds > 0 ? .max : .min) : sum)
    }

    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`; nil if the text is malformed.
    ///
    /// Source: RFC 9110 §5.6.7. The two obsolete forms are not supported.
    public init?(httpDate: String) {
        var fields = tm()
        let isWhole = httpDate.withCString { text in
            strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &fields).map { $0.pointee == 0 } ?? false
        }
        guard isWhole else { return nil }
        self.init(secondsSince1970: Int64(timegm(&fields)))
    }
}
