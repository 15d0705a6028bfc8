/// A property of a photo in the forms in which it leaves the program: on the bus, in messages of plugins and in the feed
/// cache.
///
/// ``all`` is the only list of the properties. A new property needs a line there, a property of ``Photo``, and its
/// descriptions in `dist/interfaces` and `dist/imagefeed-providers.schema.json`, which tests compare with this list. The
/// ID and the account of a photo are not in the list.
package struct PhotoField: Sendable {
    /// The key on the bus and in messages of plugins.
    package let key: String
    /// The column in the feed cache. A point has two columns: see ``columns``.
    private let column: String
    /// False for a part of the like state, which is always known. Messages of plugins and the feed cache have rules of
    /// their own for it.
    package let isDescribed: Bool
    /// The type, and access to the value. Closures, because key paths take several times as long.
    package let value: Value

    /// The type of a property, with functions that read and write it. nil means "unknown".
    package enum Value: Sendable {
        /// A time in seconds since 1970: `x` on the bus.
        case time(@Sendable (Photo) -> Timestamp?, @Sendable (inout Photo, Timestamp?) -> Void)
        /// A number that is not negative: `u` on the bus.
        case count(@Sendable (Photo) -> Int?, @Sendable (inout Photo, Int?) -> Void)
        /// A number in a range: `d` on the bus.
        case number(
            ClosedRange<Double>, @Sendable (Photo) -> Double?,
            @Sendable (inout Photo, Double?) -> Void)
        /// A Boolean value: `b` on the bus.
        case flag(@Sendable (Photo) -> Bool?, @Sendable (inout Photo, Bool?) -> Void)
        /// A text: `s` on the bus.
        case text(
            TextForm, @Sendable (Photo) -> String?, @Sendable (inout Photo, String?) -> Void)
        /// A point of the photo. On the bus it is `(dd)`, from the top left corner; in messages of plugins, it is an
        /// array of the coordinates of ``FocalPoint``.
        case point(@Sendable (Photo) -> FocalPoint?, @Sendable (inout Photo, FocalPoint?) -> Void)
    }

    /// The form of a text. Plugins are checked for it.
    package enum TextForm: Sendable {
        /// A text on one line.
        case line
        /// A text with line breaks.
        case paragraphs
        /// The address of a web page.
        case link
        /// A ``Photo/color``.
        case color
        /// A ``Photo/blurHash``.
        case blurHash
        /// The MIME type of an image.
        case mediaType
    }

    init(_ key: String, column: String? = nil, isDescribed: Bool = true, _ value: Value) {
        self.key = key
        self.isDescribed = isDescribed
        self.column = column ?? key
        self.value = value
    }

    /// The properties, in the order in which they are sent on the bus.
    package static let all = [
        PhotoField("created", .time({ $0.created }, { $0.created = $1 })),
        PhotoField("updated", .time({ $0.updated }, { $0.updated = $1 })),
        PhotoField("width", .count({ $0.width }, { $0.width = $1 })),
        PhotoField("height", .count({ $0.height }, { $0.height = $1 })),
        PhotoField("color", .text(.color, { $0.color }, { $0.color = $1 })),
        PhotoField("blur_hash", .text(.blurHash, { $0.blurHash }, { $0.blurHash = $1 })),
        PhotoField("focus", .point({ $0.focus }, { $0.focus = $1 })),
        PhotoField("title", .text(.line, { $0.title }, { $0.setTitle($1) })),
        PhotoField("description", .text(.paragraphs, { $0.description }, { $0.description = $1 })),
        PhotoField("author", .text(.line, { $0.author }, { $0.author = $1 })),
        PhotoField(
            "author_username", .text(.line, { $0.authorUsername }, { $0.authorUsername = $1 })),
        PhotoField("author_url", .text(.link, { $0.authorURL }, { $0.authorURL = $1 })),
        PhotoField("url", .text(.link, { $0.url }, { $0.url = $1 })),
        PhotoField("likes", .count({ $0.likes }, { $0.likes = $1 })),
        PhotoField(
            "liked", isDescribed: false, .flag({ $0.isLiked }, { $0.isLiked = $1 == true })),
        PhotoField(
            "pending", isDescribed: false, .flag({ $0.isPending }, { $0.isPending = $1 == true })),
        PhotoField(
            "sensitive", column: "is_sensitive", .flag({ $0.isSensitive }, { $0.isSensitive = $1 })),
        PhotoField("media_type", .text(.mediaType, { $0.mediaType }, { $0.mediaType = $1 })),
        PhotoField("camera", .text(.line, { $0.camera }, { $0.camera = $1 })),
        PhotoField("album", .text(.line, { $0.album }, { $0.album = $1 })),
        PhotoField("latitude", .number(-90...90, { $0.latitude }, { $0.latitude = $1 })),
        PhotoField("longitude", .number(-180...180, { $0.longitude }, { $0.longitude = $1 })),
        PhotoField(
            "text",
            .text(
                .paragraphs, { $0.text },
                { if let text = $1 { $0.text = String(text.prefix(Photo.maximumTextLength)) } })),
        PhotoField("lens", .text(.line, { $0.lens }, { $0.lens = $1 })),
        PhotoField(
            "exposure_time", .number(0...86_400, { $0.exposureTime }, { $0.exposureTime = $1 })),
        PhotoField("aperture", .number(0...1000, { $0.aperture }, { $0.aperture = $1 })),
        PhotoField("iso", .count({ $0.iso }, { $0.iso = $1 })),
        PhotoField("license", .text(.line, { $0.license }, { $0.license = $1 })),
        PhotoField("license_url", .text(.link, { $0.licenseURL }, { $0.licenseURL = $1 })),
        PhotoField(
            "animated", column: "is_animated", .flag({ $0.isAnimated }, { $0.isAnimated = $1 })),
    ]

    /// The properties that messages of plugins contain, and that the feed cache stores as they are.
    package static let described = all.filter(\.isDescribed)

    /// The columns in the feed cache, with their SQL types. The coordinates of a point are integers, in millionths.
    package var columns: [(name: String, type: String)] {
        switch value {
        case .time, .count, .flag: [(column, "INTEGER")]
        case .number: [(column, "REAL")]
        case .text: [(column, "TEXT")]
        case .point: [("\(column)_x", "INTEGER"), ("\(column)_y", "INTEGER")]
        }
    }
}
