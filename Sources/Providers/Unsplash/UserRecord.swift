internal import ProviderKit

/// A user, as the API describes it.
struct UserRecord: Decodable {
    /// The stable ID; a user may change the user name.
    let id: String?
    let username: String?
    let name: String?
    let bio: String?
    let location: String?
    /// The address of the user's page.
    let page: String?
    /// The address of the avatar, 128 pixels wide.
    let avatar: String?
    let totalLikes: Int?

    private enum Key: String, CodingKey {
        case id, username, name, bio, location, links, html, large
        case profileImage = "profile_image"
        case totalLikes = "total_likes"
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        id = values.lenient(.id)
        username = values.lenient(.username)
        name = values.lenient(.name)
        bio = values.lenient(.bio)
        location = values.lenient(.location)
        totalLikes = values.lenientInteger(.totalLikes)
        page = try? values.nestedContainer(keyedBy: Key.self, forKey: .links).lenient(.html)
        avatar = try? values.nestedContainer(keyedBy: Key.self, forKey: .profileImage)
            .lenient(.large)
    }
}
