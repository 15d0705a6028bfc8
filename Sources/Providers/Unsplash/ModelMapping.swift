internal import ProviderKit

/// A mapping from API records to the model.
struct ModelMapping: Sendable {
    let settings: UnsplashSettings

    /// Maps a photo.
    ///
    /// - Parameters:
    ///   - record: The photo.
    ///   - isInLikes: True if the photo is in the list of the user's likes.
    /// - Returns: nil for a record that is not a free photo or has no image.
    func photo(_ record: PhotoRecord, isInLikes: Bool = false) -> RemotePhoto? {
        let id = PhotoID(record.id)
        let images = images(record.images)
        guard record.isFreePhoto, id.isOfUnsplash, !images.isEmpty else { return nil }
        var photo = Photo(id: id)
        photo.created = record.createdAt.flatMap { Timestamp(rfc3339: $0) }
        photo.updated = record.updatedAt.flatMap { Timestamp(rfc3339: $0) }
        photo.width = ServiceNumber.size(record.width)
        photo.height = ServiceNumber.size(record.height)
        photo.color = record.color.flatMap { HexColor.isValid($0) ? $0 : nil }
        photo.blurHash = record.blurHash.flatMap { BlurHash.isValid($0) ? $0 : nil }
        photo.setText(record.caption)
        photo.description = ServiceText.paragraphs(record.alternativeText)
        let username = ServiceText.line(record.user?.username)
        photo.author = ServiceText.line(record.user?.name) ?? username
        photo.authorUsername = username
        photo.authorURL = link(record.user?.page, else: username.map { ["@\($0)"] })
        photo.url = link(record.links?.page, else: ["photos", record.id])
        // Source: https://unsplash.com/license, which covers all photos that are free.
        photo.license = "Unsplash License"
        photo.licenseURL = "https://unsplash.com/license"
        photo.likes = ServiceNumber.count(record.likes)
        photo.isLiked = record.isLiked ?? isInLikes
        photo.mediaType = images[.full].flatMap { Self.mediaType($0) }
        var remote = RemotePhoto(
            photo, images: images, note: downloadAddress(record.links?.downloadLocation))
        remote.hasLikeState = record.isLiked != nil || isInLikes
        return remote
    }

    /// Returns the profile of a user; nil if the record has no user name.
    func profile(_ record: UserRecord) -> Profile? {
        guard let username = ServiceText.line(record.username) else { return nil }
        var profile = Profile(
            username: username, name: ServiceText.line(record.name) ?? username)
        profile.userID = record.id
        profile.bio = ServiceText.paragraphs(record.bio) ?? ""
        profile.location = ServiceText.line(record.location) ?? ""
        profile.url = link(record.page, else: ["@\(username)"]) ?? ""
        profile.avatarURL = record.avatar.flatMap { address($0)?.text } ?? ""
        profile.likes = ServiceNumber.count(record.totalLikes)
        return profile
    }

    // MARK: Addresses

    /// Validates an address from a response. Loopback addresses are accepted only if the API is on this computer.
    func address(_ text: String) -> WebAddress? {
        guard let address = WebAddress(text) else { return nil }
        guard address.isLoopback else { return address.scheme == .https ? address : nil }
        return settings.api.isLoopback ? address : nil
    }

    /// Returns the address of each size. Only `urls` is used, unmodified, as the guidelines require. `small_s3` is
    /// excluded because its views are not counted.
    private func images(_ record: PhotoRecord.Images) -> [ImageSize: String] {
        let texts: [ImageSize: String?] = [
            .full: record.full, .regular: record.regular, .small: record.small,
            .thumb: record.thumb,
        ]
        return texts.compactMapValues { $0.flatMap { address($0)?.text } }
    }

    /// Returns a link to a page with the attribution parameters that the guidelines require. Other query parameters are
    /// preserved.
    ///
    /// - Parameters:
    ///   - text: The address from the response.
    ///   - path: The path to use if the response has no valid address.
    /// - Returns: nil if both are missing.
    private func link(_ text: String?, else path: [String]?) -> String? {
        guard let page = text.flatMap({ address($0)?.text }) ?? path.map({ page($0) }) else {
            return nil
        }
        let fragment = page.firstIndex(of: "#") ?? page.endIndex
        let parts = page[..<fragment].split(
            separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let others = (parts.count > 1 ? parts[1] : "").split(separator: "&").filter { field in
            !Self.attribution.contains { field == $0.name || field.hasPrefix("\($0.name)=") }
        }
        let query = (others + [Substring(URLEncoding.form(Self.attribution))])
            .joined(separator: "&")
        return "\(parts[0])?\(query)\(page[fragment...])"
    }

    private func page(_ path: [String]) -> String {
        ([settings.web.text] + path.map(Self.segment)).joined(separator: "/")
    }

    /// Escapes a path segment, except for a leading `@`, as in the addresses of the service.
    private static func segment(_ text: String) -> String {
        text.hasPrefix("@")
            ? "@" + URLEncoding.escape(String(text.dropFirst())) : URLEncoding.escape(text)
    }

    private static let attribution: [(name: String, value: String)] = [
        ("utm_source", "image_feed"), ("utm_medium", "referral"),
    ]

    /// Returns the address that counts a download, with its `ixid`; empty if it is not an address of the API.
    private func downloadAddress(_ text: String?) -> String {
        guard let address = text.flatMap(address), address.origin == settings.api.origin else {
            return ""
        }
        return address.text
    }

    // MARK: Values

    /// Returns the media type that an image address requests in the parameter `fm`.
    private static func mediaType(_ url: String) -> String? {
        guard let fields = WebAddress(url)?.query.flatMap(URLEncoding.fields) else { return nil }
        return switch fields.first(where: { $0.name == "fm" })?.value {
        case "jpg", "pjpg": "image/jpeg"
        case "png": "image/png"
        case "webp": "image/webp"
        case "avif": "image/avif"
        default: nil
        }
    }
}
