internal import ArgumentParser

/// The value of `slideshow set --interval`: a number with `s`, `m` or `h`, or 0.
struct SlideshowInterval: Equatable, ExpressibleByArgument {
    /// The smallest time per photo.
    static let minimumSeconds: UInt32 = 5
    /// The time per photo in seconds; 0 for no timer.
    let seconds: UInt32

    init(seconds: UInt32) { self.seconds = seconds }

    /// - Parameter argument: `0`, or a number with a unit that is at least ``minimumSeconds``.
    init?(argument: String) {
        guard argument != "0" else {
            seconds = 0
            return
        }
        let units: [Character: UInt32] = ["s": 1, "m": 60, "h": 3600]
        let digits = argument.dropLast()
        guard let unit = argument.last.flatMap({ units[$0] }),
            digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
            let number = UInt32(digits)
        else { return nil }
        let (seconds, overflows) = number.multipliedReportingOverflow(by: unit)
        guard !overflows, seconds == 0 || seconds >= Self.minimumSeconds else { return nil }
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
