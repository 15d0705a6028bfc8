package import ImageMetadata

/// The ID of a photo within its account, as issued by the service. A plugin can use IDs of at most 512 bytes.
public struct PhotoID: ExactText {
    /// The ID.
    public let text: String

    /// Creates an ID from the text of the service.
    public init(_ text: String) { self.text = text }
}

/// A photo as described by its service. nil means "unknown".
///
/// All texts are plain text in UTF-8, not HTML. The engine removes control characters.
public struct Photo: Hashable, Sendable {
    /// The ID within the account.
    public var id: PhotoID
    /// The time at which the photo was taken or published. Feeds are ordered by it.
    public var created: Timestamp?
    /// The time of the last change.
    public var updated: Timestamp?
    /// The width in pixels, after the orientation is applied.
    public var width: Int?
    /// The height in pixels, after the orientation is applied.
    public var height: Int?
    /// The dominant colour, `#RRGGBB`.
    public var color: String?
    /// The BlurHash of the photo, for a preview.
    public var blurHash: String?
    /// The point that stays visible when a client crops the photo.
    public var focus: FocalPoint?
    /// The title: one line of at most 200 characters. ``setText(_:)`` sets it from a longer text.
    public var title: String?
    /// The alternative text, a description of the image for blind users.
    public var description: String?
    /// The whole text that belongs to the photo, such as a post, with its line breaks and at most 5,000 characters; nil
    /// if ``title`` contains it.
    public var text: String?
    /// The name of the photographer, as shown to users.
    public var author: String?
    /// The user name of the photographer at the service.
    public var authorUsername: String?
    /// The web page of the photographer.
    public var authorURL: String?
    /// The web page of the photo, with the parameters for attribution that the service requires.
    public var url: String?
    /// The number of likes of all users.
    public var likes: Int?
    /// True if the account's user likes the photo, as confirmed by the service. See ``RemotePhoto/hasLikeState``.
    public var isLiked = false
    /// True if a like or unlike is stored and not confirmed. Only the engine sets this property.
    public var isPending = false
    /// True if the service marks the photo as sensitive.
    public var isSensitive: Bool?
    /// The MIME type of the full image, such as `image/jpeg`.
    public var mediaType: String?
    /// The name of the camera, with its maker.
    public var camera: String?
    /// The name of the lens.
    public var lens: String?
    /// The exposure time in seconds.
    public var exposureTime: Double?
    /// The aperture as an f-number: 2.8 for f/2.8.
    public var aperture: Double?
    /// The sensitivity according to ISO.
    public var iso: Int?
    /// The name of the license under which the service offers the photo, such as `CC BY-SA 4.0`.
    public var license: String?
    /// The web page with the text of the license.
    public var licenseURL: String?
    /// True if the full image has several frames, which are shown one after another.
    public var isAnimated: Bool?
    /// The title of the album that contains the photo.
    public var album: String?
    /// The latitude of the place where the photo was taken, in degrees of WGS 84 from -90 (south) to 90 (north). A
    /// provider sets it and ``longitude`` only if the user has allowed it.
    public var latitude: Double?
    /// The longitude of the place where the photo was taken, in degrees of WGS 84 from -180 (west) to 180 (east).
    public var longitude: Double?

    /// Creates a photo of which only the ID is known.
    public init(id: PhotoID) { self.id = id }

    /// Sets ``title`` to the beginning of a text on one line, and ``text`` to the whole text unless the title contains it.
    ///
    /// - Parameter text: Plain text, such as that of a post.
    public mutating func setText(_ text: String?) {
        title = ServiceText.line(text)
        self.text = nil
        guard let line = title, let paragraphs = ServiceText.paragraphs(text) else { return }
        if line.count > Self.maximumTitleLength {
            let beginning = line.prefix(Self.maximumTitleLength - 1)
            // A long last word, such as an address, is cut.
            let end = beginning.suffix(40).lastIndex(of: " ") ?? beginning.endIndex
            title = beginning[..<end] + "…"
        }
        guard title?.utf8.elementsEqual(paragraphs.utf8) != true else { return }
        self.text = String(paragraphs.prefix(Self.maximumTextLength))
    }

