internal import ServiceSimulator

/// Writes the data of a server as JSON, as one of its users receives it.
///
/// Source: recorded responses of Mastodon 4.6.4; pixelfed `app/Transformer/Api/Mastodon/v1`.
struct StatusWriter {
    private let state: ServerState
    private let viewer: SimulatedUser
    private var isPixelfed: Bool { state.software == .pixelfed }

    init(_ state: ServerState, viewer: SimulatedUser) {
        self.state = state
        self.viewer = viewer
    }

    func status(_ status: SimulatedStatus) -> JSON {
        let author = state.users[status.author]
        let page = "https://\(state.name)/@\(status.author)/\(status.id)"
        let isFavourite = viewer.likes.contains { $0.status == status.id }
        let boosted = status.boosts.flatMap { state.status($0) }
        let reblog: JSON = boosted.map { self.status($0) } ?? .null
        let favourited: JSON = isPixelfed && !isFavourite ? .null : .bool(isFavourite)
        let language: JSON = isPixelfed ? .null : "en"
        let tag: JSON = [
            "name": .string(status.tag), "url": .string("https://\(state.name)/tags/\(status.tag)"),
        ]
        let first: JSON = [
            "id": .string(status.id), "created_at": date(status.created), "in_reply_to_id": .null,
            "in_reply_to_account_id": .null, "sensitive": .bool(status.isSensitive),
            "spoiler_text": .string(status.warning), "visibility": .string(status.visibility),
            "language": language, "uri": .string(page), "url": .string(page),
            "replies_count": 0, "reblogs_count": 0,
            "favourites_count": number(state.likes(of: status)), "quotes_count": 0,
            "edited_at": .null,
        ]
        // Pixelfed sends null for unknown values.
        let second: JSON = [
            "favourited": favourited, "reblogged": false, "muted": false, "bookmarked": false,
            "pinned": false, "content": .string(status.content), "filtered": filtered(status),
            "reblog": reblog, "application": .null, "account": author.map { account($0) } ?? .null,
            "media_attachments": .array(
                status.attachments.map {
                    state.software == .snac ? snacAttachment($0) : attachment($0)
                }),
        ]
        return first + second + [
            "mentions": [], "tags": .array([tag]), "emojis": [], "tagged_collections": [],
            "quote": .null, "card": .null, "poll": .null,
            "quote_approval": ["automatic": [], "manual": [], "current_user": "automatic"],
        ]
    }

    /// Returns the filters of the user that match a status.
    private func filtered(_ status: SimulatedStatus) -> JSON {
        guard let action = status.filterAction else { return [] }
        let filter: JSON = [
            "id": "202", "title": "things", "context": ["home"], "expires_at": .null,
            "filter_action": .string(action),
        ]
        return [
            [
                "filter": filter, "keyword_matches": .null,
                "status_matches": .array([.string(status.id)]),
            ]
        ]
    }

    private func attachment(_ attachment: SimulatedStatus.Attachment) -> JSON {
        let ending = attachment.kind == "video" ? "mp4" : "jpg"
        let isUnknown = attachment.kind == "unknown"
        let url = "\(state.mediaOrigin)/media/original/\(attachment.id).\(ending)"
        var meta: JSON = [
            "original": [
                "width": number(attachment.width), "height": number(attachment.height),
                "size": "\(attachment.width)x\(attachment.height)",
                "aspect": .number(Double(attachment.width) / Double(attachment.height)),
            ]
        ]
        if !isPixelfed { meta = meta + ["small": ["width": 640, "height": 426]] }
        meta = meta + ["focus": ["x": 0.25, "y": -0.5]]
        let noBlurHash: JSON = isPixelfed ? "U4Rfzst8?bt7ogayj[j[~pfQ9Goe%Mj[WBay" : .null
        let preview = "\(state.mediaOrigin)/media/small/\(attachment.id).jpg"
        return [
            "id": .string(attachment.id), "type": .string(attachment.kind),
            "url": isUnknown ? .null : .string(url),
            "preview_url": isUnknown ? .null : .string(preview),
            "remote_url": isUnknown ? .string("https://elsewhere.test/\(attachment.id)") : .null,
            "preview_remote_url": .null, "text_url": .null,
            "meta": attachment.hasMeta ? meta : .null,
            "description": .string(attachment.description),
            "blurhash": attachment.blurHash.map { JSON.string($0) } ?? noBlurHash,
        ]
    }

    private func snacAttachment(_ attachment: SimulatedStatus.Attachment) -> JSON {
        let url = "\(state.mediaOrigin)/media/original/\(attachment.id).jpg"
        let kind = attachment.kind == "unknown" ? "audio" : attachment.kind
        return [
            "id": .string(attachment.snacID), "url": .string(url), "preview_url": .string(url),
            "remote_url": .string(url), "description": .string(attachment.description),
            "type": .string(kind),
        ]
    }

    func account(_ user: SimulatedUser) -> JSON {
        let page = "https://\(state.name)/@\(user.username)"
        let avatar =
            user.hasAvatar
            ? "\(state.mediaOrigin)/avatars/\(user.username).jpg"
            : "\(state.origin)/avatars/original/missing.png"
        return [
            "id": .string(user.id), "username": .string(user.username),
            "acct": .string(user.username), "display_name": .string(user.displayName),
            "locked": false, "bot": false, "discoverable": .null, "indexable": false,
            "group": false, "created_at": "2026-08-01T00:00:00.000Z", "note": .string(user.note),
            "url": .string(page), "uri": .string(page), "avatar": .string(avatar),
            "avatar_static": .string(avatar), "avatar_description": "",
            "header": "\(state.origin)/headers/original/missing.png",
            "header_static": "\(state.origin)/headers/original/missing.png",
            "header_description": "", "followers_count": 0, "following_count": 0,
            "statuses_count": 0, "last_status_at": .null, "hide_collections": .null,
            "show_media": true, "show_media_replies": true, "show_featured": true,
            "noindex": false,
            "feature_approval": ["automatic": [], "manual": [], "current_user": "denied"],
            "emojis": [], "roles": [], "fields": [],
        ]
    }

    func ownAccount(_ user: SimulatedUser) -> JSON {
        account(user) + [
            "source": [
                "privacy": "public", "sensitive": false, "language": .null,
                "note": "I take photos & walk.", "fields": [],
            ], "role": ["id": "-99", "name": "", "permissions": "65536", "color": ""],
        ]
    }

    private func number(_ value: Int) -> JSON {
        state.software.sendsNumbersAsText ? .string("\(value)") : .integer(value)
    }

    private func date(_ moment: Moment) -> JSON {
        .string(moment.utc.replacing("Z", with: isPixelfed ? ".000000Z" : ".576Z"))
    }
}
