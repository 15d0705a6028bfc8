internal import ProviderKit

/// The sources of a server.
enum MastodonSource: Hashable, Sendable {
    /// What the people post whom the user follows.
    case home
    /// What the people of the server post.
    case local
    /// What the server knows of all servers.
    case `public`
    /// What the account's user likes.
    case likes
    case tag(String)
    /// By their handle, with the server where it is another.
    case user(String)

    /// How long a name may be, in bytes.
    private static let maximumLength = 256

    /// nil for an id that no source has.
    init?(_ id: SourceID) {
        switch id.text {
        case "home": self = .home
        case "local": self = .local
        case "public": self = .public
        case "likes": self = .likes
        default:
            let parts = id.text.split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, Self.isName(String(parts[1])) else { return nil }
            switch parts[0] {
            case "tag": self = .tag(String(parts[1]))
            case "user": self = .user(String(parts[1]))
            default: return nil
            }
        }
    }

    var id: SourceID {
        switch self {
        case .home: SourceID("home")
        case .local: SourceID("local")
        case .public: SourceID("public")
        case .likes: SourceID("likes")
        case .tag(let name): SourceID("tag:\(name)")
        case .user(let name): SourceID("user:\(name)")
        }
    }

    /// Whether a name is one segment of a path once it is escaped. `.` and `..` have no escaped form that
    /// every server takes for a name; nor has a slash.
    private static func isName(_ text: String) -> Bool {
        text.utf8.count <= maximumLength && text != "." && text != ".."
            && ServiceText.line(text) == text && !text.contains { $0 == " " || $0 == "/" }
    }
}

/// The id of a photo: the id of its status, a dot, and the id of the picture. Both are opaque.
struct StatusPhotoID: Hashable, Sendable {
    let status: String
    let attachment: String

    var id: PhotoID { PhotoID("\(status).\(attachment)") }

    /// What the ids of all pictures of the status begin with.
    var beginning: String { "\(status)." }

    /// nil for ids that no server should give.
    init?(status: String, attachment: String) {
        guard Self.isPart(status), Self.isPart(attachment) else { return nil }
        self.status = status
        self.attachment = attachment
    }

    init?(_ id: PhotoID) {
        let parts = id.text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        self.init(status: String(parts[0]), attachment: String(parts[1]))
    }

    private static func isPart(_ text: String) -> Bool {
        1...64 ~= text.utf8.count
            && text.utf8.allSatisfy {
                $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            }
    }
}
