internal import ProviderKit

extension Timestamp {
    /// The date and time to the minute, such as `2026-11-21 14:03`.
    var minute: String { text("%Y-%m-%d %H:%M") }
    /// The date and time to the second, such as `2026-11-21 14:03:22`.
    var second: String { text("%Y-%m-%d %H:%M:%S") }

    /// Returns the time without the date if it is on the day of `now`, otherwise with the date.
    func clock(now: Timestamp = .now) -> String {
        text("%F") == now.text("%F") ? text("%H:%M") : minute
    }

    private func text(_ format: String) -> String { localText(format) ?? "\(secondsSince1970)" }
}