    /// Sets the title to the name of a file without its extension.
    package mutating func setFileName(_ name: String?) {
        guard let name, let dot = name.lastIndex(of: "."), dot != name.startIndex else {
            return setText(name)
        }
        setText(String(name[..<dot]))
    }

    /// Sets the camera to the name of its model with its maker, or to the maker of an unknown model.
    package mutating func setCamera(make: String?, model: String?) {
        let make = ServiceText.line(make)
        camera = CaptureDetails.camera(make: make, model: ServiceText.line(model)) ?? make
    }

    /// Sets the properties that the file of the photo states.
    package mutating func setFacts(_ facts: ImageFacts) {
        created = facts.taken ?? created
        width = facts.width
        height = facts.height
        camera = facts.camera
        lens = facts.lens
        exposureTime = facts.exposureTime
        aperture = facts.aperture
        iso = facts.iso
        latitude = facts.latitude
        longitude = facts.longitude
        if facts.isAnimated { isAnimated = true }
    }

    /// Sets the place if both coordinates are valid.
    package mutating func setLocation(_ latitude: Double?, _ longitude: Double?) {
        guard let latitude, let longitude, -90...90 ~= latitude, -180...180 ~= longitude else {
            return
        }
        (self.latitude, self.longitude) = (latitude, longitude)
    }

    /// Sets the title to a line. A longer one, such as that of a plugin, becomes a title and a text.
    package mutating func setTitle(_ line: String?) {
        // A byte count is faster than a character count. Most titles are short.
        if let line, line.utf8.count > Self.maximumTitleLength { return setText(line) }
        title = line
    }

    /// The maximum length of ``title``, in characters.
    private static let maximumTitleLength = 200
    /// The maximum length of ``text``, in characters.
    package static let maximumTextLength = 5000

    /// Returns true if a text is a ``color``: `#RRGGBB`, with hexadecimal digits of either case.
    public static func isColor(_ text: String) -> Bool {
        let digits = text.utf8.dropFirst()
        return text.utf8.first == UInt8(ascii: "#") && digits.count == 6
            && digits.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }

    private static let blurHashDigits = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8)

    /// Returns true if a text is a ``blurHash``: 6 to 166 digits of base 83, of which the first determines the length.
    ///
    /// Source: github.com/woltapp/blurhash, Algorithm.md.
    public static func isBlurHash(_ text: String) -> Bool {
        guard let first = text.utf8.first, let size = blurHashDigits.firstIndex(of: first),
            size < 81
        else { return false }
        let components = (size % 9 + 1) * (size / 9 + 1)
        return text.utf8.count == 4 + 2 * components
            && text.utf8.allSatisfy(blurHashDigits.contains)
    }
}

/// A point of a photo. The centre is 0, 0.
public struct FocalPoint: Hashable, Sendable {
    /// The horizontal position, from -1 (left) to 1 (right).
    public let x: Double
    /// The vertical position, from -1 (bottom) to 1 (top).
    public let y: Double

    /// Creates a point; nil if it is outside of the photo. The positions are rounded to millionths, which are stored.
    public init?(x: Double, y: Double) {
        guard -1...1 ~= x, -1...1 ~= y else { return nil }
        self.x = (x * 1e6).rounded() / 1e6
        self.y = (y * 1e6).rounded() / 1e6
    }
}

/// The sizes of images.
public enum ImageSize: String, CaseIterable, Sendable {
    /// A size for lists. Local photos have at most 256 pixels in each dimension, remote photos the size of the service.
    case thumb
    /// A size for widgets. Local photos have at most 512 pixels in each dimension.
    case small
    /// A size for screens. Local photos have at most 1024 pixels in each dimension.
    case regular
    /// The original.
    case full
}
