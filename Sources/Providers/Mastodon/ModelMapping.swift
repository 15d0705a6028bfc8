internal import ImageMetadata
internal import ProviderKit
internal import Translation
internal import WebService

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
    /// sensitive status unless `showsSensitive` is set, and for a direct message.
    ///
    /// - Parameters:
    ///   - record: The status, or a boost of it.
    ///   - isInLikes: True if the status is in the list of the user's likes.
    ///   - entry: The entry in ``OmittedImages``; nil if the list is not ordered by the status.
    /// - Returns: The photos, in the order of the attachments.
    func photos(
        _ record: StatusRecord, isInLikes: Bool = false, in entry: String? = nil
    ) -> [RemotePhoto] {
        let status = record.original
        let actions = record.filterActions + status.filterActions
        guard !actions.contains("hide") else { return [] }
        let isSensitive =
            record.isSensitive || status.isSensitive || !actions.isEmpty
        guard showsSensitive || !isSensitive else { return [] }
        // The photos of a direct message are for the people in it, not for a screen.
        guard isInLikes || status.members.text("visibility") != "direct" else { return [] }
        return allPhotos(status, isSensitive: isSensitive, isInLikes: isInLikes, in: entry)
    }

    /// Returns all photos of a status, even if a feed would omit them.
    func allPhotos(
        _ status: StatusRecord, isSensitive: Bool? = nil, isInLikes: Bool = false,
        in entry: String? = nil
    ) -> [RemotePhoto] {
        let members = status.members
        let account = members.record("account")
        let isFavourite = members.flag("favourited")
        let texts = [status.warning, text(members.text("content"))].compactMap(\.self)
        let text = texts.joined(separator: "\n\n")
        let handle = ServiceText.line(account?.text("acct") ?? account?.text("username"))
        let author = account?.line("display_name") ?? handle
        let authorURL = address(account?.text("url"))
        let url = address(members.text("url") ?? members.text("uri"))
        let likes = members.count("favourites_count")
        let (created, updated) = (members.time("created_at"), members.time("edited_at"))
        return (members.records("media_attachments") ?? []).compactMap { attachment in
            guard let name = attachment.identifier("id") else { return nil }
            let key = "\(status.id) \(name)"
            guard attachment.text("type") == "image" else {
                // Source: mastodon 4.6.4, `MediaAttachmentSerializer`: a file of another server that was not copied. Its
                // `url` may be the address of a proxy.
                if attachment.text("type") == "unknown", attachment.text("remote_url") != nil {
                    omissions?.record([key], Message("the server has no copy of it"), in: entry)
                }
                return nil
            }
            guard let full = address(attachment.text("url")) else {
                let isUnprocessed =
                    attachment.text("url") == nil && attachment.text("remote_url") == nil
                omissions?.record(
                    [key],
                    isUnprocessed
                        ? Message("the server has not processed it")
                        : Message("its address is invalid"), in: entry)
                return nil
            }
            guard let id = StatusPhotoID(status: status.id, attachment: name) else {
                omissions?.record([key], Message("the ID of its status is invalid"), in: entry)
                return nil
            }
            omissions?.remove([key])
            let meta = attachment.record("meta")
            let original = meta?.record("original")
            let focus = meta?.record("focus")
            var photo = Photo(id: id.id)
            photo.created = created
            photo.updated = updated
            photo.width = original?.size("width")
            photo.height = original?.size("height")
            photo.blurHash = attachment.text("blurhash").flatMap {
                Photo.isBlurHash($0) && $0 != Self.noBlurHash ? $0 : nil
            }
            if let x = focus?.number("x"), let y = focus?.number("y") {
                photo.focus = FocalPoint(x: x, y: y)
            }
            photo.setText(text)
            photo.description = attachment.paragraphs("description")
            photo.author = author
            photo.authorUsername = handle
            photo.authorURL = authorURL
            photo.url = url
            photo.likes = likes
            photo.isLiked = isFavourite ?? isInLikes
            photo.isSensitive = isSensitive ?? status.isSensitive
            photo.mediaType = Self.mediaType(full)
            var images: [ImageSize: String] = [.full: full]
            // The server creates only one smaller size, which is sufficient for a widget.
            images[.small] = address(attachment.text("preview_url")).flatMap {
                $0.hasSuffix("/no-preview.png") ? nil : $0
            }
            var remote = RemotePhoto(photo, images: images)
            // The state is missing in responses to requests without a user's token.
            remote.hasLikeState = isFavourite != nil || isInLikes
            return remote
        }
    }

    /// Returns the profile of a user; nil if the record has no user name.
    func profile(_ user: ServiceRecord) -> Profile? {
        guard let username = user.line("username") else { return nil }
        var profile = Profile(username: username, name: user.line("display_name") ?? username)
        profile.userID = user.identifier("id")
        // The source of the note is plain text.
        profile.bio = user.record("source")?.paragraphs("note") ?? text(user.text("note")) ?? ""
        profile.url = address(user.text("url")) ?? ""
        let avatar = address(user.text("avatar_static") ?? user.text("avatar"))
        profile.avatarURL = avatar.flatMap(Self.avatar) ?? ""
        return profile
    }

    private func text(_ html: String?) -> String? {
        ServiceText.paragraphs(html.map(HTMLText.plain))
    }

    // MARK: Addresses

    /// Validates an address from a response. Loopback addresses are accepted only from a server on this computer.
    private func address(_ text: String?) -> String? {
        WebAddress(text, allowsLoopback: allowsLoopback)?.text
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
        ImageFormat(name: url.prefix { $0 != "?" && $0 != "#" })?.mediaType
    }
}

/// A status.
///
/// All members except the ID are optional, because they depend on the server software and its version.
struct StatusRecord: Decodable {
    let id: String
    let members: ServiceRecord
    /// The boosted status, in an array because a struct cannot contain a value of its own type.
    private let boosted: [StatusRecord]

    init(from decoder: any Decoder) throws {
        members = try ServiceRecord(from: decoder)
        id = try members.identifier("id") ?? members.required("id")
        // One level is decoded: a boost cannot be boosted.
        let isBoosted = decoder.codingPath.contains { $0.stringValue == "reblog" }
        boosted = isBoosted ? [] : [members.value("reblog")].compactMap(\.self)
    }

    /// The boosted status if this is a boost, otherwise this status.
    var original: StatusRecord { boosted.first?.original ?? self }

    /// The content warning.
    var warning: String? { members.line("spoiler_text") }

    var isSensitive: Bool { members.flag("sensitive") == true || warning != nil }

    /// The actions of the user's filters that match the status.
    var filterActions: [String] {
        let filters = members.records("filtered") ?? []
        return filters.map { $0.record("filter")?.text("filter_action") ?? "warn" }
    }

    /// The ID of the like, by which Pixelfed orders the likes.
    var likeNumber: Int? { members.identifier("like_id").flatMap { Int($0) } }
}

extension ServiceRecord {
    /// Returns an opaque ID. Some servers have sent numbers.
    func identifier(_ name: String) -> String? {
        value(name, as: Int.self).map { "\($0)" } ?? text(name)
    }
}
