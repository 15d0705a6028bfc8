internal import Contract
internal import DBus
internal import Translation

/// The value of `slideshow set --source`: `ACCOUNT[:SOURCE]` or `combined[:SOURCE]`, split at the first colon.
struct SlideshowSource: Equatable {
    /// The reason why a value is refused.
    enum Failure: Error, CustomStringConvertible {
        case noAccount

        var description: String { tr("The source has no account.") }
    }

    /// The account ID or a prefix of it; nil for the combined account.
    let account: String?
    /// The ID of a source; empty for the default source.
    let source: String

    init(account: String?, source: String) {
        self.account = account
        self.source = source
    }

    /// Parses a value.
    ///
    /// - Parameter text: The value. Its account must not be empty.
    /// - Throws: ``Failure``.
    init(_ text: String) throws(Failure) {
        let account = text.prefix { $0 != ":" }
        guard !account.isEmpty else { throw .noAccount }
        self.account = account == "combined" ? nil : String(account)
        source = String(text.dropFirst(account.count + 1))
    }

    /// Returns the object path of the account.
    ///
    /// - Throws: ``CommandFailure`` if there is no such account, or if it is logged out.
    func path(_ snapshot: DaemonMirror) throws(CommandFailure) -> ObjectPath {
        guard let account else { return ServiceName.combined }
        return try snapshot.loggedInAccount(account).path
    }
}

/// The value of `slideshow set --interval`: a number with `s`, `m` or `h`, or 0.
struct SlideshowInterval: Equatable {
    /// The reason why a value is refused.
    enum Failure: Error, CustomStringConvertible {
        case invalid
        case tooShort
        case tooLong

        var description: String {
            switch self {
            case .invalid: tr("The interval is 0, or a number with s, m or h.")
            case .tooShort:
                trn(
                    "The interval is 0 or at least {count} second.",
                    "The interval is 0 or at least {count} seconds.", Int(minimumSeconds))
            case .tooLong:
                tr(
                    "The interval is at most {interval}.",
                    ["interval": "\(UInt32.max / 3600)h"])
            }
        }
    }

    /// The smallest time per photo.
    static let minimumSeconds: UInt32 = 5
    /// The time per photo in seconds; 0 for no timer.
    let seconds: UInt32

    init(seconds: UInt32) { self.seconds = seconds }

    /// Parses a value.
    ///
    /// - Parameter text: `0`, or a number with a unit that is at least ``minimumSeconds``.
    /// - Throws: ``Failure``.
    init(_ text: String) throws(Failure) {
        guard text != "0" else {
            seconds = 0
            return
        }
        let units: [Character: UInt32] = ["s": 1, "m": 60, "h": 3600]
        let digits = text.dropLast()
        guard let unit = text.last.flatMap({ units[$0] }), !digits.isEmpty,
            digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else { throw .invalid }
        guard let number = UInt32(digits) else { throw .tooLong }
        let (seconds, overflows) = number.multipliedReportingOverflow(by: unit)
        guard !overflows else { throw .tooLong }
        guard seconds == 0 || seconds >= Self.minimumSeconds else { throw .tooShort }
        self.seconds = seconds
    }

    /// The interval in the form of the option, in the largest unit without a remainder.
    var text: String {
        switch seconds {
        case 0: "0"
        case let seconds where seconds % 3600 == 0: "\(seconds / 3600)h"
        case let seconds where seconds % 60 == 0: "\(seconds / 60)m"
        default: "\(seconds)s"
        }
    }
}
