internal import ProviderKit

/// The used fields of the logged-in user.
struct UserRecord: Decodable {
    let id: String?
    let email: String?
    let name: String?
    /// The path of the avatar at the server; empty if there is none.
    let avatarPath: String?
    /// The time of the last change of the avatar.
    let avatarChanged: String?

    private enum Key: String, CodingKey {
        case id, email, name
        case avatarPath = "profileImagePath"
        case avatarChanged = "profileChangedAt"
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        id = values.lenient(.id)
        email = values.lenient(.email)
        name = values.lenient(.name)
        avatarPath = values.lenient(.avatarPath)
        avatarChanged = values.lenient(.avatarChanged)
    }
}

/// The version of a server.
struct VersionRecord: Decodable, Hashable, Comparable {
    let major: Int
    let minor: Int
    let patch: Int

    init(_ major: Int, _ minor: Int, _ patch: Int) {
        self.major = major
        self.minor = minor
        self.patch = patch
    }

    static func < (left: VersionRecord, right: VersionRecord) -> Bool {
        (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
    }
}
