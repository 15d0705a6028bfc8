internal import ProviderKit

/// The used fields of a photo.
///
/// All fields except the ID and the image addresses are optional: the documentation states that undocumented fields
/// "may change with no warning".
struct PhotoRecord: Decodable {
    let id: String
    let images: Images
    let links: Links?
    let createdAt: String?
    let updatedAt: String?
    let width: Int?
    let height: Int?
    let color: String?
    let blurHash: String?
    let caption: String?
    let alternativeText: String?
    let likes: Int?
    let isLiked: Bool?
    let user: UserRecord?
    /// True if the photo is free to view: not an illustration, and not the watermarked preview of a photo that must be
    /// paid for.
    let isFreePhoto: Bool

    struct Images: Decodable {
        let full: String?
        let regular: String?
        let small: String?
        let thumb: String?

        private enum Key: String, CodingKey {
            case full, regular, small, thumb
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Key.self)
            full = values.lenient(.full)
            regular = values.lenient(.regular)
            small = values.lenient(.small)
            thumb = values.lenient(.thumb)
        }
    }

    struct Links: Decodable {
        let page: String?
        let downloadLocation: String?

        private enum Key: String, CodingKey {
            case page = "html"
            case downloadLocation = "download_location"
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Key.self)
            page = values.lenient(.page)
            downloadLocation = values.lenient(.downloadLocation)
        }
    }

    private enum Key: String, CodingKey {
        case id, urls, links, width, height, color, description, likes, user, premium, plus
        case createdAt = "created_at"
        case updatedAt = "updated_at"
        case blurHash = "blur_hash"
        case alternativeText = "alt_description"
        case isLiked = "liked_by_user"
        case assetType = "asset_type"
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        id = try values.decode(String.self, forKey: .id)
        images = try values.decode(Images.self, forKey: .urls)
        links = values.lenient(.links)
        createdAt = values.lenient(.createdAt)
        updatedAt = values.lenient(.updatedAt)
        width = values.lenientInteger(.width)
        height = values.lenientInteger(.height)
        color = values.lenient(.color)
        blurHash = values.lenient(.blurHash)
        caption = values.lenient(.description)
        alternativeText = values.lenient(.alternativeText)
        likes = values.lenientInteger(.likes)
        isLiked = values.lenient(.isLiked)
        user = values.lenient(.user)
        isFreePhoto =
            values.lenient(.premium) != true && values.lenient(.plus) != true
            && values.lenient(.assetType) ?? "photo" == "photo"
    }
}

/// The results of a search.
struct SearchRecord: Decodable {
    let photos: LenientList<PhotoRecord>
    let total: Int?

    private enum Key: String, CodingKey {
        case results, total
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        photos = try values.decode(LenientList<PhotoRecord>.self, forKey: .results)
        total = values.lenientInteger(.total)
    }
}

/// The response to a like or unlike; it may be empty.
struct LikeRecord: Decodable {
    let likes: Int?

    private enum Key: String, CodingKey {
        case photo, likes
    }

    init(from decoder: any Decoder) throws {
        let photo = try decoder.container(keyedBy: Key.self)
            .nestedContainer(keyedBy: Key.self, forKey: .photo)
        likes = photo.lenientInteger(.likes)
    }
}
