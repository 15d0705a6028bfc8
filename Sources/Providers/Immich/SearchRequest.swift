internal import JSONFormat
internal import ProviderKit

/// A search, and the position of a page in its results.
struct SearchRequest {
    /// The number of the page; nil for the first one, and for a position with a cursor.
    private(set) var page: Int?
    /// The cursor that the server returned, from version 3.2 on.
    private(set) var cursor: String?
    let size: Int
    /// The conditions: the value of a member, or the list of the values that it can have.
    var conditions: [String: JSON] = [:]
    /// The words of a search by content.
    var query: String?

    private static let cursorMark = "cursor:"

    /// Creates a search for all photos at the position of a page token; at the beginning for nil.
    ///
    /// - Throws: ``ProviderError/staleCursor``.
    init(_ token: String? = nil, size: Int) throws(ProviderError) {
        self.size = size
        guard let token else { return }
        if token.hasPrefix(Self.cursorMark), token.utf8.count > Self.cursorMark.utf8.count {
            cursor = String(token.dropFirst(Self.cursorMark.count))
        } else {
            guard let number = Int(token), 1...1_000_000 ~= number else { throw .staleCursor }
            page = number
        }
    }

    /// True if the request has the form of version 3.2, whose conditions are a filter.
    ///
    /// Version 3.2 deprecates the flat members, and rejects them together with a filter; version 4 is to remove them. A
    /// search by content has no cursor, so it uses the flat members while they exist.
    func hasFilter(at version: VersionRecord) -> Bool {
        page == nil
            && version
                >= (query == nil
                    ? VersionRecord(major: 3, minor: 2, patch: 0)
                    : VersionRecord(major: 4, minor: 0, patch: 0))
    }

    /// Returns the body of the request.
    ///
    /// Source: immich 3.2.0, `search.dto.ts`.
    func body(hasFilter: Bool) -> JSON {
        var members: [String: JSON] = ["size": .integer(Int64(size)), "withExif": true]
        members["query"] = query.map { .string($0) }
        let conditions = conditions.merging(["type": "IMAGE"]) { first, _ in first }
        if hasFilter {
            members["cursor"] = cursor.map { .string($0) }
            members["filter"] = .object(
                conditions.mapValues { [$0.elements.isEmpty ? "eq" : "any": $0] })
        } else {
            members["page"] = page.map { .integer(Int64($0)) }
            members["order"] = query == nil ? "desc" : nil
            members.merge(conditions) { first, _ in first }
        }
        return .object(members)
    }

    /// Returns the page token of the next page; nil at the end. A server that repeats a page has no more photos.
    func next(_ record: SearchRecord, hasFilter: Bool) -> String? {
        hasFilter
            ? record.nextCursor.flatMap { $0 == cursor ? nil : Self.cursorMark + $0 }
            : record.nextPage.flatMap { $0 > page ?? 1 ? "\($0)" : nil }
    }
}
