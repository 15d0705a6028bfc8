/// Names a photo within its account, as its service does.
public struct PhotoID: ExactText {
    public let text: String

    public init(_ text: String) { self.text = text }
}

/// A photo, as far as its service describes it. nil is "unknown".
///
/// All strings are plain text in UTF-8, not HTML.
public struct Photo: Hashable, Sendable {
    public var id: PhotoID
    /// When it was taken or published: what the feed is ordered by.
    public var created: Timestamp?
    /// When it was changed last.
    public var updated: Timestamp?
    /// In pixels, as shown: with the orientation applied.
    public var width: Int?
    /// In pixels, as shown: with the orientation applied.
    public var height: Int?
    /// The prevailing colour, `#RRGGBB`.
    public var color: String?
    public var blurHash: String?
    /// What has to stay in sight when a part of it is shown.
    public var focus: FocalPoint?
    public var title: String?
    /// The alternative text, for somebody who does not see the picture.
    public var description: String?
    /// The photographer's name, as it is to be shown.
    public var author: String?
    public var authorUsername: String?
    public var authorURL: String?
    /// The link to share, attribution included.
    public var url: String?
    /// How many people like it.
    public var likes: Int?
    /// Whether the account's user likes it, as the service confirmed.
    public var isLiked = false
    /// Whether a like or unlike is on its way to the service. The engine says so; providers do not.
    public var isPending = false
    public var isSensitive: Bool?
    /// The MIME type of the full image: `image/jpeg`.
    public var mediaType: String?

    public init(id: PhotoID) { self.id = id }
}

/// A point of a photo: 0, 0 is its middle.
public struct FocalPoint: Hashable, Sendable {
    /// From -1, the left, to 1, the right.
    public let x: Double
    /// From -1, the bottom, to 1, the top.
    public let y: Double

    /// nil for a point beside the photo.
    public init?(x: Double, y: Double) {
        guard -1...1 ~= x, -1...1 ~= y else { return nil }
        self.x = x
        self.y = y
    }
}

/// How large an image is wanted.
public enum ImageSize: String, CaseIterable, Sendable {
    /// For a list.
    case thumb
    /// For a widget.
    case small
    /// For a screen.
    case regular
    /// As it is.
    case full
}
