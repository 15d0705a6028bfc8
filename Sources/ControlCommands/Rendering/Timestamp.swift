internal import Glibc

/// A moment, in seconds since 1970, as a person reads it: in local time.
struct Timestamp {
    let seconds: Int64

    init(_ seconds: Int64) { self.seconds = seconds }

    /// `2026-11-21 14:03`.
    var minute: String { text("%Y-%m-%d %H:%M") }
    /// `2026-11-21 14:03:22`.
    var second: String { text("%Y-%m-%d %H:%M:%S") }

    /// The time alone for a moment on the day of `now`, else with its date.
    func clock(now: Timestamp = .now) -> String {
        text("%F") == now.text("%F") ? text("%H:%M") : minute
    }

    static var now: Timestamp { Timestamp(Int64(time(nil))) }

    private func text(_ format: String) -> String {
        var moment = time_t(seconds)
        var fields = tm()
        var buffer = [CChar](repeating: 0, count: 64)
        // No year can be so far away that an `int` does not hold it.
        guard localtime_r(&moment, &fields) != nil,
            strftime(&buffer, buffer.count, format, &fields) > 0
        else { return String(seconds) }
        return String(
            decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
