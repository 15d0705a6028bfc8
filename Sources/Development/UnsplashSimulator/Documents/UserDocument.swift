internal import ServiceSimulator

/// Users in lists, profiles and `/me`.
///
/// Source: recorded responses, 2019 to 2023.
extension DocumentWriter {
    /// Returns a user as the author of a photo.
    func user(_ user: SimulatedUser) -> JSON {
        let api = "\(origins.api)/users/\(user.username)"
        let photos = photos(of: user.username)
        let document: JSON = [
            "id": .string(user.id),
            "updated_at": .string(user.updated.utc),
            "username": .string(user.username),
            "name": .string(user.name),
            "first_name": .string(user.firstName),
            "last_name": .string(user.lastName),
            "twitter_username": .string(user.twitterUsername),
            "portfolio_url": .string(user.portfolioURL),
            "bio": .string(user.biography),
            "location": .string(user.location),
            "links": .object(
                [
                    ("self", .string(api)),
                    ("html", "\(origins.web)/@\(user.username)"),
                    ("photos", "\(api)/photos"),
                ] + (likes == .absent ? [] : [("likes", "\(api)/likes")]) + [
                    ("portfolio", "\(api)/portfolio")
                ]
                    + (likes == .absent
                        ? []
                        : [("following", "\(api)/following"), ("followers", "\(api)/followers")])
            ),
            "profile_image": profileImage(user),
            "instagram_username": .string(user.instagramUsername),
            "total_collections": .integer(catalogue.collections(of: user.username).count),
            "total_likes": .integer(user.likes.count),
            "total_photos": .integer(photos.count),
            "total_promoted_photos": .integer(photos.count { $0.promoted != nil }),
            "total_illustrations": .integer(photos.count { $0.kind == .illustration }),
            "total_promoted_illustrations": 0,
            "accepted_tos": true,
            "for_hire": false,
            "social": [
                "instagram_username": .string(user.instagramUsername),
                "portfolio_url": .string(user.portfolioURL),
                "twitter_username": .string(user.twitterUsername),
                "paypal_email": nil,
            ],
        ]
        return likes == .absent ? document.without("total_likes") : document
    }

    /// Returns the response of `/users/:username`.
    func profile(_ user: SimulatedUser) -> JSON {
        self.user(user) + [
            "followed_by_user": false,
            "photos": .array(
                photos(of: user.username).prefix(3).map { photo in
                    ["id": .string(photo.id), "urls": urls(photo, ixid(photo, .detail))]
                }),
            "badge": nil,
            "downloads": .integer(
                photos(of: user.username).reduce(0) { $0 + $1.downloads }),
            "tags": ["custom": [], "aggregated": []],
            "followers_count": 0,
            "following_count": 0,
            "allow_messages": true,
            "numeric_id": .integer(user.numericID),
        ]
    }

    /// Returns the response of `/me`.
    func ownProfile(_ user: SimulatedUser) -> JSON {
        profile(user) + [
            "uid": .string(user.id),
            "uploads_remaining": 10,
            "unlimited_uploads": false,
            "email": "\(user.username)@example.com",
        ]
    }

    private func profileImage(_ user: SimulatedUser) -> JSON {
        let image =
            user.hasAvatar
            ? "\(origins.images)/profile-\(1_600_000_000_000 + user.numericID)image"
            : "\(origins.images)/placeholder-avatars/extra-large.jpg"
        return .object(
            [("small", 32), ("medium", 64), ("large", 128)].map { name, side in
                (name, "\(image)?ixlib=rb-4.0.3&crop=faces&fit=crop&w=\(side)&h=\(side)")
            })
    }
}
