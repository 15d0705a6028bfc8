internal import ServiceSimulator

/// Photos in lists, details and like responses.
///
/// Source: recorded responses, 2021 to 2024.
extension DocumentWriter {
    /// Returns a photo as an element of a list.
    func listed(_ photo: SimulatedPhoto, _ place: Place) -> JSON {
        var members = abbreviated(photo, place)
        if let owner = catalogue.users[photo.owner] { members = members + ["user": user(owner)] }
        return members
    }

    /// Returns a photo as a search result: ``listed(_:_:)`` with tags.
    func found(_ photo: SimulatedPhoto, _ place: Place) -> JSON {
        listed(photo, place) + ["tags": .array(tags(photo))]
    }

    /// Returns a photo with all fields.
    func full(_ photo: SimulatedPhoto, _ place: Place) -> JSON {
        listed(photo, place) + [
            "exif": .object([
                ("make", .string(photo.camera?.make)), ("model", .string(photo.camera?.model)),
                ("name", .string(photo.camera.map { "\($0.make),\($0.model)" })),
                ("exposure_time", .string(photo.camera?.exposureTime)),
                ("aperture", .string(photo.camera?.aperture)),
                ("focal_length", .string(photo.camera?.focalLength)),
                ("iso", photo.camera.map { .integer($0.sensitivity) } ?? .null),
            ]),
            "location": [
                "name": .string(photo.place?.name), "city": .string(photo.place?.city),
                "country": .string(photo.place?.country),
                "position": [
                    "latitude": photo.place.map { .number($0.latitude) } ?? .null,
                    "longitude": photo.place.map { .number($0.longitude) } ?? .null,
                ],
            ],
            "meta": ["index": true],
            "public_domain": false,
            "tags": .array([landingPage(photo)] + tags(photo)),
            "tags_preview": .array([landingPage(photo)] + tags(photo)),
            "views": .integer(photo.views),
            "downloads": .integer(photo.downloads),
            "topics": .array(
                catalogue.topics.filter { photo.topics.contains($0.slug) }.map { topic in
                    [
                        "id": .string(topic.id), "title": .string(topic.title),
                        "slug": .string(topic.slug), "visibility": "featured",
                    ]
                }),
        ]
    }

    /// Returns a photo without its author, as in the response to a like.
    func abbreviated(_ photo: SimulatedPhoto, _ place: Place) -> JSON {
        let ixid = ixid(photo, place)
        var document: JSON = [
            "id": .string(photo.id),
            "slug": .string(photo.slug),
            "alternative_slugs": .object(
                ["en", "es", "ja", "fr", "it", "ko", "de", "pt"].map { ($0, .string(photo.slug)) }),
            "created_at": photo.date(photo.created),
            "updated_at": photo.date(photo.updated),
            "promoted_at": photo.promoted.map(photo.date) ?? .null,
            "width": .integer(photo.width),
            "height": .integer(photo.height),
            "color": .string(photo.color),
            "blur_hash": .string(photo.blurHash),
            "description": .string(photo.description),
            "alt_description": alternativeDescription(photo),
            "breadcrumbs": [],
            "urls": urls(photo, ixid),
            "links": [
                "self": "\(origins.api)/photos/\(photo.slug)",
                "html": "\(origins.web)/photos/\(photo.slug)",
                "download": "\(origins.web)/photos/\(photo.id)/download?ixid=\(ixid)",
                "download_location": "\(origins.api)/photos/\(photo.id)/download?ixid=\(ixid)",
            ],
            "likes": .integer(catalogue.likes(of: photo)),
            "liked_by_user": .bool(isLiked(photo)),
            "current_user_collections": [],
            "sponsorship": sponsorship(photo),
            "topic_submissions": .object(
                photo.topics.map { slug in
                    (slug, ["status": "approved", "approved_on": photo.date(photo.updated)])
                }),
            "asset_type": .string(photo.kind.rawValue),
        ]
        if photo.isPlus { document = document + ["premium": true, "plus": true] }
        if photo.alternativeDescription == .absent {
            document = document.without("alt_description")
        }
        if !photo.hasLikes || likes == .absent {
            document = document.without("likes", "liked_by_user")
        }
        return document
    }

    // MARK: Parts

    private func isLiked(_ photo: SimulatedPhoto) -> Bool {
        viewer.flatMap { catalogue.users[$0] }?.likes.contains(photo.id) ?? false
    }

    private func alternativeDescription(_ photo: SimulatedPhoto) -> JSON {
        guard case .text(let text) = photo.alternativeDescription else { return .null }
        return .string(text)
    }

    func urls(_ photo: SimulatedPhoto, _ ixid: String) -> JSON {
        let image = origins.images + photo.imagePath
        let common = "crop=entropy&cs=tinysrgb&fit=max&fm=jpg&ixid=\(ixid)&ixlib=rb-4.0.3&q=80"
        return [
            "raw": "\(image)?ixid=\(ixid)&ixlib=rb-4.0.3",
            "full": "\(image)?crop=entropy&cs=srgb&fm=jpg&ixid=\(ixid)&ixlib=rb-4.0.3&q=85",
            "regular": "\(image)?\(common)&w=1080",
            "small": "\(image)?\(common)&w=400",
            "thumb": "\(image)?\(common)&w=200",
            "small_s3": "\(origins.storage)/images.unsplash.com/small\(photo.imagePath)",
        ]
    }

    private func sponsorship(_ photo: SimulatedPhoto) -> JSON {
        guard let sponsor = photo.sponsor.flatMap({ catalogue.users[$0] }) else { return .null }
        return [
            "impression_urls": [],
            "tagline": "The number one way to agree",
            "tagline_url": "https://sponsor.example",
            "sponsor": user(sponsor),
        ]
    }

    private func tags(_ photo: SimulatedPhoto) -> [JSON] {
        photo.tags.map { ["type": "search", "title": .string($0)] }
    }

    /// Returns a tag with a landing page, which makes the response long and contains a second photo.
    private func landingPage(_ photo: SimulatedPhoto) -> JSON {
        let tag = photo.tags.first ?? "nature"
        let cover = catalogue.feed.last.flatMap { catalogue.photos[$0] } ?? photo
        return [
            "type": "landing_page",
            "title": .string(tag),
            "source": [
                "ancestry": [
                    "type": ["slug": "images", "pretty_slug": "Images"],
                    "category": ["slug": "things", "pretty_slug": "Things"],
                    "subcategory": ["slug": .string(tag), "pretty_slug": .string(tag)],
                ],
                "title": "\(tag) photos & images",
                "subtitle": "Download free \(tag) photos & images",
                "description": "Choose from a curated selection of \(tag) photos.",
                "meta_title": "Best 500+ \(tag) Pictures [HD]",
                "meta_description": "Choose from hundreds of free \(tag) pictures.",
                // The recorded response has these two members, unlike other photos of 2023.
                "cover_photo": listed(cover, .detail).without("premium", "plus") + [
                    "premium": .bool(cover.isPlus), "plus": .bool(cover.isPlus),
                ],
            ],
        ]
    }
}
