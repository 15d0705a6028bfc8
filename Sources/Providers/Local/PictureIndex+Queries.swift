internal import ImageMetadata
internal import ProviderKit
internal import Storage

/// The queries for pages, photos and albums.
extension PictureIndex {
    /// A photo and its folder.
    struct Picture {
        let file: File
        let folder: RelativePath

        var path: RelativePath { folder.appending(file.name) }

        /// The row of the photo on a page of all photos.
        var entry: PageEntry {
            PageEntry(
                id: file.id, name: file.name, modified: file.stamp.shownTime, format: file.format,
                position: file.position, folder: file.folder,
                facts: file.facts, isExamined: file.isExamined, album: folder)
        }
    }

    /// The row of a photo on a page.
    struct PageEntry {
        let id: Int64
        let name: [UInt8]
        /// ``FileStamp/shownTime``.
        let modified: Int64
        let format: ImageFormat?
        /// The sort key of the source: the time of capture in seconds for ``Selection/memories(_:)``, otherwise
        /// nanoseconds.
        let position: Int64
        let folder: Int64
        /// nil until the file was examined.
        let facts: ImageFacts?
        /// True if the metadata was read completely.
        let isExamined: Bool
        /// The path of the folder, relative to the pictures folder.
        var album = RelativePath.root
    }

    /// A folder with photos.
    struct Album {
        let path: RelativePath
        let count: Int
        let cover: Int64
    }

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

    func picture(_ id: Int64) throws(StorageError) -> Picture? {
        guard let file = try file(id), file.format != nil,
            let folder = try folderPath(file.folder)
        else { return nil }
        return Picture(file: file, folder: folder)
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
    }

    /// Returns the photos of a selection after a position, newest first.
    ///
    /// - Returns: The photos, true if more follow, and the number of the last former position when the walk began.
    /// - Throws: `ProviderError.staleCursor` for a position that is not in this index, or was deleted from it.
    func page(
        _ selection: Selection, after position: IndexPosition?, count: Int
    ) throws -> (entries: [PageEntry], hasMore: Bool, lastFormerPosition: Int64) {
        if let position {
            guard
                try lastDeletedFormerPosition()...lastFormerPosition()
                    ~= position.lastFormerPosition
            else { throw ProviderError.staleCursor }
        }
        let lastFormerPosition = try lastFormerPosition()
        let start =
            position
            ?? IndexPosition(
                position: Int64.max, id: Int64.max, lastFormerPosition: lastFormerPosition)
        // One more photo shows that there is a next page.
        var found = try entries(Self.photos, selection, start, limit: count + 1)
        if start.lastFormerPosition < lastFormerPosition {
            found += try entries(Self.formerPositions, selection, start, limit: count + 1)
            found.sort { ($0.position, $0.id) > ($1.position, $1.id) }
        }
        return (
            try withAlbums(found.prefix(count)), found.count > count, start.lastFormerPosition
        )
    }

    /// Returns entries with the paths of their folders.
    private func withAlbums(
        _ entries: some Collection<PageEntry>
    ) throws(StorageError) -> [PageEntry] {
        var paths: [Int64: RelativePath] = [:]
        var result = Array(entries)
        for index in result.indices {
            let folder = result[index].folder
            if paths[folder] == nil { paths[folder] = try folderPath(folder) }
            result[index].album = paths[folder] ?? .root
        }
        return result
    }

    /// The expression of ``FileStamp/shownTime``.
    static let shownTime =
        "CASE WHEN changed <> 0 AND modified > changed + 86400000000000 THEN changed ELSE modified END"

    /// The queries for the kinds of selections, which are computed once, not for each page.
    struct PageQueries {
        let all: String
        let folder: String
        let rows: String
        let day: String
    }

