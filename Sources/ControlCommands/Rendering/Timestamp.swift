internal import Glibc

/// A time in seconds since 1970, which is printed in local time.
struct Timestamp {
    let seconds: Int64

    init(_ seconds: Int64) { self.seconds = seconds }

    /// The date and time to the minute, such as `2026-11-21 14:03`.
    var minute: String { text("%Y-%m-%d %H:%M") }
    /// The date and time to the second, such as `2026-11-21 14:03:22`.
    var second: String { text("%Y-%m-%d %H:%M:%S") }

    /// Returns the time without the date if it is on the day of `now`, otherwise with the date.
    func clock(now: Timestamp = .now) -> String {
        text("%F") == now.text("%F") ? text("%H:%M") : minute
    }

    static var now: Timestamp { Timestamp(Int64(time(nil))) }

    private func text(_ format: String) -> String {
        var moment = time_t(seconds)
        var fields = tm()
        var buffer = [CChar](repeating: 0, count: 64)
        // `localtime_r` fails if the year does not fit into an `int`.
        guard localtime_r(&moment, &fields) != nil,
            strftime(&buffer, buffer.count, format, &fields) > 0
        else { return String(seconds) }
        return String(
            decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
