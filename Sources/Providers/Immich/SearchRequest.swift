internal import JSONFormat
internal import ProviderKit

/// A search, and the position of a page in its results.
///
/// Pages and cursors of the server count photos from the newest one, so that a photo that is removed above shifts the
/// others. The position of a page is therefore the second of its first photos. A page ends before the photos of its last
/// second, whose order is unknown. If one second fills a page, its photos are ordered by their IDs, and the position has
/// the last one. Only the results of a search by content, which are not ordered by time, are counted.
struct SearchRequest {
    /// The second of the first photos; nil for the beginning of the results.
    private(set) var latest: Timestamp?
    /// The ID above those of the photos of that second; nil if the page begins with the second.
    private var upper: String?
    /// The number of the page that is requested; nil for the first one, and for a position with a cursor.
    private(set) var page: Int?
    /// The cursor that the server returned, from version 3.2 on.
    private(set) var cursor: String?
    var size: Int
    /// The conditions: the value of a member, or the list of the values that it can have.
    var conditions: [String: JSON] = [:]
    /// The words of a search by content.
    let query: String?

    /// The maximum number of photos of one second in a page.
    private static let maximumBurst = 500
    private static let cursorMark = "cursor:"
    private static let latestMark = "before:"

    /// Creates a search for all photos at the position of a page token; at the beginning for nil.
    ///
    /// - Throws: ``ProviderError/staleCursor``.
    init(_ token: String? = nil, query: String? = nil, size: Int) throws(ProviderError) {
        self.size = size
        self.query = query
        guard let token else { return }
        if query == nil {
            let parts = token.dropFirst(Self.latestMark.count).split(separator: "/", maxSplits: 1)
            guard token.hasPrefix(Self.latestMark), let seconds = parts.first.flatMap({ Int64($0) })
            else { throw .staleCursor }
            latest = Timestamp(secondsSince1970: seconds)
            guard parts.count > 1 else { return }
            guard let id = AssetID(rawValue: String(parts[1])) else { throw .staleCursor }
            upper = id.rawValue
        } else if token.hasPrefix(Self.cursorMark), token.utf8.count > Self.cursorMark.utf8.count {
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
    func hasFilter(at version: ServerVersion) -> Bool {
        page == nil && version >= (query == nil ? (3, 2, 0) : (4, 0, 0))
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

    /// Moves to the next page of the server. A server that repeats a page has no more photos.
    ///
    /// - Returns: False at the end.
    mutating func advance(after record: SearchRecord, hasFilter: Bool) -> Bool {
        if hasFilter {
            guard let next = record.nextCursor, next != cursor else { return false }
            cursor = next
        } else {
            guard let next = record.nextPage, next > page ?? 1 else { return false }
            page = next
        }
        return true
    }

    /// The page token of a search by content.
    var token: String { cursor.map { Self.cursorMark + $0 } ?? "\(page ?? 1)" }

    /// True if the photos from the position reach the next second, so that they contain a page.
    func isComplete(_ assets: [AssetRecord]) -> Bool {
        guard let first = assets.first(where: { isBelow($0.second, $0.id.rawValue) }),
            let last = assets.last
        else { return false }
        return last.second < first.second
    }

    /// Returns a page of a list of all photos, the newest first, and the page token of the next page; nil at the end.
    func page(of list: [ListedPhoto]) -> (photos: [ListedPhoto], next: String?) {
        page(of: list, isEnd: true, second: \.second, id: \.photo.photo.id.text)
    }

    /// True for a photo that belongs to the page or to those below.
    private func isBelow(_ second: Timestamp, _ id: String) -> Bool {
        guard let latest, second >= latest else { return true }
        return second == latest && upper.map { id < $0 } ?? true
    }

    /// Returns a page of photos, the newest first, and the page token of the next page; nil at the end.
    ///
    /// - Parameters:
    ///   - photos: The photos from the position, or from above it.
    ///   - isEnd: False if the server has more photos below.
    ///   - second: Returns the time by which the server orders photos.
    ///   - id: Returns the ID of a photo.
    /// - Returns: The photos, and the page token.
    func page<Photo>(
        of photos: [Photo], isEnd: Bool, second: (Photo) -> Timestamp, id: (Photo) -> String
    ) -> (photos: [Photo], next: String?) {
        let found = photos.filter { isBelow(second($0), id($0)) }
        guard let first = found.first.map(second) ?? latest else { return (found, nil) }
        let part = found.prefix(size)
        if isEnd, part.count == found.count { return (found, nil) }
        if let last = part.last.map(second), last < first {
            return (part.filter { second($0) != last }, Self.token(last))
        }
        let burst = found.filter { second($0) == first }.sorted { id($0) > id($1) }
        let shown = Array(burst.prefix(Self.maximumBurst))
        if let last = shown.last, shown.count < burst.count {
            return (shown, Self.token(first) + "/" + id(last))
        }
        let next = found.first { second($0) < first }.map(second)
        return (shown, (next ?? (isEnd ? nil : first + .seconds(-1))).map(Self.token))
    }

    private static func token(_ latest: Timestamp) -> String {
        latestMark + "\(latest.secondsSince1970)"
    }
}

/// The version of a server.
typealias ServerVersion = (major: Int, minor: Int, patch: Int)

/// A photo of an album that the server returns as a whole, with the time by which the server orders photos.
typealias ListedPhoto = (second: Timestamp, photo: RemotePhoto)
