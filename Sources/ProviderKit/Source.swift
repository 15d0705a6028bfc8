package import Translation

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
    public let title: String
    /// The kind.
    public let kind: Kind
    /// The number of photos; nil if it is unknown.
    public let count: Int?
    /// The photo that represents the source; nil if there is none.
    public let cover: PhotoID?

    /// Creates a source.
    public init(id: SourceID, title: String, kind: Kind, count: Int? = nil, cover: PhotoID? = nil) {
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

extension Source {
    /// The source with its title in the language of the user, for clients.
    ///
    /// Stored titles are in English. Those of albums and topics come from users and services and stay as they are.
    package var translated: Source {
        Source(id: id, title: ownTitle?.translated ?? title, kind: kind, count: count, cover: cover)
    }

    /// The title if it is one of this program; nil if it comes from a user or a service.
    package var ownTitle: Message? {
        switch (kind, title) {
        case (.feed, "All accounts"): Message("All accounts")
        case (.feed, "All photos"): Message("All photos")
        // Translators: the photos that the editors of a service chose
        case (.feed, "Editorial"): Message("Editorial")
        // Translators: the photos of the people that the user follows
        case (.feed, "Home"): Message("Home")
        case (.feed, "Memories"): Message("Memories")
        case (.feed, "On all servers"): Message("On all servers")
        case (.feed, _) where id.text == "local" && title.hasPrefix("On "):
            // Translators: the photos of all users of a server
            Message("On {server}", ["server": String(title.dropFirst(3))])
        case (.feed, "Pictures of the day"): Message("Pictures of the day")
        case (.likes, "Favourites"): Message("Favourites")
        case (.likes, "Liked photos"): Message("Liked photos")
        case (.likes, "Liked pictures"): Message("Liked pictures")
        case (.album, "Untitled album"): Message("Untitled album")
        default: nil
        }
    }
}
