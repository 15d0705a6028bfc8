internal import ProviderKit

/// The sources of Unsplash.
enum UnsplashSource: Hashable, Sendable {
    case editorial
    /// What the account's user likes.
    case likes
    case topic(String)
    case collection(String)
    case user(String)
    case search(String)

    /// How long a name, or the words of a search, may be, in bytes.
    private static let maximumLength = 256

    /// nil for an id that no source has.
    init?(_ id: SourceID) {
        switch id.text {
        case "editorial": self = .editorial
        case "likes": self = .likes
        default:
            let parts = id.text.split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            let name = String(parts[1])
            switch parts[0] {
            case "topic" where Self.isSegment(name): self = .topic(name)
            case "collection" where Self.isSegment(name): self = .collection(name)
            case "user" where Self.isSegment(name): self = .user(name)
            case "search" where Self.isText(name): self = .search(name)
            default: return nil
            }
        }
    }

    var id: SourceID {
        switch self {
        case .editorial: SourceID("editorial")
        case .likes: SourceID("likes")
        case .topic(let slug): SourceID("topic:\(slug)")
        case .collection(let id): SourceID("collection:\(id)")
        case .user(let name): SourceID("user:\(name)")
        case .search(let words): SourceID("search:\(words)")
        }
    }

    /// Whether a photo that leaves moves those after it up, and the total down, truly. The totals of
    /// searches are guesses that differ from page to page.
    var hasExactTotal: Bool {
        if case .search = self { false } else { true }
    }

    /// Whether photos arrive at the top alone. Into topics and collections they are put by people.
    var growsAtTop: Bool {
        switch self {
        case .editorial, .likes, .user: true
        case .topic, .collection, .search: false
        }
    }

    /// What is asked of the API.
    ///
    /// - Parameter username: The name that the account's user has now.
    /// - Returns: The segments of the path and the parameters, neither escaped.
    func request(username: String) -> (path: [String], query: [(name: String, value: String)]) {
        switch self {
        case .editorial: (["photos"], [])
        case .likes: (["users", username, "likes"], [])
        case .topic(let slug): (["topics", slug, "photos"], [])
        case .collection(let id): (["collections", id, "photos"], [])
        case .user(let name): (["users", name, "photos"], [])
        case .search(let words): (["search", "photos"], [("query", words)])
        }
    }

    /// Whether a name is one segment of a path once it is escaped. `.` and `..` have no escaped form that
    /// every server takes for a name.
    private static func isSegment(_ name: String) -> Bool {
        isText(name) && name != "." && name != ".."
    }

    private static func isText(_ text: String) -> Bool {
        text.utf8.count <= maximumLength && ServiceText.line(text) != nil
            && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}

extension PhotoID {
    /// Whether it can be the id of a photo of Unsplash: `_yT_vva8zSc`.
    var isOfUnsplash: Bool {
        1...64 ~= text.utf8.count
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
