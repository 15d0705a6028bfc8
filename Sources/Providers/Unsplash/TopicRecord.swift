internal import ProviderKit

/// The used fields of a topic.
struct TopicRecord: Decodable {
    let slug: String
    let title: String?
    let totalPhotos: Int?
    let cover: String?

    private enum Key: String, CodingKey {
        case id, slug, title
        case totalPhotos = "total_photos"
        case cover = "cover_photo"
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        slug = try values.decode(String.self, forKey: .slug)
        title = values.lenient(.title)
        totalPhotos = values.lenientInteger(.totalPhotos)
        cover = try? values.nestedContainer(keyedBy: Key.self, forKey: .cover).lenient(.id)
    }

    /// The topic as a source; nil if its slug is not valid in a source ID.
    var source: Source? {
        guard let source = UnsplashSource(SourceID("topic:\(slug)")) else { return nil }
        let cover = cover.map { PhotoID($0) }.flatMap { $0.isOfUnsplash ? $0 : nil }
        return Source(
            id: source.id, title: ServiceText.line(title) ?? slug, kind: .topic,
            count: ServiceNumber.count(totalPhotos), cover: cover)
    }
}
