internal import BusAPI
internal import DBus
internal import Glibc

/// A photo of a feed.
struct Photo: Equatable {
    let id: String
    let account: ObjectPath
    var created: Int64?
    var updated: Int64?
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
    var lens = ""
    /// In seconds.
    var exposureTime: Double?
    var aperture: Double?
    var iso: UInt32?
    var license = ""
    var licenseURL = ""
    /// True if the original has several frames, of which the first one is shown.
    var isAnimated = false
    var latitude: Double?
    var longitude: Double?
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
        func number(_ key: String, _ value: inout Double?) {
            if case .double(let entry) = entries[key] { value = entry }
        }
        if let value = entries["created"]?.int64 { created = value }
        if let value = entries["updated"]?.int64 { updated = value }
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
        text("lens", &lens)
        number("exposure_time", &exposureTime)
        number("aperture", &aperture)
        if let value = entries["iso"]?.uint32 { iso = value }
        text("license", &license)
        text("license_url", &licenseURL)
        if let value = entries["animated"]?.bool { isAnimated = value }
        text("album", &album)
        number("latitude", &latitude)
        number("longitude", &longitude)
        text("media_type", &mediaType)
        if let value = entries["likes"]?.uint32 { likes = value }
        if let value = entries["liked"]?.bool { isLiked = value }
        if let value = entries["pending"]?.bool { isPending = value }
        if let value = entries["sensitive"]?.bool { isSensitive = value }
    }

    /// The size in pixels; nil if it is unknown.
    var size: (width: Int, height: Int)? {
        width.flatMap { width in height.map { (width, $0) } }
    }

    /// The state that the user wants.
    var wantsLike: Bool { isLiked != isPending }

    /// Width divided by height, limited so that a panorama remains visible beside others.
    var ratio: Double {
        guard let width, let height else { return 1.5 }
        return min(max(Double(width) / Double(height), 0.4), 3)
    }

    /// Returns true if each word, in lower case, occurs in the texts of the photo.
    func contains(_ words: [String]) -> Bool {
        let text = [title, description, author, album, camera, month].joined(separator: "\n")
            .lowercased()
        return words.allSatisfy(text.contains)
    }

    /// The name for screen readers.
    var accessibleName: String {
        let name = title.isEmpty ? (description.isEmpty ? "Photo" : description) : title
        return author.isEmpty ? name : "\(name), by \(author)"
    }

    /// The name in a list for screen readers, with the date and the state.
    var listName: String {
        let like =
            switch (wantsLike, isPending) {
            case (true, false): "liked"
            case (true, true): "liked, not confirmed yet"
            case (false, true): "no longer liked, not confirmed yet"
            case (false, false): ""
            }
        return [accessibleName, day, like, isAnimated ? "animated" : ""].filter { !$0.isEmpty }
            .joined(separator: ", ")
    }

    /// The author and the date on one line.
    var facts: String { [author, day].filter { !$0.isEmpty }.joined(separator: " · ") }

    /// The date in the user's language and time zone; empty if it is unknown.
    var day: String { created.map { Self.text(of: $0, "%e %B %Y") } ?? "" }
    var dayAndTime: String { created.map { Self.text(of: $0, "%e %B %Y, %H:%M") } ?? "" }
    var month: String { created.map { Self.text(of: $0, "%B %Y") } ?? "" }

    /// Returns a time as text in the user's language and time zone.
    ///
    /// - Parameters:
    ///   - seconds: The time since 1970.
    ///   - format: The format of `strftime`.
    /// - Returns: The text; empty if the time cannot be converted.
    nonisolated static func text(of seconds: Int64, _ format: String) -> String {
        var time = time_t(seconds)
        var parts = tm()
        guard localtime_r(&time, &parts) != nil else { return "" }
        var buffer = [CChar](repeating: 0, count: 128)
        let count = strftime(&buffer, buffer.count, format, &parts)
        let bytes = buffer.prefix(count).map { UInt8(bitPattern: $0) }
        return String(decoding: bytes.drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
    }
}
