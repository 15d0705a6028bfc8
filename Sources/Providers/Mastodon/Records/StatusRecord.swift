internal import ProviderKit

/// The used fields of a status.
///
/// All fields except the ID are optional, because they depend on the server software and its version.
struct StatusRecord: Decodable {
    let id: String
    let createdAt: String?
    let editedAt: String?
    let content: String?
    let warning: String?
    let isSensitive: Bool?
    /// The page of the status.
    let page: String?
    let favourites: Int?
    /// nil if the server does not state it, as for requests without a user's token.
    let isFavourite: Bool?
    let account: AccountRecord?
    let attachments: [AttachmentRecord]
    /// The actions of the user's filters that match the status.
    let filterActions: [String]
    /// The ID of the like, by which Pixelfed orders the likes.
    let likeNumber: Int?
    /// The boosted status, in an array because a struct cannot contain a value of its own type.
    private let boosted: [StatusRecord]

    /// The boosted status if this is a boost, otherwise this status.
    var original: StatusRecord { boosted.first?.original ?? self }

    private enum Key: String, CodingKey {
        case id, sensitive, url, uri, content, favourited, account, filtered, reblog
        case createdAt = "created_at"
        case editedAt = "edited_at"
        case warning = "spoiler_text"
        case favourites = "favourites_count"
        case attachments = "media_attachments"
        case likeNumber = "like_id"
    }

    private struct Filtered: Decodable {
        struct Filter: Decodable {
            let filter_action: String?
        }

        let filter: Filter?
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        id = try values.decode(Identifier.self, forKey: .id).text
        createdAt = values.lenient(.createdAt)
        editedAt = values.lenient(.editedAt)
        content = values.lenient(.content)
        warning = values.lenient(.warning)
        isSensitive = values.lenientFlag(.sensitive)
        page = values.lenient(.url) ?? values.lenient(.uri)
        favourites = values.lenientInteger(.favourites)
        isFavourite = values.lenientFlag(.favourited)
        account = values.lenient(.account)
        attachments = values.lenient(.attachments, as: LenientList.self)?.elements ?? []
        filterActions =
            values.lenient(.filtered, as: LenientList<Filtered>.self)?.elements
            .map { $0.filter?.filter_action ?? "warn" } ?? []
        likeNumber = values.lenient(.likeNumber, as: Identifier.self).flatMap { Int($0.text) }
        // One level is decoded: a boost cannot be boosted.
        let isBoosted = decoder.codingPath.contains { $0.stringValue == Key.reblog.rawValue }
        boosted = isBoosted ? [] : [values.lenient(.reblog)].compactMap(\.self)
    }
}

/// An opaque ID. Some servers have sent numbers.
struct Identifier: Decodable {
    let text: String

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let number = try? value.decode(Int.self) {
            text = "\(number)"
        } else {
            text = try value.decode(String.self)
        }
    }
}

/// An attachment of a status: an image or another medium.
struct AttachmentRecord: Decodable {
    let id: String
    /// `image`, `gifv`, `video`, `audio`, `unknown`.
    let kind: String?
    let full: String?
    let preview: String?
    let text: String?
    let blurHash: String?
    let width: Int?
    let height: Int?
    let focus: FocalPoint?

    private enum Key: String, CodingKey {
        case id, type, url, description, blurhash, meta, original, width, height, focus, x, y
        case preview = "preview_url"
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        id = try values.decode(Identifier.self, forKey: .id).text
        kind = values.lenient(.type)
        full = values.lenient(.url)
        preview = values.lenient(.preview)
        text = values.lenient(.description)
        blurHash = values.lenient(.blurhash)
        let original = try? values.nestedContainer(keyedBy: Key.self, forKey: .meta)
            .nestedContainer(keyedBy: Key.self, forKey: .original)
        width = original?.lenientInteger(.width)
        height = original?.lenientInteger(.height)
        let point = try? values.nestedContainer(keyedBy: Key.self, forKey: .meta)
            .nestedContainer(keyedBy: Key.self, forKey: .focus)
        if let x = point?.lenientNumber(.x), let y = point?.lenientNumber(.y) {
            focus = FocalPoint(x: x, y: y)
        } else {
            focus = nil
        }
    }
}
