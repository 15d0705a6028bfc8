internal import ProviderKit

/// A page: the template of a day, or a file.
struct PageRecord: Decodable {
    /// nil for a page that does not exist.
    let id: Int?
    let title: String?
    let isMissing: Bool
    /// The titles of the files that the page shows.
    private(set) var files: [String]
    /// The source text of the page.
    private(set) var text: String?
    /// The current version of the file.
    private(set) var image: ImageRecord?

    private enum Key: String, CodingKey {
        case pageid, title, missing, images, revisions, imageinfo
    }

    private struct File: Decodable {
        let title: String
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        id = values.lenientInteger(.pageid).flatMap { $0 > 0 ? $0 : nil }
        title = values.lenient(.title)
        isMissing = values.lenientFlag(.missing) ?? false
        files =
            values.lenient(.images, as: LenientList<File>.self)?.elements.map(\.title) ?? []
        text =
            values.lenient(.revisions, as: LenientList<RevisionRecord>.self)?.elements.first?.text
        image = values.lenient(.imageinfo, as: LenientList<ImageRecord>.self)?.elements.first
    }

    /// Adds the fields of the same page in the rest of a response.
    mutating func add(_ rest: PageRecord) {
        files += rest.files
        text = text ?? rest.text
        image = image ?? rest.image
    }

    /// The title of the file that a template of a day names; nil if it names none.
    ///
    /// The files of the page may include icons.
    var namedFile: String? {
        guard files.count > 1 else { return files.first }
        // The text can contain character references: `A &amp; B.jpg`.
        let text = HTMLText.plain(text ?? "").replacing("_", with: " ").lowercased()
        let found = files.compactMap { title -> (title: String, start: String.Index)? in
            let name = title.drop { $0 != ":" }.dropFirst().lowercased()
            guard !name.isEmpty else { return nil }
            return text.firstRange(of: name).map { (title, $0.lowerBound) }
        }
        // The name of the picture is the first argument of the template; icons follow. Of two names with the same start,
        // one is a part of the other.
        return found.min { left, right in
            left.start == right.start
                ? left.title.utf8.count > right.title.utf8.count : left.start < right.start
        }?.title
    }
}

/// A version of a template, with its source text.
struct RevisionRecord: Decodable {
    let text: String?

    private enum Key: String, CodingKey {
        case slots, main, content
    }

    init(from decoder: any Decoder) throws {
        text = try decoder.container(keyedBy: Key.self)
            .nestedContainer(keyedBy: Key.self, forKey: .slots)
            .nestedContainer(keyedBy: Key.self, forKey: .main).lenient(.content)
    }
}

/// A version of a file.
struct ImageRecord: Decodable {
    /// The address of the original.
    let original: String?
    /// The address of the page of the file.
    let page: String?
    let mediaType: String?
    let bytes: Int?
    let width: Int?
    let height: Int?
    /// The address of the thumbnail of the requested width, or of the next larger standard width. It is that of the
    /// original if this is not larger.
    let thumbnail: String?
    let thumbnailMediaType: String?
    /// The address of the thumbnail of twice the width.
    let doubleThumbnail: String?
    /// The texts, as HTML.
    let texts: [String: String]

    private enum Key: String, CodingKey {
        case url, descriptionurl, mime, size, width, height, thumburl, thumbmime, responsiveUrls
        case extmetadata
        case double = "2"
    }

    private struct TextKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private struct Text: Decodable {
        let value: String
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        original = values.lenient(.url)
        page = values.lenient(.descriptionurl)
        mediaType = values.lenient(.mime)
        bytes = values.lenientInteger(.size)
        width = values.lenientInteger(.width)
        height = values.lenientInteger(.height)
        thumbnail = values.lenient(.thumburl)
        thumbnailMediaType = values.lenient(.thumbmime)
        doubleThumbnail =
            try? values.nestedContainer(keyedBy: Key.self, forKey: .responsiveUrls)
            .lenient(.double)
        var texts: [String: String] = [:]
        if let fields = try? values.nestedContainer(keyedBy: TextKey.self, forKey: .extmetadata) {
            for key in fields.allKeys {
                texts[key.stringValue] = fields.lenient(key, as: Text.self)?.value
            }
        }
        self.texts = texts
    }
}
