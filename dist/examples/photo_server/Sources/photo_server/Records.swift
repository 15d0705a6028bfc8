import ProviderKit

// The records of the API, with the members that the provider uses.

struct User: Decodable {
    let id: String?
    let email: String
    let name: String
}

struct Album: Decodable {
    let id: String
    let albumName: String
    let assetCount: Int
    let albumThumbnailAssetId: String?
}

struct Search: Encodable {
    let page: Int
    let size = 100
    let type = "IMAGE"
    let order = "desc"
    var isFavorite: Bool?
    var albumIds: [String]?
}

struct SearchResult: Decodable {
    struct Assets: Decodable {
        let items: [Asset]
        let nextPage: String?
    }

    let assets: Assets
}

struct Change: Encodable {
    let ids: [String]
    let isFavorite: Bool
}

struct Asset: Decodable {
    let id: String
    let originalFileName: String?
    let originalMimeType: String?
    let fileCreatedAt: String?
    let isFavorite: Bool?

    func photo(_ server: ImmichServer) -> RemotePhoto {
        var photo = Photo(id: PhotoID(id))
        photo.title = originalFileName.map { String($0.prefix { $0 != "." }) }
        photo.created = fileCreatedAt.flatMap { Timestamp(rfc3339: $0) }
        photo.isLiked = isFavorite ?? false
        photo.mediaType = originalMimeType
        let address = "\(server.base)/assets/\(id)"
        return RemotePhoto(
            photo,
            images: [
                .thumb: "\(address)/thumbnail?size=thumbnail",
                .regular: "\(address)/thumbnail?size=preview",
                .full: "\(address)/original",
            ])
    }
}
