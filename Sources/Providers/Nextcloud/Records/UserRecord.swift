internal import ProviderKit

/// The response of the OCS interface about the logged-in user.
struct UserReply: Decodable {
    let user: UserRecord

    private enum Key: String, CodingKey {
        case ocs, data
    }

    init(from decoder: any Decoder) throws {
        user = try decoder.container(keyedBy: Key.self)
            .nestedContainer(keyedBy: Key.self, forKey: .ocs)
            .decode(UserRecord.self, forKey: .data)
    }
}

/// The used fields of a user.
struct UserRecord: Decodable {
    let id: String?
    let name: String?
    let biography: String?
    let headline: String?
    let address: String?

    private enum Key: String, CodingKey {
        case id, biography, headline, address
        case name = "display-name"
        case alternateName = "displayname"
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        id = values.lenient(.id)
        name = values.lenient(.name) ?? values.lenient(.alternateName)
        biography = values.lenient(.biography)
        headline = values.lenient(.headline)
        address = values.lenient(.address)
    }
}
