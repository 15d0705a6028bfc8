/// Names a source of photos within an account: `all`, `album:Holidays/2026`, `topic:nature`.
public struct SourceID: ExactText {
    public let text: String

    public init(_ text: String) { self.text = text }
}

/// A source of photos: a feed, an album, a topic.
public struct Source: Hashable, Sendable {
    public enum Kind: String, Sendable {
        case feed
        case album
        case topic
        case collection
        case likes
    }

    public let id: SourceID
    /// What a person calls it.
    public let title: String
    public let kind: Kind
    /// How many photos it has; nil if that is not known.
    public let count: Int?
    /// A photo that stands for it.
    public let cover: PhotoID?

    public init(id: SourceID, title: String, kind: Kind, count: Int? = nil, cover: PhotoID? = nil) {
        self.id = id
        self.title = title
        self.kind = kind
        self.count = count
        self.cover = cover
    }
}

/// Some photos of a source, in its order, and where the next ones begin.
public struct Page: Hashable, Sendable {
    public let photos: [Photo]
    /// Names the place after the last photo, in the provider's own terms; nil at the end of the source.
    public let next: String?

    public init(photos: [Photo], next: String?) {
        self.photos = photos
        self.next = next
    }
}
