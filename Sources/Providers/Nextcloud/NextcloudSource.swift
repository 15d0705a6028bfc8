internal import ProviderKit
internal import WebService

/// A source of a server.
typealias NextcloudSource = ServiceSource<NextcloudKind>

/// The kinds of sources of a server.
enum NextcloudKind: String, SourceKind {
    /// All photos of the user, by capture date.
    case all
    /// The favourites of the user.
    case likes
    /// The photos taken on today's date in earlier years.
    case memories
    /// An album, by its name.
    case album
    /// An album that another user shares. The name contains the owner.
    case shared

    /// The maximum length of the name of an album, in bytes.
    private static let maximumLength = 480

    /// Returns true for the name of an album: one segment of a path.
    func accepts(_ name: String?) -> Bool {
        guard self == .album || self == .shared else { return name == nil }
        guard let name else { return false }
        return 1...Self.maximumLength ~= name.utf8.count && name != "." && name != ".."
            && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "/") }
    }

    /// The name of the folder of the albums of this kind.
    var folder: String { self == .shared ? "sharedalbums" : "albums" }
}
