internal import ProviderKit

/// A mapping from API records to the model.
struct ModelMapping: Sendable {
    let settings: DailySettings

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
        guard let mediaType = record.mediaType, mediaType.hasPrefix("image/") else { return nil }
        let images = images(file, mediaType)
        guard let full = images[.full] else { return nil }
        var photo = Photo(id: PictureID(day: day, page: file.id).photo)
        photo.created = day.localStart
        photo.width = ServiceNumber.size(record.width)
        photo.height = ServiceNumber.size(record.height)
        photo.setText(line("ObjectName", of: record) ?? name(file.title))
        photo.description = text("ImageDescription", of: record)
        photo.author = attribution(record)
        photo.authorURL = record.texts["Artist"].flatMap(firstLink)
        photo.license = line("LicenseShortName", of: record)
        photo.licenseURL = address(line("LicenseUrl", of: record))
        photo.url = address(record.page)
        photo.mediaType =
            full == address(record.original) ? mediaType : file.largeImage?.thumbnailMediaType
        var remote = RemotePhoto(photo, images: images)
        remote.hasLikeState = false
        return remote
    }

    /// Maps the site to the profile of the account.
    func profile(_ site: SiteRecord) -> Profile {
        var profile = Profile(
            username: DailyProvider.username,
            name: ServiceText.line(site.name, atMost: Self.maximumName) ?? "Wikimedia Commons")
        profile.url = address(site.mainPage) ?? ""
        profile.avatarURL = address(site.logo) ?? ""
        return profile
    }

    // MARK: Texts

    /// The author and the licence, which the licence requires to be shown together with the image: `Ada, CC BY-SA 4.0`.
    private func attribution(_ record: ImageRecord) -> String? {
        let parts = ["Artist", "LicenseShortName"].compactMap { line($0, of: record) }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    private func text(_ name: String, of record: ImageRecord) -> String? {
        record.texts[name].flatMap { ServiceText.paragraphs(HTMLText.plain($0)) }
    }

    private func line(_ name: String, of record: ImageRecord) -> String? {
        record.texts[name].flatMap {
            ServiceText.line(HTMLText.plain($0), atMost: Self.maximumName)
        }
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

    private func images(
        _ file: CommonsClient.File, _ mediaType: String
    ) -> [ImageSize: String] {
        let original = address(file.image.original)
        let isShown = Self.shownTypes.contains(mediaType)
        // The service returns the original in place of a thumbnail that would not be smaller.
        func thumbnail(_ text: String?) -> String? {
            address(text).flatMap { isShown || $0 != original ? $0 : nil }
        }
        let large = file.largeImage
        let screen = thumbnail(large?.thumbnail)
        let images: [ImageSize: String?] = [
            .thumb: thumbnail(file.image.thumbnail), .small: thumbnail(file.image.doubleThumbnail),
            .regular: screen,
            .full: isShown && isUsable(file.image)
                ? original : thumbnail(large?.doubleThumbnail) ?? screen,
        ]
        return images.compactMapValues { $0 }
    }

    private func isUsable(_ record: ImageRecord) -> Bool {
        let (pixels, overflows) = (record.width ?? 0).multipliedReportingOverflow(
            by: record.height ?? 0)
        return !overflows && pixels <= Self.maximumOriginal.pixels
            && record.bytes ?? 0 <= Self.maximumOriginal.bytes
    }

    /// Validates an address from a response. An address without a scheme has that of the API. Loopback addresses are
    /// accepted only if the API is on this computer.
    private func address(_ text: String?) -> String? {
        guard var text else { return nil }
        if text.hasPrefix("//") { text = "https:" + text }
        guard let address = WebAddress(text) else { return nil }
        guard address.isLoopback else { return address.scheme == .https ? address.text : nil }
        return settings.api.isLoopback ? address.text : nil
    }
}
