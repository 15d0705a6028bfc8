internal import JSONFormat
internal import ProviderKit

/// A search, and the position of a page in its results.
///
/// Pages and cursors of the server count photos from the newest one, so that a photo that is removed above shifts the
/// others. The position of a page is therefore the second of its first photos. A page ends before the photos of its last
/// second, whose order is unknown. Only the photos of a second that fill a page are counted, and the results of a search
/// by content, which are not ordered by time.
struct SearchRequest {
    /// The second of the first photos; nil for the beginning of the results.
    private(set) var latest: Timestamp?
    /// The number of the page from there; nil for the first one, and for a position with a cursor.
    private(set) var page: Int?
    /// The cursor that the server returned, from version 3.2 on.
    private(set) var cursor: String?
    let size: Int
    /// The conditions: the value of a member, or the list of the values that it can have.
    var conditions: [String: JSON] = [:]
    /// The words of a search by content.
    var query: String?

    private static let cursorMark = "cursor:"
    private static let latestMark = "before:"

    /// True for the first page of the results.
    var isFirst: Bool { latest == nil && page == nil && cursor == nil }

    /// Creates a search for all photos at the position of a page token; at the beginning for nil.
    ///
    /// - Throws: ``ProviderError/staleCursor``.
    init(_ token: String? = nil, size: Int) throws(ProviderError) {
        self.size = size
        guard var token = token?[...] else { return }
        if token.hasPrefix(Self.latestMark) {
            let parts = token.dropFirst(Self.latestMark.count).split(separator: "/", maxSplits: 1)
            guard let text = parts.first, let seconds = Int64(text) else { throw .staleCursor }
            latest = Timestamp(secondsSince1970: seconds)
            guard parts.count > 1 else { return }
            token = parts[1]
        }
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
    /// The server compares times with fractions of a second, which ``latest`` does not have. It includes the limit.
    ///
    /// Source: immich 3.2.0, `search.dto.ts` and `database.ts`.
    func body(hasFilter: Bool) -> JSON {
        var members: [String: JSON] = ["size": .integer(Int64(size)), "withExif": true]
        members["query"] = query.map { .string($0) }
        let conditions = conditions.merging(["type": "IMAGE"]) { first, _ in first }
        let limit = latest.map { JSON.string(($0 + .seconds(1)).rfc3339) }
        if hasFilter {
            members["cursor"] = cursor.map { .string($0) }
            var filter: [String: JSON] = conditions.mapValues {
                [$0.elements.isEmpty ? "eq" : "any": $0]
            }
            filter["takenAt"] = limit.map { ["lte": $0] }
            members["filter"] = .object(filter)
        } else {
            members["takenBefore"] = limit
            members["page"] = page.map { .integer(Int64($0)) }
            members["order"] = query == nil ? "desc" : nil
            members.merge(conditions) { first, _ in first }
        }
        return .object(members)
    }

    /// Returns the assets of a response that belong to the page, and the page token of the next page; nil at the end. A
    /// server that repeats a page has no more photos.
    func page(
        _ record: SearchRecord, hasFilter: Bool
    ) -> (photos: [AssetRecord], next: String?) {
        let next =
            hasFilter
            ? record.nextCursor.flatMap { $0 == cursor ? nil : Self.cursorMark + $0 }
            : record.nextPage.flatMap { $0 > page ?? 1 ? "\($0)" : nil }
        return page(record.assets.elements, next: next, time: \.created)
    }

    /// Returns a page of a list of all photos, the newest first, and the page token of the next page; nil at the end.
    func page(of list: [ListedPhoto]) -> (photos: [ListedPhoto], next: String?) {
        let number = page ?? 1
        let rest = list.drop { isAbove($0.created) }.dropFirst((number - 1) * size)
        let next = rest.count > size ? "\(number + 1)" : nil
        return page(Array(rest.prefix(size)), next: next, time: \.created)
    }

    private func isAbove(_ time: Timestamp?) -> Bool {
        if let time, let latest { time > latest } else { false }
    }

    /// Removes the photos above the page, and those of its last second if the page has others.
    ///
    /// - Parameters:
    ///   - photos: The photos of the page, the newest first.
    ///   - next: The number of the next page or its cursor; nil at the end.
    ///   - time: The time by which the server orders photos.
    /// - Returns: The photos, and the page token of the next page.
    private func page<Photo>(
        _ photos: [Photo], next: String?, time: (Photo) -> Timestamp?
    ) -> (photos: [Photo], next: String?) {
        let found = photos.filter { !isAbove(time($0)) }
        guard let next else { return (found, nil) }
        if query == nil, let first = found.first.flatMap(time),
            let last = found.last.flatMap(time), last < first
        {
            return (Array(found.prefix { time($0) != last }), Self.token(last))
        }
        return (found, (latest.map { Self.token($0) + "/" } ?? "") + next)
    }

    private static func token(_ latest: Timestamp) -> String {
        latestMark + "\(latest.secondsSince1970)"
    }
}

/// A photo of an album that the server returns as a whole.
struct ListedPhoto: Sendable {
    /// The time by which the server orders photos.
    let created: Timestamp?
    let photo: RemotePhoto
}