    static let photos = PageQueries(
        all: photosQuery(""), folder: photosQuery("AND folder = ?5"),
        rows: photosQuery("AND id IN (SELECT value FROM json_each(?5))"),
        // The years before ?6. The newest photos are at the end of the range of the index.
        day: """
            SELECT id, name, \(shownTime), format, taken, folder, \(ImageFacts.columns)
            FROM file INDEXED BY file_by_day
            WHERE format > 0 AND day = ?5 AND year < ?6
                AND (taken, id) < (?1, ?2) AND moved <= ?3
            ORDER BY taken DESC, id DESC LIMIT ?4
            """)
    /// The photos that have been repositioned since a walk began, at their positions at that time.
    private static let formerPositions = PageQueries(
        all: formerPositionsQuery(""), folder: formerPositionsQuery("AND file.folder = ?5"),
        rows: formerPositionsQuery("AND file.id IN (SELECT value FROM json_each(?5))"),
        day: formerPositionsQuery("AND former.day = ?5 AND former.year < ?6", key: "taken"))

    /// Returns a query whose columns are all in one index, which `EXPLAIN QUERY PLAN` calls a covering index.
    private static func photosQuery(_ condition: String) -> String {
        """
        SELECT id, name, \(shownTime), format, position, folder, \(ImageFacts.columns)
        FROM file
        WHERE format > 0 \(condition)
            AND (position, id) < (?1, ?2) AND moved <= ?3
        ORDER BY position DESC, id DESC LIMIT ?4
        """
    }

    /// Returns a query for photos at their positions when a walk began: a former position was valid from the change
    /// `born` until the change `number`.
    private static func formerPositionsQuery(
        _ condition: String, key: String = "position"
    ) -> String {
        """
        SELECT file.id, file.name, \(shownTime), file.format, former.\(key), file.folder,
            \(ImageFacts.columns(of: "file."))
        FROM former CROSS JOIN file ON file.id = former.file
        WHERE former.born <= ?3 AND former.number > ?3 AND format > 0 \(condition)
            AND (former.\(key), former.file) < (?1, ?2)
        ORDER BY former.\(key) DESC, former.file DESC LIMIT ?4
        """
    }

    /// Runs the query for the kind of selection.
    private func entries(
        _ queries: PageQueries, _ selection: Selection, _ start: IndexPosition, limit: Int
    ) throws(StorageError) -> [PageEntry] {
        switch selection {
        case .all: return try entries(queries.all, [], start, limit)
        case .folder(let folder):
            return try entries(queries.folder, [.integer(folder)], start, limit)
        case .rows(let rows): return try entries(queries.rows, [Self.list(rows)], start, limit)
        case .memories(let date):
            var found: [PageEntry] = []
            for day in date.daysOfMemories {
                found += try entries(
                    queries.day, [.integer(day), .integer(date.year)], start, limit)
            }
            // The photos of each day are ordered, the days are not.
            return found.sorted { ($0.position, $0.id) > ($1.position, $1.id) }
        }
    }

    /// Returns the parameter of `json_each`.
    static func list(_ rows: [Int64]) -> SQLValue {
        .text("[" + rows.lazy.map { "\($0)" }.joined(separator: ",") + "]")
    }

    private func entries(
        _ query: String, _ selected: [SQLValue], _ start: IndexPosition, _ limit: Int
    ) throws(StorageError) -> [PageEntry] {
        let values: [SQLValue] = [
            .integer(start.position), .integer(start.id), .integer(start.lastFormerPosition),
            .integer(limit),
        ]
        return try database.all(query, values + selected) { row in
            PageEntry(
                id: row.integer(0), name: row.blob(1), modified: row.integer(2),
                format: ImageFormat(rawValue: Int(row.integer(3))), position: row.integer(4),
                folder: row.integer(5), facts: ImageFacts(row, at: 6),
                isExamined: row.integer(6) == Self.metadataVersion)
        }
    }

    /// Returns the folders below the pictures folder that contain photos, by path.
    func albums() throws(StorageError) -> [Album] {
        try database.all(
            """
            SELECT path, (SELECT count(*) FROM file WHERE folder = folder.id AND format > 0),
                (SELECT file.id FROM file WHERE folder = folder.id AND format > 0
                    ORDER BY position DESC, file.id DESC LIMIT 1) AS cover
            FROM folder WHERE path <> x'' AND cover IS NOT NULL ORDER BY path
            """
        ) {
            Album(
                path: RelativePath(bytes: $0.blob(0)), count: Int($0.integer(1)),
                cover: $0.integer(2))
        }
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
