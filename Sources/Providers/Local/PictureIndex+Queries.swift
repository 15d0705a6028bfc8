internal import ImageMetadata
internal import ProviderKit
internal import Storage

/// The queries for pages, photos and albums.
extension PictureIndex {
    /// A position in a source: after the photo `id` at `position`, in a walk that began after the former position with
    /// the number `lastFormerPosition`.
    struct IndexPosition {
        let position: Int64
        let id: Int64
        let lastFormerPosition: Int64
    }

    var photoCount: Int {
        get throws(StorageError) {
            Int(try database.integer("SELECT count(*) FROM file WHERE format > 0") ?? 0)
        }
    }

    /// The photos that a page selects from.
    enum Selection {
        case all
        case folder(Int64)
        /// The photos in these rows.
        case rows([Int64])
        /// The photos that were taken on this day in earlier years.
        case memories(CalendarDate)

        /// True if the selection cannot contain a photo.
        var isEmpty: Bool { if case .rows(let rows) = self { rows.isEmpty } else { false } }

        /// The column by which the photos are ordered.
        fileprivate var key: String { if case .memories = self { "taken" } else { "position" } }

        /// Returns the condition for the photos, whose dates are those of a table. Its values begin with `?5`.
        fileprivate func condition(dates table: String) -> String {
            switch self {
            case .all: ""
            case .folder: "AND file.folder = ?5"
            case .rows: "AND file.id IN (SELECT value FROM json_each(?5))"
            case .memories: "AND \(table).day = ?5 AND \(table).year < ?6"
            }
        }

        /// The values of the condition, for each query that the selection needs.
        fileprivate var values: [[SQLValue]] {
            switch self {
            case .all: [[]]
            case .folder(let folder): [[.integer(folder)]]
            case .rows(let rows): [[PictureIndex.list(rows)]]
            case .memories(let date):
                date.daysOfMemories.map { [.integer($0), .integer(date.year)] }
            }
        }
    }

    /// Returns the photos of a selection after a position, newest first.
    ///
    /// - Returns: The photos, whose stamps contain only times, true if more follow, and the number of the last former
    ///   position when the walk began.
    /// - Throws: `ProviderError.staleCursor` for a position that is not in this index, or was deleted from it.
    func page(
        _ selection: Selection, after position: IndexPosition?, count: Int
    ) throws -> (photos: [File], hasMore: Bool, lastFormerPosition: Int64) {
        let lastFormerPosition = try lastFormerPosition()
        if let position {
            let lastDeleted = try lastDeletedFormerPosition()
            guard lastDeleted <= lastFormerPosition else {
                throw StorageError.damaged(database.path)
            }
            guard lastDeleted...lastFormerPosition ~= position.lastFormerPosition else {
                throw ProviderError.staleCursor
            }
        }
        let start =
            position
            ?? IndexPosition(
                position: Int64.max, id: Int64.max, lastFormerPosition: lastFormerPosition)
        // One more photo shows that there is a next page.
        var found = try photos(Self.photosQuery(selection), selection, start, limit: count + 1)
        if start.lastFormerPosition < lastFormerPosition {
            found += try photos(
                Self.formerPositionsQuery(selection), selection, start, limit: count + 1)
        }
        found.sort { ($0.position, $0.id) > ($1.position, $1.id) }
        var folders: [Int64: RelativePath] = [:]
        let photos = try found.prefix(count).map { photo in
            let folder = try folders[photo.folderID] ?? folderPath(photo.folderID)
            folders[photo.folderID] = folder
            var photo = photo
            photo.folder = folder ?? .root
            return photo
        }
        return (photos, found.count > count, start.lastFormerPosition)
    }

    /// The expression of ``FileStamp/shownTime``.
    static let shownTime = """
        CASE WHEN changed <> 0 AND (modified BETWEEN 0 AND 999999999 OR modified > changed + 86400000000000)
            THEN changed ELSE modified END
        """

