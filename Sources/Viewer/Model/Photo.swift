internal import BusAPI
internal import DBus

/// A photo of a feed.
struct Photo: Equatable {
    let id: String
    let account: ObjectPath
    var created: Int64?
    var width: Int?
    var height: Int?
    var color: String?
    var blurHash: String?
    var title = ""
    /// The whole text of a post, if the title does not contain it.
    var text = ""
    var description = ""
    var author = ""
    var authorURL = ""
    var url = ""
    var likes: UInt32?
    /// The state that the service confirmed.
    var isLiked = false
    /// True if a like or unlike awaits confirmation.
    var isPending = false
    var isSensitive = false
    var camera = ""
    var album = ""
    /// Such as `image/jpeg`; empty if unknown.
    var mediaType = ""

    /// Returns a number of photos as text.
    static func text(ofCount count: some BinaryInteger) -> String {
        count == 1 ? "1 photo" : "\(count) photos"
    }

    /// Decodes the dictionary of the D-Bus contract; nil without an ID.
    init?(_ entries: [String: Variant]) {
        guard let id = entries[PhotoKey.id.rawValue]?.string else { return nil }
        self.id = id
        account = entries[PhotoKey.account.rawValue]?.objectPath ?? ServiceName.root
        apply(entries)
    }

    /// Applies changed entries.
    mutating func apply(_ entries: [String: Variant]) {
        func text(_ key: String, _ value: inout String) {
            if let entry = entries[key]?.string { value = entry }
        }
        if let value = entries["created"]?.int64 { created = value }
        if let value = entries["width"]?.uint32, value > 0 { width = Int(value) }
        if let value = entries["height"]?.uint32, value > 0 { height = Int(value) }
        if let value = entries["color"]?.string { color = value }
        if let value = entries["blur_hash"]?.string { blurHash = value }
        text("title", &title)
        text("text", &self.text)
        text("description", &description)
        text("author", &author)
        text("author_url", &authorURL)
        text("url", &url)
        text("camera", &camera)
        text("album", &album)
        text("media_type", &mediaType)
        if let value = entries["likes"]?.uint32 { likes = value }
        if let value = entries["liked"]?.bool { isLiked = value }
        if let value = entries["pending"]?.bool { isPending = value }
        if let value = entries["sensitive"]?.bool { isSensitive = value }
    }

    /// The state that the user wants.
    var wantsLike: Bool { isLiked != isPending }

    /// Width divided by height, limited so that a panorama remains visible beside others.
    var ratio: Double {
        guard let width, let height else { return 1.5 }
        return min(max(Double(width) / Double(height), 0.4), 3)
    }

    /// The name for screen readers and tooltips.
    var accessibleName: String {
        let name = title.isEmpty ? (description.isEmpty ? "Photo" : description) : title
        return author.isEmpty ? name : "\(name), by \(author)"
    }
}
