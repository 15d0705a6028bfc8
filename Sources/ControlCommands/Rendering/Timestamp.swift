internal import Glibc
internal import ProviderKit
internal import Translation

extension Timestamp {
    /// Returns the date and time to the minute, such as `2026-11-21 14:03`, on a terminal in the format of the user.
    func minute(for target: OutputTarget = .pipe) -> String { text(Self.minuteFormat(target)) }

    /// Returns the date and time to the second, such as `2026-11-21 14:03:22`, on a terminal in the format of the user.
    func second(for target: OutputTarget = .pipe) -> String {
        text(Self.isLocal(target) ? "%x %H:%M:%S" : "%Y-%m-%d %H:%M:%S")
    }

    /// Returns the time without the date if it is on the day of `now`, otherwise with the date.
    func clock(now: Timestamp = .now, for target: OutputTarget = .pipe) -> String {
        localClock(now: now, dated: Self.minuteFormat(target)) ?? "\(secondsSince1970)"
    }

    private static func minuteFormat(_ target: OutputTarget) -> String {
        isLocal(target) ? "%x %H:%M" : "%Y-%m-%d %H:%M"
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
