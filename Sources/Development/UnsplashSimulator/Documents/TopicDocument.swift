internal import ServiceSimulator

/// Topics and collections.
///
/// Source: recorded responses of 2021.
extension DocumentWriter {
    func topic(_ topic: SimulatedTopic) -> JSON {
        let api = "\(origins.api)/topics/\(topic.slug)"
        return [
            "id": .string(topic.id),
            "slug": .string(topic.slug),
            "title": .string(topic.title),
            "description": .string(topic.description),
            "published_at": "2020-04-17T02:31:04Z",
            "updated_at": .string(now.utc),
            "starts_at": "2020-04-15T00:00:00Z",
            "ends_at": nil,
            "featured": true,
            "total_photos": .integer(topic.photos.count),
            "current_user_contributions": [],
            "total_current_user_submissions": nil,
            "links": [
                "self": .string(api), "html": "\(origins.web)/t/\(topic.slug)",
                "photos": "\(api)/photos",
            ],
            "status": "open",
            "owners": .array(catalogue.users["unsplash"].map { [user($0)] } ?? []),
            "cover_photo": cover(topic.photos),
            "preview_photos": previews(topic.photos),
        ]
    }

    func collection(_ collection: SimulatedCollection) -> JSON {
        let api = "\(origins.api)/collections/\(collection.id)"
        return [
            "id": .string(collection.id),
            "title": .string(collection.title),
            "description": nil,
            "published_at": "2019-01-07T10:23:24-05:00",
            "last_collected_at": "2021-03-27T23:06:39-04:00",
            "updated_at": "2021-03-27T23:06:39-04:00",
            "curated": false,
            "featured": false,
            "total_photos": .integer(collection.photos.count),
            "private": false,
            "share_key": "00000000000000000000000000000000",
            "tags": [],
            "links": [
                "self": .string(api), "html": "\(origins.web)/collections/\(collection.id)",
                "photos": "\(api)/photos", "related": "\(api)/related",
            ],
            "user": catalogue.users[collection.owner].map { user($0) } ?? .null,
            "cover_photo": cover(collection.photos),
            "preview_photos": previews(collection.photos),
            "meta": ["title": nil, "description": nil, "index": false],
        ]
    }

    private func cover(_ ids: [SimulatedPhoto.ID]) -> JSON {
        catalogue.photos(ids).first.map { listed($0, .detail) } ?? .null
    }

    private func previews(_ ids: [SimulatedPhoto.ID]) -> JSON {
        .array(
            catalogue.photos(Array(ids.prefix(4))).map { photo in
                [
                    "id": .string(photo.id),
                    "created_at": photo.date(photo.created),
                    "updated_at": photo.date(photo.updated),
                    "blur_hash": .string(photo.blurHash),
                    "urls": urls(photo, ixid(photo, .detail)),
                ]
            })
    }
}
