internal import ProviderKit

/// The sources of Unsplash.
enum UnsplashSource: Hashable, Sendable {
    case editorial
    /// The photos that the user likes.
    case likes
    case topic(String)
    case collection(String)
    case user(String)
    case search(String)

    /// The maximum length of a name or of search terms, in bytes.
    private static let maximumLength = 256

    /// Creates a source from its ID; nil for an ID of no source.
    init?(_ id: SourceID) {
        switch id.text {
        case "editorial": self = .editorial
        case "likes": self = .likes
        default:
            guard let (kind, name) = id.kindAndName else { return nil }
            switch kind {
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

    /// True if each removed photo decreases the total and shifts the photos after it. The totals of searches are
    /// estimates that differ from page to page.
    var hasExactTotal: Bool {
        if case .search = self { false } else { true }
    }

    /// True if new photos are only added at the top. Photos of topics and collections are added at any position.
    var growsAtTop: Bool {
        switch self {
        case .editorial, .likes, .user: true
        case .topic, .collection, .search: false
        }
    }

    /// Returns the request for the source.
    ///
    /// - Parameter username: The current user name of the account.
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

    /// Returns true if a name is a single path segment after escaping. `.` and `..` have no escaped form that every
    /// server accepts as a name.
    private static func isSegment(_ name: String) -> Bool {
        isText(name) && name != "." && name != ".."
    }

    private static func isText(_ text: String) -> Bool {
        text.utf8.count <= maximumLength && ServiceText.line(text) != nil
            && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}

extension PhotoID {
    /// True if the ID has the form of a photo ID of Unsplash, such as `_yT_vva8zSc`.
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
