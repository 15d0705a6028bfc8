internal import ProviderKit
internal import WebService

/// A source of a server.
typealias ImmichSource = ServiceSource<ImmichKind>

/// The kinds of sources of a server.
enum ImmichKind: String, SourceKind {
    /// All photos of the timeline.
    case all
    /// The favourites of the user.
    case likes
    /// The photos taken on today's date in earlier years.
    case memories
    /// An album, by its ID.
    case album
    /// A person, by its ID.
    case person
    /// The result of a search by content.
    case search

    /// The maximum length of a search, in bytes.
    private static let maximumLength = 256

    func accepts(_ name: String?) -> Bool {
        guard let name else { return self == .all || self == .likes || self == .memories }
        return switch self {
        case .all, .likes, .memories: false
        case .album, .person: AssetID(rawValue: name) != nil
        case .search: name.utf8.count <= Self.maximumLength && ServiceText.line(name) == name
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
