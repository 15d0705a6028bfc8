internal import ProviderKit

/// A mapping from API records to the model.
struct ModelMapping: Sendable {
    /// True if the server is on this computer and may refer to loopback addresses.
    let allowsLoopback: Bool
    let showsSensitive: Bool
    /// The images that cannot be shown; nil if they are not counted.
    var omissions: OmittedImages?

    /// The placeholder that Pixelfed sends for images that it has not processed yet.
    ///
    /// Source: pixelfed `app/Util/Media/Blurhash.php`.
    private static let noBlurHash = "U4Rfzst8?bt7ogayj[j[~pfQ9Goe%Mj[WBay"

    /// Returns the photos of a status for a feed. It is empty if the user's filters hide the status, and for a
    /// sensitive status unless `showsSensitive` is set.
    ///
    /// - Parameters:
    ///   - record: The status, or a boost of it.
    ///   - isInLikes: True if the status is in the list of the user's likes.
    /// - Returns: The photos, in the order of the attachments.
    func photos(_ record: StatusRecord, isInLikes: Bool = false) -> [RemotePhoto] {
        let status = record.original
        let actions = record.filterActions + status.filterActions
        guard !actions.contains("hide") else { return [] }
        let isSensitive =
            [record, status].contains { $0.isSensitive == true || warning($0) != nil }
            || !actions.isEmpty
        guard showsSensitive || !isSensitive else { return [] }
        return allPhotos(status, isSensitive: isSensitive, isInLikes: isInLikes)
    }

    /// Returns all photos of a status, even if a feed would omit them.
    func allPhotos(
        _ status: StatusRecord, isSensitive: Bool? = nil, isInLikes: Bool = false
    ) -> [RemotePhoto] {
        let isSensitive = isSensitive ?? (status.isSensitive == true || warning(status) != nil)
        let texts = [warning(status), status.content.flatMap(text)].compactMap(\.self)
        let text = texts.joined(separator: "\n\n")
        return status.attachments.compactMap { attachment in
            guard attachment.kind == "image" else { return nil }
            guard let full = attachment.full.flatMap(address) else {
                omissions?.record("\(status.id) \(attachment.id)", "its address is invalid")
                return nil
            }
            guard let id = StatusPhotoID(status: status.id, attachment: attachment.id) else {
                omissions?.record(
                    "\(status.id) \(attachment.id)", "the ID of its status is invalid")
                return nil
            }
            var photo = Photo(id: id.id)
            photo.created = status.createdAt.flatMap { Timestamp(rfc3339: $0) }
            photo.updated = status.editedAt.flatMap { Timestamp(rfc3339: $0) }
            photo.width = ServiceNumber.size(attachment.width)
            photo.height = ServiceNumber.size(attachment.height)
            photo.blurHash = attachment.blurHash.flatMap {
                BlurHash.isValid($0) && $0 != Self.noBlurHash ? $0 : nil
            }
            photo.focus = attachment.focus
            photo.setText(text)
            photo.description = ServiceText.paragraphs(attachment.text)
            let handle = ServiceText.line(status.account?.handle ?? status.account?.username)
            photo.author = ServiceText.line(status.account?.displayName) ?? handle
            photo.authorUsername = handle
            photo.authorURL = status.account?.page.flatMap(address)
            photo.url = status.page.flatMap(address)
            photo.likes = ServiceNumber.count(status.favourites)
            photo.isLiked = status.isFavourite ?? isInLikes
            photo.isSensitive = isSensitive
            photo.mediaType = Self.mediaType(full)
            var images: [ImageSize: String] = [.full: full]
            // The server creates only one smaller size, which is sufficient for a widget.
            images[.small] = attachment.preview.flatMap(address).flatMap {
                $0.hasSuffix("/no-preview.png") ? nil : $0
            }
            var remote = RemotePhoto(photo, images: images)
            remote.hasLikeState = status.isFavourite != nil || isInLikes
            return remote
        }
    }

    /// Returns the profile of a user; nil if the record has no user name.
    func profile(_ record: AccountRecord) -> Profile? {
        guard let username = ServiceText.line(record.username) else { return nil }
        var profile = Profile(
            username: username, name: ServiceText.line(record.displayName) ?? username)
        profile.userID = record.id
        let plain = ServiceText.paragraphs(record.plainNote)
        profile.bio = plain ?? record.note.flatMap(text) ?? ""
        profile.url = record.page.flatMap(address) ?? ""
        profile.avatarURL = record.avatar.flatMap(address).flatMap(Self.avatar) ?? ""
        return profile
    }

    private func warning(_ status: StatusRecord) -> String? {
        ServiceText.line(status.warning)
    }

    private func text(_ html: String) -> String? { ServiceText.paragraphs(HTMLText.plain(html)) }

    // MARK: Addresses

    /// Validates an address from a response. Loopback addresses are accepted only from a server on this computer.
    func address(_ text: String) -> String? {
        guard let address = WebAddress(text) else { return nil }
        if address.isLoopback { return allowsLoopback ? address.text : nil }
        return address.scheme == .https ? address.text : nil
    }

    /// Returns the address of an avatar; nil for the default images.
    private static func avatar(_ url: String) -> String? {
        let path = url.prefix { $0 != "?" && $0 != "#" }
        let isNone = ["/missing.png", "/avatars/default.jpg", "/avatars/default.png"]
            .contains { path.hasSuffix($0) }
        return isNone ? nil : url
    }

    /// Returns the media type for the file extension; the API does not state it.
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
