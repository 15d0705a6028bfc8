internal import ProviderKit

/// Makes of the API's records what the engine keeps.
struct ModelMapping: Sendable {
    let settings: UnsplashSettings

    /// A photo as the engine keeps it.
    ///
    /// - Parameters:
    ///   - record: The photo.
    ///   - isOfLikes: Whether it was found among what the user likes.
    /// - Returns: nil for what is no photo, or cannot be shown.
    func photo(_ record: PhotoRecord, isOfLikes: Bool = false) -> RemotePhoto? {
        let id = PhotoID(record.id)
        let images = images(record.images)
        guard record.isFreePhoto, id.isOfUnsplash, !images.isEmpty else { return nil }
        var photo = Photo(id: id)
        photo.created = record.createdAt.flatMap { Timestamp(rfc3339: $0) }
        photo.updated = record.updatedAt.flatMap { Timestamp(rfc3339: $0) }
        photo.width = Self.size(record.width)
        photo.height = Self.size(record.height)
        photo.color = record.color.flatMap { Self.isColor($0) ? $0 : nil }
        photo.blurHash = record.blurHash.flatMap { BlurHash.isValid($0) ? $0 : nil }
        photo.title = ServiceText.paragraphs(record.caption)
        photo.description = ServiceText.paragraphs(record.alternativeText)
        let username = ServiceText.line(record.user?.username)
        photo.author = ServiceText.line(record.user?.name) ?? username
        photo.authorUsername = username
        photo.authorURL = link(record.user?.page, else: username.map { ["@\($0)"] })
        photo.url = link(record.links?.page, else: ["photos", record.id])
        photo.likes = Self.count(record.likes)
        photo.isLiked = record.isLiked ?? isOfLikes
        photo.mediaType = images[.full].flatMap { Self.mediaType($0) }
        var remote = RemotePhoto(photo, images: images, note: note(record.links?.downloadLocation))
        remote.saysWhetherLiked = record.isLiked != nil || isOfLikes
        return remote
    }

    /// Who somebody is; nil if that is not said.
    func profile(_ record: UserRecord) -> Profile? {
        guard let username = ServiceText.line(record.username) else { return nil }
        var profile = Profile(
            username: username, name: ServiceText.line(record.name) ?? username)
        profile.userID = record.id
        profile.bio = ServiceText.paragraphs(record.bio) ?? ""
        profile.location = ServiceText.line(record.location) ?? ""
        profile.url = link(record.page, else: ["@\(username)"]) ?? ""
        profile.avatarURL = record.avatar.flatMap { address($0)?.text } ?? ""
        profile.likes = Self.count(record.totalLikes)
        return profile
    }

    // MARK: Addresses

    /// An address that an answer named, if it may be asked: this computer only where the API lies there.
    func address(_ text: String) -> WebAddress? {
        guard let address = WebAddress(text) else { return nil }
        guard address.isLoopback else { return address.scheme == .https ? address : nil }
        return settings.api.isLoopback ? address : nil
    }

    /// The sizes, of `urls` alone: the guidelines want them as they are. `small_s3` is not among them,
    /// since there views are not counted.
    private func images(_ record: PhotoRecord.Images) -> [ImageSize: String] {
        let texts: [ImageSize: String?] = [
            .full: record.full, .regular: record.regular, .small: record.small,
            .thumb: record.thumb,
        ]
        return texts.compactMapValues { $0.flatMap { address($0)?.text } }
    }

    /// A link to a page, with the attribution that the guidelines ask for on every one of them. What else
    /// it has in its query stays.
    ///
    /// - Parameters:
    ///   - text: As it was answered.
    ///   - path: Where the page is if the answer named none, or none that can be shown.
    /// - Returns: nil if neither is there.
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

    /// A segment of a path whose `@` stays, as it is in the addresses of the service.
    private static func segment(_ text: String) -> String {
        text.hasPrefix("@")
            ? "@" + URLEncoding.escape(String(text.dropFirst())) : URLEncoding.escape(text)
    }

    private static let attribution: [(name: String, value: String)] = [
        ("utm_source", "image_feed"), ("utm_medium", "referral"),
    ]

    /// Where a download is counted, with its `ixid`; empty where that is not at the API.
    private func note(_ text: String?) -> String {
        guard let address = text.flatMap(address), address.origin == settings.api.origin else {
            return ""
        }
        return address.text
    }

    // MARK: Values

    private static func size(_ value: Int?) -> Int? {
        value.flatMap { 1...Int(Int32.max) ~= $0 ? $0 : nil }
    }

    static func count(_ value: Int?) -> Int? {
        value.flatMap { 0...Int(UInt32.max) ~= $0 ? $0 : nil }
    }

    private static func isColor(_ text: String) -> Bool {
        text.utf8.count == 7 && text.hasPrefix("#")
            && text.dropFirst().allSatisfy { $0.isASCII && $0.isHexDigit }
    }

    /// What the image server is told to make of the photo.
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
