internal import ProviderKit

/// A page of a search.
struct SearchRecord: Decodable {
    let assets: LenientList<AssetRecord>
    /// The number of the next page; nil at the end.
    let nextPage: Int?
    /// The cursor of the next page (version 3.2); nil at the end.
    let nextCursor: String?

    private enum Key: String, CodingKey {
        case assets, items, nextPage, nextCursor
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
            .nestedContainer(keyedBy: Key.self, forKey: .assets)
        assets = try values.decode(LenientList<AssetRecord>.self, forKey: .items)
        nextPage = values.lenientInteger(.nextPage)
        nextCursor = values.lenient(.nextCursor)
    }
}

/// The used fields of an album.
struct AlbumRecord: Decodable {
    let id: AssetID?
    let name: String?
    let count: Int?
    let cover: AssetID?
    /// The assets; nil if the server does not send them (version 3).
    let assets: LenientList<AssetRecord>?

    private enum Key: String, CodingKey {
        case id, assets
        case name = "albumName"
        case count = "assetCount"
        case cover = "albumThumbnailAssetId"
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        id = values.lenient(.id, as: String.self).flatMap(AssetID.init)
        name = values.lenient(.name)
        count = values.lenientInteger(.count)
        cover = values.lenient(.cover, as: String.self).flatMap(AssetID.init)
        assets = values.lenient(.assets)
    }
}

/// The people of a server.
struct PeopleRecord: Decodable {
    struct Person: Decodable {
        let id: AssetID?
        /// The name; empty if the user has not named the person.
        let name: String?
        let isHidden: Bool?

        private enum Key: String, CodingKey {
            case id, name, isHidden
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Key.self)
            id = values.lenient(.id, as: String.self).flatMap(AssetID.init)
            name = values.lenient(.name)
            isHidden = values.lenientFlag(.isHidden)
        }
    }

    let people: LenientList<Person>
}

/// A memory: the photos of a day in an earlier year.
struct MemoryRecord: Decodable {
    /// `on_this_day`.
    let kind: String?
    /// The day, `2019-11-22T00:00:00.000Z`.
    let day: String?
    let assets: LenientList<AssetRecord>

    private enum Key: String, CodingKey {
        case assets
        case kind = "type"
        case day = "memoryAt"
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        kind = values.lenient(.kind)
        day = values.lenient(.day)
        assets = try values.decode(LenientList<AssetRecord>.self, forKey: .assets)
    }
}
