internal import ProviderKit

/// The sources of a server.
enum NextcloudSource: Hashable, Sendable {
    /// All photos of the user, by capture date.
    case all
    /// The favourites of the user.
    case likes
    /// The photos taken on today's date in earlier years.
    case memories
    /// An album, by its name. The name of one that another user shares contains the owner.
    case album(String, isShared: Bool)

    /// The maximum length of the name of an album, in bytes.
    private static let maximumLength = 480

    /// Creates a source from its ID; nil for an ID of no source.
    init?(_ id: SourceID) {
        switch id.parts {
        case ("all", nil): self = .all
        case ("likes", nil): self = .likes
        case ("memories", nil): self = .memories
        case ("album", let name?) where Self.isName(name): self = .album(name, isShared: false)
        case ("shared", let name?) where Self.isName(name): self = .album(name, isShared: true)
        default: return nil
        }
    }

    var id: SourceID {
        switch self {
        case .all: SourceID("all")
        case .likes: SourceID("likes")
        case .memories: SourceID("memories")
        case .album(let name, let isShared):
            SourceID((isShared ? "shared:" : "album:") + name)
        }
    }

    /// Returns true for the name of an album: one segment of a path.
    static func isName(_ text: some StringProtocol) -> Bool {
        1...maximumLength ~= text.utf8.count && text != "." && text != ".."
            && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "/") }
    }
}
