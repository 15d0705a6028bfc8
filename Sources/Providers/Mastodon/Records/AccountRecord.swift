internal import ProviderKit

/// A person, as servers give them.
struct AccountRecord: Decodable {
    /// To ask for their statuses by.
    let id: String?
    let username: String?
    /// With the server, where that is another.
    let handle: String?
    let displayName: String?
    /// HTML.
    let note: String?
    /// The same as it was written; only the user's own.
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
