internal import ProviderKit
internal import WebService

/// The search for the photos of a source in successive windows of time.
///
/// The service cannot continue a search reliably by a number of results, because its order does not include the ID.
/// Therefore, each page has the photos before a position, ordered by time and then by ID. The time of a photo is its
/// capture date, or the time of the file if the server has not read its metadata. The order of photos without a capture
/// date depends on the database. Therefore, these photos are searched separately, and both results are merged as far as
/// both are complete.
struct PhotoSearch {
    /// The properties of the server that a search can use. Older servers reject the others.
    enum Mode: Int, Sendable {
        /// Capture dates, and the condition that a file has none.
        case full
        /// Capture dates.
        case withoutConditions
        /// Only the times of files: before version 28.
        case fileTimes

        var hasMetadata: Bool { self != .fileTimes }

        /// The mode for a server that does not support this one.
        var simpler: Mode? { Mode(rawValue: rawValue + 1) }
    }

    let client: NextcloudClient
    let kind: NextcloudKind
    var mode: Mode
    /// The rule for the photos that are shown.
    var filter = FileFilter()
    /// The folders with photos; empty for all files.
    var folders: [String] = []

    /// The number of results of the first search.
    private static let firstLimit = 100
    /// The largest number of results. More photos with the same time are searched by their IDs.
    var maximumLimit = 1600
    /// The largest number of files in a search for positions, such as photos with the same time.
    static let maximumPositions = 50_000
    private static let photosPerPage = 500
    /// The largest number of windows without photos that one page reads.
    private static let maximumWindows = 8

    /// Returns the search in another mode.
    func with(_ mode: Mode) -> PhotoSearch {
        var search = self
        search.mode = mode
        return search
    }

    /// Fetches the page after a position.
    ///
    /// - Returns: The page, and true if the server has read the metadata of all its files that are shown.
    func page(after start: PhotoPosition) async throws -> (page: RemotePage, isFinal: Bool) {
        var position = start
        var isFinal = true
        var limit = Self.firstLimit
        for _ in 0..<Self.maximumWindows {
            let window = try await window(at: position.seconds, limit)
            let records = window.records.filter { PhotoPosition($0) < position }
                .sorted { PhotoPosition($0) > PhotoPosition($1) }
            isFinal =
                isFinal
                && (!mode.hasMetadata
                    || records.allSatisfy { $0.taken != nil || !filter.shows($0) })
            guard let floor = window.floor else { return (page(records, isLast: true), isFinal) }
            let complete = records.prefix { $0.seconds > floor }
            if let last = complete.last {
                guard complete.allSatisfy({ !filter.shows($0) }) else {
                    return (page(Array(complete), isLast: false), isFinal)
                }
                position = PhotoPosition(last)
                limit = min(limit * 4, maximumLimit)
            } else if floor < position.seconds {
                // No photo is above the floor.
                position = PhotoPosition(seconds: floor, id: .max)
            } else if limit < maximumLimit {
                // All results have one time.
                limit *= 4
            } else {
                let records = try await simultaneous(at: floor, below: position)
                guard records.isEmpty else { return (page(records, isLast: false), false) }
                position = PhotoPosition(seconds: floor - 1, id: .max)
                isFinal = false
            }
        }
        return (RemotePage([], next: position.token), isFinal)
    }

    /// Updates the favourites of a page whose files have not changed.
    ///
    /// - Parameters:
    ///   - page: The page.
    ///   - start: The position before the page.
    /// - Returns: The page; nil if the favourites are more than the results of a search.
    /// - Throws: The errors of a search.
    func update(_ page: RemotePage, after start: PhotoPosition) async throws -> RemotePage? {
        let floor =
            page.next.flatMap { PhotoPosition($0) }?.seconds ?? PhotoPosition.times.lowerBound
        let time = mode.hasMetadata ? DAVCondition.taken(_:_:) : DAVCondition.modified(_:_:)
        let found = try await search(
            [time("gte", floor), time("lte", start.seconds)],
            by: mode.hasMetadata ? DAVCondition.dateTaken : DAVCondition.modified, maximumLimit,
            onlyPositions: true)
        guard found.count < maximumLimit else { return nil }
        let liked = Set(found.records.map { PhotoID("\($0.id)") })
        var page = page
        for index in page.photos.indices {
            page.photos[index].photo.isLiked = liked.contains(page.photos[index].photo.id)
        }
        return page
    }

    private func page(_ records: [FileRecord], isLast: Bool) -> RemotePage {
        let shown = records.filter(filter.shows)
        let part = shown.prefix(Self.photosPerPage)
        let isWhole = part.count == shown.count
        let last = isWhole ? records.last : part.last
        return RemotePage(
            client.mapping.photos(part),
            next: isWhole && isLast ? nil : last.map { PhotoPosition($0).token })
    }

