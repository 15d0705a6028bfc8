internal import ProviderKit
internal import WebService

/// A mapping from API records to the model.
struct ModelMapping: Sendable {
    /// True if the service is on this computer and may refer to loopback addresses.
    let allowsLoopback: Bool

    /// The names of the texts of a file that the mapping uses.
    static let textNames = [
        "Artist", "ImageDescription", "LicenseShortName", "LicenseUrl", "ObjectName",
    ]

    /// The media types of originals that are used unchanged. For other types, thumbnails are used.
    private static let shownTypes: Set = ["image/gif", "image/jpeg", "image/png", "image/webp"]
    /// The maximum size of an original that is used unchanged, in bytes and pixels.
    private static let maximumOriginal = (bytes: 48 << 20, pixels: 100_000_000)
    /// The maximum length of the name of an author or a licence, in bytes.
    private static let maximumName = 300

    /// Maps a file to the picture of a day.
    ///
    /// - Returns: nil for a video or a sound, and for a file without an image.
    func photo(_ file: CommonsClient.File, of day: Day) -> RemotePhoto? {
        let record = file.image
        guard let mediaType = record.text("mime"), mediaType.hasPrefix("image/") else { return nil }
        let images = images(file, mediaType)
        guard let full = images[.full] else { return nil }
        var photo = Photo(id: PhotoID(day: day, page: file.id))
        photo.created = day.localStart
        photo.width = record.size("width")
        photo.height = record.size("height")
        photo.setText(line("ObjectName", of: record) ?? name(file.title))
        photo.description = text("ImageDescription", of: record)
        photo.author = attribution(record)
        photo.authorURL = html("Artist", of: record).flatMap(firstLink)
        photo.license = line("LicenseShortName", of: record)
        photo.licenseURL = address(line("LicenseUrl", of: record))
        photo.url = address(record.text("descriptionurl"))
        photo.mediaType =
            full == address(record.text("url")) ? mediaType : file.largeImage?.text("thumbmime")
        var remote = RemotePhoto(photo, images: images)
        remote.hasLikeState = false
        return remote
    }

    /// Maps the site to the profile of the account.
    func profile(_ site: ServiceRecord) -> Profile {
        var profile = Profile(
            username: DailyProvider.username,
            name: ServiceText.line(site.text("sitename"), atMost: Self.maximumName)
                ?? "Wikimedia Commons")
        profile.url = address(site.text("base")) ?? ""
        profile.avatarURL = address(site.text("logo")) ?? ""
        return profile
    }

    // MARK: Texts

    /// The author and the licence, which the licence requires to be shown together with the image: `Ada, CC BY-SA 4.0`.
    private func attribution(_ record: ServiceRecord) -> String? {
        let parts = ["Artist", "LicenseShortName"].compactMap { line($0, of: record) }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    private func text(_ name: String, of record: ServiceRecord) -> String? {
        ServiceText.paragraphs(html(name, of: record).map(HTMLText.plain))
    }

    private func line(_ name: String, of record: ServiceRecord) -> String? {
        ServiceText.line(html(name, of: record).map(HTMLText.plain), atMost: Self.maximumName)
    }

    private func html(_ name: String, of record: ServiceRecord) -> String? {
        record.record("extmetadata")?.record(name)?.text("value")
    }

    /// Returns the name of a file without namespace and extension.
    private func name(_ title: String) -> String? {
        let name = title.drop { $0 != ":" }.dropFirst()
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else {
            return ServiceText.line(String(name))
        }
        return ServiceText.line(String(name[..<dot]))
    }

    private func firstLink(_ html: String) -> String? {
        var tokens = HTMLTokens(Array(html.utf8.prefix(HTMLText.maximumInput)))
        while let token = tokens.next() {
            guard case .start(let tag) = token, tag.name == "a" else { continue }
            if let address = address(tag["href"]) { return address }
        }
        return nil
    }

    // MARK: Images

    private func images(_ file: CommonsClient.File, _ mediaType: String) -> [ImageSize: String] {
        let original = address(file.image.text("url"))
        let isShown = Self.shownTypes.contains(mediaType)
        // The service returns the original in place of a thumbnail that would not be smaller.
        func thumbnail(_ text: String?) -> String? {
            address(text).flatMap { isShown || $0 != original ? $0 : nil }
        }
        let large = file.largeImage
        let screen = thumbnail(large?.text("thumburl"))
        let images: [ImageSize: String?] = [
            .thumb: thumbnail(file.image.text("thumburl")), .small: thumbnail(double(file.image)),
            .regular: screen,
            .full: isShown && isUsable(file.image)
                ? original : thumbnail(large.flatMap(double)) ?? screen,
        ]
        return images.compactMapValues { $0 }
    }

    /// Returns the address of the thumbnail of twice the requested width.
    private func double(_ image: ServiceRecord) -> String? {
        image.record("responsiveUrls")?.text("2")
    }

    private func isUsable(_ record: ServiceRecord) -> Bool {
        let (pixels, overflows) = (record.integer("width") ?? 0)
            .multipliedReportingOverflow(by: record.integer("height") ?? 0)
        return !overflows && pixels <= Self.maximumOriginal.pixels
            && record.integer("size") ?? 0 <= Self.maximumOriginal.bytes
    }

    /// Validates an address from a response. An address without a scheme has that of the API. Loopback addresses are
    /// accepted only if the API is on this computer.
    private func address(_ text: String?) -> String? {
        guard var text else { return nil }
        if text.hasPrefix("//") { text = "https:" + text }
        return WebAddress(text, allowsLoopback: allowsLoopback)?.text
    }
}

/// A page: the template of a day, or a file.
struct PageRecord {
    /// nil for a page that does not exist.
    let id: Int?
    let title: String?
    let isMissing: Bool
    /// The titles of the files that the page shows.
    private(set) var files: [String]
    /// The source text of the page.
    private(set) var text: String?
    /// The current version of the file.
    private(set) var image: ServiceRecord?

    init(_ page: ServiceRecord) {
        id = page.integer("pageid").flatMap { $0 > 0 ? $0 : nil }
        title = page.text("title")
        isMissing = page.flag("missing") ?? false
        files = page.records("images")?.compactMap { $0.text("title") } ?? []
        let revision = page.records("revisions")?.first
        text = revision?.record("slots")?.record("main")?.text("content")
        image = page.records("imageinfo")?.first
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
