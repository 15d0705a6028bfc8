internal import CLinux
internal import Glibc

/// A moment, in whole seconds since 1970 in UTC.
public struct Timestamp: Hashable, Comparable, Sendable {
    public let secondsSince1970: Int64

    public init(secondsSince1970: Int64) { self.secondsSince1970 = secondsSince1970 }

    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.secondsSince1970 < right.secondsSince1970
    }

    /// The moment by the clock of the machine.
    public static var now: Timestamp { Timestamp(secondsSince1970: Int64(time(nil))) }

    /// The last moment there is, or the first, where the sum lies beyond: servers name any number of seconds.
    public static func + (moment: Timestamp, duration: Duration) -> Timestamp {
        let seconds = duration.components.seconds
        let (sum, overflows) = moment.secondsSince1970.addingReportingOverflow(seconds)
        return Timestamp(secondsSince1970: overflows ? (seconds > 0 ? .max : .min) : sum)
    }

    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, in English as it is sent.
    ///
    /// Source: RFC 9110 §5.6.7; the two obsolete forms are not read. The C functions are `strptime` and
    /// `timegm`; they are right as long as the programs do not call `setlocale`.
    public init?(httpDate: String) {
        var fields = tm()
        let isWhole = httpDate.withCString { text in
            strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &fields).map { $0.pointee == 0 } ?? false
        }
        guard isWhole else { return nil }
        self.init(secondsSince1970: Int64(timegm(&fields)))
    }
}