    /// Fetches the photos at and before a time.
    ///
    /// - Returns: The photos, and the time at and below which photos may be missing; nil if none are.
    private func window(
        at top: Int64, _ limit: Int
    ) async throws -> (records: [FileRecord], floor: Int64?) {
        var records: [FileRecord] = []
        var floor: Int64?
        if mode.hasMetadata {
            let dated = try await search(
                [.taken("lte", top)], by: DAVCondition.dateTaken, limit)
            records = dated.records.filter { $0.taken != nil }
            // Files that cannot be read count: only a search with fewer results than its limit has found all.
            if dated.count >= limit { floor = records.compactMap(\.taken).min() ?? top }
        }
        // Files with older times are part of a later window.
        var conditions = [DAVCondition.modified("lte", top)]
        if let floor { conditions.append(.modified("gte", floor)) }
        if mode == .full { conditions.append(.undefined(DAVCondition.dateTaken)) }
        let others = try await search(conditions, by: DAVCondition.modified, limit)
        records += others.records.filter { !mode.hasMetadata || $0.taken == nil }
        if others.count >= limit {
            let lowest = others.records.compactMap(\.modified?.secondsSince1970).min() ?? top
            floor = max(floor ?? lowest, lowest)
        }
        return (records, floor)
    }

    /// Fetches photos with one time in two steps, because their number is larger than that of results: first the IDs of
    /// all, then those of the page by their IDs. The service can compare IDs for equality only.
    private func simultaneous(
        at time: Int64, below position: PhotoPosition
    ) async throws -> [FileRecord] {
        var positions: [PhotoPosition] = []
        if mode.hasMetadata {
            positions = try await search(
                [.taken("eq", time)], by: DAVCondition.dateTaken, Self.maximumPositions,
                onlyPositions: true
            ).records.map { PhotoPosition($0) }
        }
        var conditions = [DAVCondition.modified("eq", time)]
        if mode == .full { conditions.append(.undefined(DAVCondition.dateTaken)) }
        positions += try await search(
            conditions, by: DAVCondition.modified, Self.maximumPositions, onlyPositions: true
        ).records.map { PhotoPosition($0) }
        let ids = Set(positions).filter { $0.seconds == time && $0 < position }
            .sorted(by: >).prefix(Self.photosPerPage).map(\.id)
        return try await client.files(
            ids, hasMetadata: mode.hasMetadata, about: .source(kind.id)
        ).values.sorted { PhotoPosition($0) > PhotoPosition($1) }
    }

    /// Fetches the photos of today's date in earlier years, the most recent first.
    ///
    /// The server interprets the time of a camera as UTC. The days are wider than those of any time zone, because the
    /// time of a file is UTC.
    func memories(_ today: CalendarDate) async throws -> RemotePage {
        guard mode.hasMetadata else { return RemotePage([]) }
        let days = (1...Self.maximumYears).compactMap { years -> DAVCondition? in
            let date = CalendarDate(
                year: today.year - years, month: today.month, day: today.day)
            guard let start = date.map({ Int64($0.dayNumber) * 86_400 }) else { return nil }
            return .all([.taken("gte", start - 50_400), .taken("lt", start + 86_400 + 50_400)])
        }
        let found = try await search([.any(days)], by: DAVCondition.dateTaken, maximumLimit)
        let records = found.records.sorted { PhotoPosition($0) > PhotoPosition($1) }.filter {
            let date = $0.created.map { CalendarDate(local: $0) }
            return date?.month == today.month && date?.day == today.day && filter.shows($0)
        }
        return RemotePage(client.mapping.photos(records.prefix(Self.photosPerPage)))
    }

    /// Servers accept at most 100 comparisons.
    private static let maximumYears = 40

    private func search(
        _ conditions: [DAVCondition], by order: String, _ limit: Int, onlyPositions: Bool = false
    ) async throws -> NextcloudClient.Listing {
        let favourites: [DAVCondition] = kind == .likes ? [.isFavourite] : []
        return try await client.search(
            .all([.isImage] + favourites + conditions), by: order, limit: limit,
            hasMetadata: mode.hasMetadata, onlyPositions: onlyPositions, in: folders,
            about: .source(kind.id))
    }
}

/// A position in a list of photos that is ordered by time and ID, the highest first.
struct PhotoPosition: Hashable, Comparable, Sendable {
    /// The time of the photo in seconds since 1970.
    let seconds: Int64
    let id: Int64

    /// The possible times: those of the years 0 to 9999.
    static let times: Range<Int64> = -62_167_219_200..<253_402_300_800

    /// The position above all photos.
    static let top = PhotoPosition(seconds: times.upperBound - 1, id: .max)

    /// The position as a page token.
    var token: String { "\(seconds):\(id)" }

    static func < (left: PhotoPosition, right: PhotoPosition) -> Bool {
        (left.seconds, left.id) < (right.seconds, right.id)
    }
}

extension PhotoPosition {
    init(_ record: FileRecord) { self.init(seconds: record.seconds, id: record.id) }

    /// Parses a page token; nil if it is invalid.
    init?(_ text: String) {
        let parts = text.split(separator: ":").map { Int64($0) }
        guard parts.count == 2, let seconds = parts[0], let id = parts[1], id >= 0,
            Self.times.contains(seconds)
        else { return nil }
        self.init(seconds: seconds, id: id)
    }
}
