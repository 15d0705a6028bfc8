internal import ProviderKit

/// A user, as the API describes it.
struct AccountRecord: Decodable {
    /// The ID for requests of the user's statuses.
    let id: String?
    let username: String?
    /// The user name, with the domain for users of other servers.
    let handle: String?
    let displayName: String?
    /// HTML.
    let note: String?
    /// The note as plain text; only for the logged-in user.
    let plainNote: String?
    let page: String?
    let avatar: String?

    private enum Key: String, CodingKey {
        case id, username, acct, note, url, avatar, source
        case displayName = "display_name"
        case stillAvatar = "avatar_static"
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        id = values.lenient(.id, as: Identifier.self)?.text
        username = values.lenient(.username)
        handle = values.lenient(.acct)
        displayName = values.lenient(.displayName)
        note = values.lenient(.note)
        plainNote = try? values.nestedContainer(keyedBy: Key.self, forKey: .source).lenient(.note)
        page = values.lenient(.url)
        avatar = values.lenient(.stillAvatar) ?? values.lenient(.avatar)
    }
}
