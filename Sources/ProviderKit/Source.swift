public import Translation

/// The ID of a source within its account: `all`, `album:Holidays/2026`, `topic:nature`. A plugin can use IDs of at most
/// 512 bytes.
public struct SourceID: ExactText {
    /// The ID.
    public let text: String

    /// Creates an ID from the text of a provider or a client.
    public init(_ text: String) { self.text = text }

    /// The kind and the name in an ID such as `topic:nature`; nil for an ID without a colon.
    ///
    /// The name is everything after the first colon, and may be empty.
    public var kindAndName: (kind: String, name: String)? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        return (String(text[..<colon]), String(text[text.index(after: colon)...]))
    }

    /// The kind and the name; the whole ID and nil for an ID without a colon.
    package var parts: (kind: String, name: String?) {
        guard let (kind, name) = kindAndName else { return (text, nil) }
        return (kind, name)
    }
}

/// A source: an ordered list of photos of one account.
public struct Source: Hashable, Sendable {
    /// The kind of a source. The raw values are those of the D-Bus key `kind`.
    public enum Kind: String, Sendable {
        /// The photos of the account or the service.
        case feed
        /// An album or folder.
        case album
        /// A topic, tag or search.
        case topic
        /// A collection that users arranged.
        case collection
        /// The photos that the user likes.
        case likes
    }

    /// The ID within the account.
    public let id: SourceID
    /// The title to show.
    public let title: Message
    /// The kind.
    public let kind: Kind
    /// The number of photos; nil if it is unknown.
    public let count: Int?
    /// The photo that represents the source; nil if there is none.
    public let cover: PhotoID?

    /// Creates a source with a title of a user or a service, which is the same in each language.
    public init(id: SourceID, title: String, kind: Kind, count: Int? = nil, cover: PhotoID? = nil) {
        self.init(
            id: id, title: Message(verbatim: title), kind: kind, count: count, cover: cover)
    }

    /// Creates a source with a title of the provider.
    public init(
        id: SourceID, title: Message, kind: Kind, count: Int? = nil, cover: PhotoID? = nil
    ) {
        self.id = id
        self.title = title
        self.kind = kind
        self.count = count
        self.cover = cover
    }
}

/// A text that is compared byte by byte.
///
/// Strings in Swift are equal if they are canonically equivalent. Folders and services distinguish the composed and the
/// decomposed form of `é`.
public protocol ExactText: Hashable, Sendable, CustomStringConvertible {
    /// The text in UTF-8.
    var text: String { get }
}

extension ExactText {
    /// Returns true if both texts have the same bytes.
    public static func == (left: Self, right: Self) -> Bool {
        left.text == right.text && left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// Adds the text to a hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// The text.
    public var description: String { text }
}
