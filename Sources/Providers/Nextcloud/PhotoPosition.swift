internal import ProviderKit

/// A position in a list of photos that is ordered by time and ID, the highest first.
struct PhotoPosition: Hashable, Comparable, Sendable {
    /// The time of the photo in seconds since 1970.
    let seconds: Int64
    let id: Int64

    /// The possible times: those of the years 0 to 9999.
    static let times: Range<Int64> = -62_167_219_200..<253_402_300_800

    /// The position above all photos.
    static let top = PhotoPosition(seconds: times.upperBound - 1, id: .max)

    init(seconds: Int64, id: Int64) {
        self.seconds = seconds
        self.id = id
    }

    init(_ record: FileRecord) { self.init(seconds: record.seconds, id: record.id) }

    /// Parses a page token; nil if it is invalid.
    init?(_ text: String) {
        let parts = text.split(separator: ":").map { Int64($0) }
        guard parts.count == 2, let seconds = parts[0], let id = parts[1], id >= 0,
            Self.times.contains(seconds)
        else { return nil }
        self.init(seconds: seconds, id: id)
    }

    /// The position as a page token.
    var token: String { "\(seconds):\(id)" }

    static func < (left: PhotoPosition, right: PhotoPosition) -> Bool {
        (left.seconds, left.id) < (right.seconds, right.id)
    }
}
