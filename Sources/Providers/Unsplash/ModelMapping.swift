internal import ImageMetadata
internal import ProviderKit
internal import WebService

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
        let members = record.members
        let links = members.record("links")
        let user = members.record("user")
        let isLiked: Bool? = members.value("liked_by_user")
        var photo = Photo(id: id)
        photo.created = members.time("created_at")
        photo.updated = members.time("updated_at")
        photo.width = members.size("width")
        photo.height = members.size("height")
        photo.color = members.text("color").flatMap { Photo.isColor($0) ? $0 : nil }
        photo.blurHash = members.text("blur_hash").flatMap { Photo.isBlurHash($0) ? $0 : nil }
        photo.setText(members.text("description"))
        photo.description = members.paragraphs("alt_description")
        let username = user?.line("username")
        photo.author = user?.line("name") ?? username
        photo.authorUsername = username
        photo.authorURL = link(
            user?.record("links")?.text("html"), else: username.map { ["@\($0)"] })
        photo.url = link(links?.text("html"), else: ["photos", record.id])
        // Source: https://unsplash.com/license, which covers all photos that are free.
        photo.license = "Unsplash License"
        photo.licenseURL = "https://unsplash.com/license"
        photo.likes = members.count("likes")
        photo.isLiked = isLiked ?? isInLikes
        photo.mediaType = images[.full].flatMap { Self.mediaType($0) }
        var remote = RemotePhoto(
            photo, images: images, note: downloadAddress(links?.text("download_location")))
        remote.hasLikeState = isLiked != nil || isInLikes
        return remote
    }

    /// Returns a topic as a source; nil if its slug is not valid in a source ID.
    func source(_ topic: ServiceRecord) -> Source? {
        guard let slug = topic.text("slug"),
            let source = UnsplashSource(UnsplashKind.topic.id(slug))
        else { return nil }
        let cover = topic.record("cover_photo")?.text("id").map { PhotoID($0) }
        return Source(
            id: source.id, title: topic.line("title") ?? slug, kind: .topic,
            count: topic.count("total_photos"), cover: cover.flatMap { $0.isOfUnsplash ? $0 : nil })
    }

    /// Returns the profile of a user; nil if the record has no user name.
    func profile(_ user: ServiceRecord) -> Profile? {
        guard let username = user.line("username") else { return nil }
        var profile = Profile(username: username, name: user.line("name") ?? username)
        profile.userID = user.text("id")
        profile.bio = user.paragraphs("bio") ?? ""
        profile.location = user.line("location") ?? ""
        profile.url = link(user.record("links")?.text("html"), else: ["@\(username)"]) ?? ""
        profile.avatarURL = address(user.record("profile_image")?.text("large"))?.text ?? ""
        profile.likes = user.count("total_likes")
        return profile
    }

    // MARK: Addresses

    private func address(_ text: String?) -> WebAddress? {
        WebAddress(text, allowsLoopback: settings.api.isLoopback)
    }

    /// Returns the address of each size. Only `urls` is used, unmodified, as the guidelines require. `small_s3` is
    /// excluded because its views are not counted.
    private func images(_ urls: ServiceRecord) -> [ImageSize: String] {
        var images: [ImageSize: String] = [:]
        for size in ImageSize.allCases { images[size] = address(urls.text(size.rawValue))?.text }
        return images
    }

    /// Returns a link to a page with the attribution parameters that the guidelines require. Other query parameters are
    /// preserved.
    ///
    /// - Parameters:
    ///   - text: The address from the response.
    ///   - path: The path to use if the response has no valid address.
    /// - Returns: nil if both are missing.
    private func link(_ text: String?, else path: [String]?) -> String? {
        guard let page = address(text)?.text ?? path.map({ page($0) }) else { return nil }
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
        guard let address = address(text), address.origin == settings.api.origin else { return "" }
        return address.text
    }

    // MARK: Values

    /// Returns the media type that an image address requests in the parameter `fm`.
    private static func mediaType(_ url: String) -> String? {
        guard let fields = WebAddress(url)?.query.flatMap(URLEncoding.fields) else { return nil }
        let format = fields.first { $0.name == "fm" }?.value ?? ""
        // A progressive JPEG.
        return ImageFormat(fileExtension: format == "pjpg" ? "jpg" : format)?.mediaType
    }
}

/// A photo.
///
/// All members except the ID and the image addresses are optional: the documentation states that undocumented members
/// "may change with no warning".
struct PhotoRecord: Decodable {
    let id: String
    /// The address of each size.
    let images: ServiceRecord
    let members: ServiceRecord

    init(from decoder: any Decoder) throws {
        members = try ServiceRecord(from: decoder)
        id = try members.required("id")
        images = try members.required("urls")
    }

    /// True if the photo is free to view: not an illustration, and not the watermarked preview of a photo that must be
    /// paid for.
    var isFreePhoto: Bool {
        members.value("premium") != true && members.value("plus") != true
            && members.text("asset_type") ?? "photo" == "photo"
    }
}
