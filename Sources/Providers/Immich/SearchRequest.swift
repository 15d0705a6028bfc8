internal import ProviderKit

/// The body of a search. Members that are nil are left out.
struct SearchRequest: Encodable {
    /// The number of the page; nil for the first one.
    private(set) var page: Int?
    let size: Int
    private(set) var type: String? = "IMAGE"
    let withExif = true
    var order: String? = "desc"
    /// Version 3 also returns archived photos by default; version 1 ignores the member.
    var visibility: String?
    var isFavorite: Bool?
    var albumIds: [String]?
    var personIds: [String]?
    /// The limits of the capture time, in RFC 3339.
    var takenAfter: String?
    var takenBefore: String?
    /// The words of a search by content.
    var query: String?
    private(set) var filter: Filter?
    private(set) var cursor: String?

    /// The conditions of a search from version 3.2 on, which replace the other members.
    ///
    /// Source: immich 3.2.0, `search.dto.ts`.
    struct Filter: Encodable {
        let type = ["eq": "IMAGE"]
        var visibility: [String: String]?
        var isFavorite: [String: Bool]?
        var albumIds: [String: [String]]?
        var personIds: [String: [String]]?
    }

    init(position: SearchPosition?, size: Int) {
        self.size = size
        switch position {
        case .page(let page): self.page = page
        case .cursor(let cursor): self.cursor = cursor
        case nil: break
        }
    }

    /// Returns the request in the form for a version.
    ///
    /// Version 3.2 deprecates the flat members, and rejects them together with a filter; version 4 is to remove them. A
    /// search by content has no cursor, so it uses the flat members while they exist.
    func form(at version: VersionRecord) -> SearchRequest {
        guard version >= (query == nil ? VersionRecord(3, 2, 0) : VersionRecord(4, 0, 0)) else {
            return self
        }
        var request = SearchRequest(position: cursor.map { .cursor($0) }, size: size)
        (request.type, request.order, request.query) = (nil, nil, query)
        request.filter = Filter(
            visibility: visibility.map { ["eq": $0] }, isFavorite: isFavorite.map { ["eq": $0] },
            albumIds: albumIds.map { ["any": $0] }, personIds: personIds.map { ["any": $0] })
        return request
    }
}

/// The position of a page of a search.
enum SearchPosition {
    /// The number of the page.
    case page(Int)
    /// The cursor that the server returned, from version 3.2 on.
    case cursor(String)

    private static let mark = "cursor:"

    /// Parses a page token.
    ///
    /// - Throws: ``ProviderError/staleCursor``.
    init(_ token: String) throws(ProviderError) {
        if token.hasPrefix(Self.mark), token.utf8.count > Self.mark.utf8.count {
            self = .cursor(String(token.dropFirst(Self.mark.count)))
        } else {
            guard let page = Int(token), 1...1_000_000 ~= page else { throw .staleCursor }
            self = .page(page)
        }
    }

    var token: String {
        switch self {
        case .page(let number): "\(number)"
        case .cursor(let text): Self.mark + text
        }
    }
}