    /// Returns the query for photos at their present positions. Its columns are all in one index, which
    /// `EXPLAIN QUERY PLAN` calls a covering index.
    static func photosQuery(_ selection: Selection) -> String {
        let key = selection.key
        // The newest photos are at the end of the range of the index.
        let index = key == "taken" ? "INDEXED BY file_by_day" : ""
        return """
            SELECT id, folder, name, 0, 0, modified, changed, format, \(key), \(ImageFacts.columns)
            FROM file \(index)
            WHERE format > 0 \(selection.condition(dates: "file"))
                AND (\(key), id) < (?1, ?2) AND moved <= ?3
            ORDER BY \(key) DESC, id DESC LIMIT ?4
            """
    }

    /// Returns the query for photos that have been repositioned since a walk began, at their positions at that time: a
    /// former position was valid from the change `born` until the change `number`.
    private static func formerPositionsQuery(_ selection: Selection) -> String {
        let key = selection.key
        return """
            SELECT file.id, folder, name, 0, 0, modified, changed, format, former.\(key),
                \(ImageFacts.columns(of: "file."))
            FROM former CROSS JOIN file ON file.id = former.file
            WHERE former.born <= ?3 AND former.number > ?3 AND format > 0
                \(selection.condition(dates: "former"))
                AND (former.\(key), former.file) < (?1, ?2)
            ORDER BY former.\(key) DESC, former.file DESC LIMIT ?4
            """
    }

    /// Runs a query for a selection. The photos of each day are ordered, the days are not.
    private func photos(
        _ query: String, _ selection: Selection, _ start: IndexPosition, limit: Int
    ) throws(StorageError) -> [File] {
        let position: [SQLValue] = [
            .integer(start.position), .integer(start.id), .integer(start.lastFormerPosition),
            .integer(limit),
        ]
        var found: [File] = []
        for values in selection.values {
            found += try database.all(query, position + values) { Self.file($0, in: .root) }
        }
        return found
    }

    /// Returns the parameter of `json_each`.
    static func list(_ rows: [Int64]) -> SQLValue {
        .text("[" + rows.lazy.map { "\($0)" }.joined(separator: ",") + "]")
    }

    /// Returns the folders below the pictures folder that contain photos, by path, each with the number of its photos and
    /// its first one.
    func albums() throws(StorageError) -> [(path: RelativePath, count: Int, cover: Int64)] {
        try database.all(
            """
            SELECT path, (SELECT count(*) FROM file WHERE folder = folder.id AND format > 0),
                (SELECT file.id FROM file WHERE folder = folder.id AND format > 0
                    ORDER BY position DESC, file.id DESC LIMIT 1) AS cover
            FROM folder WHERE path <> x'' AND cover IS NOT NULL ORDER BY path
            """
        ) { (RelativePath(bytes: $0.blob(0)), Int($0.integer(1)), $0.anyInteger(2)) }
    }

    /// Returns the row of an album: a folder with photos, other than the pictures folder.
    func albumID(_ path: RelativePath) throws(StorageError) -> Int64? {
        guard path != .root else { return nil }
        return try database.integer(
            """
            SELECT id FROM folder WHERE path = ?
                AND EXISTS (SELECT 1 FROM file WHERE folder = folder.id AND format > 0)
            """, [.blob(path.bytes)])
    }

    /// Returns the number of photos that were taken on the day of `date` in earlier years.
    func countMemories(of date: CalendarDate) throws(StorageError) -> Int {
        var count = 0
        for day in date.daysOfMemories {
            let values: [SQLValue] = [.integer(day), .integer(date.year)]
            count += Int(try database.integer(Self.countOfDay, values) ?? 0)
        }
        return count
    }

    static let countOfDay = """
        SELECT count(*) FROM file INDEXED BY file_by_day
        WHERE format > 0 AND day = ?1 AND year < ?2
        """
}
