internal import ProviderKit

/// A source of local photos: all photos, an album, the likes of the user, or the photos of this day in earlier years.
enum LocalSource {
    case all
    case likes
    case memories
    case album(RelativePath)

    private static let allText = "all"
    private static let likesText = "likes"
    private static let memoriesText = "memories"
    private static let albumPrefix = "album:"

    /// Parses the ID of a source; nil for an unknown one.
    init?(_ id: SourceID) {
        if id.text == Self.allText {
            self = .all
        } else if id.text == Self.likesText {
            self = .likes
        } else if id.text == Self.memoriesText {
            self = .memories
        } else if id.text.hasPrefix(Self.albumPrefix),
            let path = RelativePath(
                percentEncoded: String(id.text.dropFirst(Self.albumPrefix.count)))
        {
            self = .album(path)
        } else {
            return nil
        }
    }

    var id: SourceID {
        switch self {
        case .all: SourceID(Self.allText)
        case .likes: SourceID(Self.likesText)
        case .memories: SourceID(Self.memoriesText)
        case .album(let path): SourceID(Self.albumPrefix + path.percentEncoded)
        }
    }
}
