internal import Glibc
internal import ProviderKit
internal import Translation

extension Timestamp {
    /// The date and time to the minute, such as `2026-11-21 14:03`.
    var minute: String { minute(for: .pipe) }
    /// The date and time to the second, such as `2026-11-21 14:03:22`.
    var second: String { second(for: .pipe) }

    /// Returns ``minute`` for a pipe, and on a terminal the date in the format of the user.
    func minute(for target: OutputTarget) -> String {
        text(Self.isLocal(target) ? "%x %H:%M" : "%Y-%m-%d %H:%M")
    }

    /// Returns ``second`` for a pipe, and on a terminal the date in the format of the user.
    func second(for target: OutputTarget) -> String {
        text(Self.isLocal(target) ? "%x %H:%M:%S" : "%Y-%m-%d %H:%M:%S")
    }

    /// Returns the time without the date if it is on the day of `now`, otherwise with the date.
    func clock(now: Timestamp = .now, for target: OutputTarget = .pipe) -> String {
        text("%F") == now.text("%F") ? text("%H:%M") : minute(for: target)
    }

    private func text(_ format: String) -> String { localText(format) ?? "\(secondsSince1970)" }

    private static func isLocal(_ target: OutputTarget) -> Bool { target != .pipe && hasFormat }

    /// True if the user has a format of dates. Output in English has the same format everywhere.
    private static let hasFormat: Bool = {
        guard isTextTranslated, let locale = setlocale(LC_TIME, "") else { return false }
        let name = String(cString: locale)
        return name != "POSIX" && !name.hasPrefix("C")
    }()
}
