internal import ProviderKit

/// Makes of a server's records what the engine keeps.
struct ModelMapping: Sendable {
    /// Whether the server lies on this computer, and may name addresses there.
    let allowsLoopback: Bool
    let showsSensitive: Bool

    /// What Pixelfed says of pictures that it has not looked at yet.
    ///
    /// Source: pixelfed `app/Util/Media/Blurhash.php`.
    private static let noBlurHash = "U4Rfzst8?bt7ogayj[j[~pfQ9Goe%Mj[WBay"

    /// The pictures of a status, as they are to be shown: none where filters or warnings keep them back.
    ///
    /// - Parameters:
    ///   - record: The status, or one that passes another on.
    ///   - isOfLikes: Whether it was found among what the user likes.
    /// - Returns: The pictures, in their order.
    func photos(_ record: StatusRecord, isOfLikes: Bool = false) -> [RemotePhoto] {
        let status = record.original
        let actions = record.filterActions + status.filterActions
        guard !actions.contains("hide") else { return [] }
        let isSensitive =
            [record, status].contains { $0.isSensitive == true || warning($0) != nil }
            || !actions.isEmpty
        guard showsSensitive || !isSensitive else { return [] }
        return allPhotos(status, isSensitive: isSensitive, isOfLikes: isOfLikes)
    }

    /// The pictures of a status, whatever keeps them back in a feed.
    func allPhotos(
        _ status: StatusRecord, isSensitive: Bool? = nil, isOfLikes: Bool = false
    ) -> [RemotePhoto] {
        let isSensitive = isSensitive ?? (status.isSensitive == true || warning(status) != nil)
        let texts = [warning(status), status.content.flatMap(text)].compactMap(\.self)
        let title = ServiceText.paragraphs(texts.joined(separator: "\n\n"))
        return status.attachments.compactMap { attachment in
            guard attachment.kind == "image", let full = attachment.full.flatMap(address),
                let id = StatusPhotoID(status: status.id, attachment: attachment.id)
            else { return nil }
            var photo = Photo(id: id.id)
            photo.created = status.createdAt.flatMap { Timestamp(rfc3339: $0) }
            photo.updated = status.editedAt.flatMap { Timestamp(rfc3339: $0) }
            photo.width = Self.size(attachment.width)
            photo.height = Self.size(attachment.height)
            photo.blurHash = attachment.blurHash.flatMap {
                BlurHash.isValid($0) && $0 != Self.noBlurHash ? $0 : nil
            }
            photo.focus = attachment.focus
            photo.title = title
            photo.description = ServiceText.paragraphs(attachment.text)
            let handle = ServiceText.line(status.account?.handle ?? status.account?.username)
            photo.author = ServiceText.line(status.account?.displayName) ?? handle
            photo.authorUsername = handle
            photo.authorURL = status.account?.page.flatMap(address)
            photo.url = status.page.flatMap(address)
            photo.likes = status.favourites.flatMap { 0...Int(UInt32.max) ~= $0 ? $0 : nil }
            photo.isLiked = status.isFavourite ?? isOfLikes
            photo.isSensitive = isSensitive
            photo.mediaType = Self.mediaType(full)
            var images: [ImageSize: String] = [.full: full]
            // The server makes one smaller size, large enough for a widget.
            images[.small] = attachment.preview.flatMap(address).flatMap {
                $0.hasSuffix("/no-preview.png") ? nil : $0
            }
            var remote = RemotePhoto(photo, images: images)
            remote.saysWhetherLiked = status.isFavourite != nil || isOfLikes
            return remote
        }
    }

    /// Who somebody is; nil if that is not said.
    func profile(_ record: AccountRecord) -> Profile? {
        guard let username = ServiceText.line(record.username) else { return nil }
        var profile = Profile(
            username: username, name: ServiceText.line(record.displayName) ?? username)
        profile.userID = record.id
        let plain = ServiceText.paragraphs(record.plainNote)
        profile.bio = plain ?? record.note.flatMap(text) ?? ""
        profile.url = record.page.flatMap(address) ?? ""
        profile.avatarURL = record.avatar.flatMap(address).flatMap(Self.picture) ?? ""
        return profile
    }

    private func warning(_ status: StatusRecord) -> String? {
        ServiceText.line(status.warning)
    }

    private func text(_ html: String) -> String? { ServiceText.paragraphs(HTMLText.plain(html)) }

    // MARK: Addresses

    /// An address that an answer named, if it may be asked: this computer only where the server lies there.
    func address(_ text: String) -> String? {
        guard let address = WebAddress(text) else { return nil }
        if address.isLoopback { return allowsLoopback ? address.text : nil }
        return address.scheme == .https ? address.text : nil
    }

    /// nil for the pictures that stand for none.
    private static func picture(_ url: String) -> String? {
        let path = url.prefix { $0 != "?" && $0 != "#" }
        let isNone = ["/missing.png", "/avatars/default.jpg", "/avatars/default.png"]
            .contains { path.hasSuffix($0) }
        return isNone ? nil : url
    }

    private static func size(_ value: Int?) -> Int? {
        value.flatMap { 1...Int(Int32.max) ~= $0 ? $0 : nil }
    }

    /// By the ending of its name, since nothing else says it.
    private static func mediaType(_ url: String) -> String? {
        let path = url.prefix { $0 != "?" && $0 != "#" }
        guard let dot = path.lastIndex(of: ".") else { return nil }
        return switch path[path.index(after: dot)...].lowercased() {
        case "jpg", "jpeg", "jfif": "image/jpeg"
        case "png": "image/png"
        case "webp": "image/webp"
        case "gif": "image/gif"
        case "avif": "image/avif"
        case "heic", "heif": "image/heic"
        case "jxl": "image/jxl"
        default: nil
        }
    }
}
