internal import ProviderKit

/// The sources of a server.
enum ImmichSource: Hashable, Sendable {
    /// All photos of the timeline.
    case all
    /// The favourites of the user.
    case likes
    /// The photos taken on today's date in earlier years.
    case memories
    /// An album, by its ID.
    case album(AssetID)
    /// A person, by its ID.
    case person(AssetID)
    /// The result of a search by content.
    case search(String)

    /// The maximum length of a search, in bytes.
    private static let maximumLength = 256

    /// Creates a source from its ID; nil for an ID of no source.
    init?(_ id: SourceID) {
        switch id.parts {
        case ("all", nil): self = .all
        case ("likes", nil): self = .likes
        case ("memories", nil): self = .memories
        case ("album", let name?):
            guard let id = AssetID(rawValue: name) else { return nil }
            self = .album(id)
        case ("person", let name?):
            guard let id = AssetID(rawValue: name) else { return nil }
            self = .person(id)
        case ("search", let words?):
            guard words.utf8.count <= Self.maximumLength, ServiceText.line(words) == words else {
                return nil
            }
            self = .search(words)
        default: return nil
        }
    }

    var id: SourceID {
        switch self {
        case .all: SourceID("all")
        case .likes: SourceID("likes")
        case .memories: SourceID("memories")
        case .album(let id): SourceID("album:\(id.rawValue)")
        case .person(let id): SourceID("person:\(id.rawValue)")
        case .search(let words): SourceID("search:\(words)")
        }
    }
}

/// An ID of the API: a UUID in lower case.
struct AssetID: RawRepresentable, Hashable, Decodable, Sendable {
    let rawValue: String

    /// Parses an ID; nil if the text is not a UUID.
    init?(rawValue text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == [8, 4, 4, 4, 12],
            parts.joined().allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 })
        else { return nil }
        rawValue = text
    }
}
