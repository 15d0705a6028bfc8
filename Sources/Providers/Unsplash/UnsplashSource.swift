internal import ProviderKit
internal import WebService

/// A source of Unsplash.
typealias UnsplashSource = ServiceSource<UnsplashKind>

/// The kinds of sources of Unsplash.
enum UnsplashKind: String, SourceKind {
    case editorial
    /// The photos that the user likes.
    case likes
    case topic, collection, user, search

    /// The maximum length of a name or of search terms, in bytes.
    private static let maximumLength = 256

    func accepts(_ name: String?) -> Bool {
        guard let name else { return self == .editorial || self == .likes }
        return switch self {
        case .editorial, .likes: false
        case .topic, .collection, .user: Self.isSegment(name)
        case .search: Self.isText(name)
        }
    }

    /// True if each removed photo decreases the total and shifts the photos after it. The totals of searches are
    /// estimates that differ from page to page.
    var hasExactTotal: Bool { self != .search }

    /// True if new photos are only added at the top. Photos of topics and collections are added at any position.
    var growsAtTop: Bool { self == .editorial || self == .likes || self == .user }

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

extension UnsplashSource {
    /// Returns the request for the source.
    ///
    /// - Parameter username: The current user name of the account.
    /// - Returns: The segments of the path and the parameters, neither escaped.
    func request(username: String) -> (path: [String], query: [(name: String, value: String)]) {
        switch kind {
        case .editorial: (["photos"], [])
        case .likes: (["users", username, "likes"], [])
        case .topic, .collection, .user: (["\(kind.rawValue)s", name, "photos"], [])
        case .search: (["search", "photos"], [("query", name)])
        }
    }
}

extension PhotoID {
    /// True if the ID has the form of a photo ID of Unsplash, such as `_yT_vva8zSc`.
    var isOfUnsplash: Bool {
        1...64 ~= text.utf8.count
            && text.utf8.allSatisfy { $0.isLetter || $0.isDigit || "-_".utf8.contains($0) }
    }
}

/// The position of a page in a source: `2.220922`, the number of the page, and the number of photos in the source when
/// the previous page was fetched.
///
/// Unsplash numbers pages from the newest photo. New photos shift the rest to later pages, and a page repeats photos;
/// repeated photos are harmless, and whole repeated pages are skipped. Removed photos shift the rest to earlier pages,
/// and the next page would skip as many photos: the total has decreased, and the previous pages are fetched again.
struct PageToken: Hashable, Sendable {
    /// The page number, from 1.
    var number: Int
    /// The total number of photos; nil if it is unknown.
    var total: Int?

    /// The first page.
    static let top = PageToken(number: 1)

    /// The maximum number of pages that are fetched again.
    private static let maximumShift = 10

    /// The maximum page number; a longer walk is a loop.
    static let maximumNumber = 1_000_000

    var text: String { "\(number)" + (total.map { ".\($0)" } ?? "") }

    /// Returns the previous pages to which removals may have shifted photos of this page or later pages, the last one
    /// first.
    func pagesToReread(total now: Int, perPage: Int) -> ReversedCollection<Range<Int>> {
        let removed = min(max(0, (total ?? now) - now), Self.maximumShift * perPage)
        let count = min((removed + perPage - 1) / perPage, number - 1)
        return (number - count..<number).reversed()
    }

    /// Returns the page to which new photos have shifted the photos of this page; nil unless they were shifted by at
    /// least one page.
    func shifted(total now: Int, perPage: Int) -> PageToken? {
        guard let total, number > 1, case let count = (now - total) / perPage, count > 0,
            number + count <= Self.maximumNumber
        else { return nil }
        return PageToken(number: number + count, total: now)
    }

    /// Returns the number of the next page; nil at the end.
    ///
    /// The `Link` field only indicates that there is a next page: its address must be one of the API, with a higher
    /// page number. It is not followed.
    func next(links: [String], api: WebAddress) -> Int? {
        guard let target = LinkHeader.target("next", in: links), let next = WebAddress(target),
            next.origin == api.origin, let fields = next.query.flatMap(URLEncoding.fields),
            let number = fields.first(where: { $0.name == "page" }).flatMap({ Int($0.value) }),
            number > self.number, number <= Self.maximumNumber
        else { return nil }
        return number
    }
}

extension PageToken {
    /// - Throws: ``ProviderError/invalidArgument(_:)`` for text that is not the ``text`` of a token.
    init(_ text: String?) throws(ProviderError) {
        guard let text else {
            self = .top
            return
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.utf8.allSatisfy { 0x30...0x39 ~= $0 } ? Int(part) : nil
        }
        guard 1...2 ~= parts.count, numbers.count == parts.count,
            1...Self.maximumNumber ~= numbers[0]
        else {
            throw .invalidArgument(
                "The page token is not valid at Unsplash; start again with the first page.")
        }
        self.init(number: numbers[0], total: numbers.count == 2 ? numbers[1] : nil)
    }
}
