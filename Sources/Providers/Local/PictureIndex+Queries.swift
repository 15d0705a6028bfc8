internal import ProviderKit
internal import Storage

/// The queries for pages, photos and albums.
extension PictureIndex {
    /// A photo and its folder.
    struct Picture {
        let file: File
        let folder: RelativePath

        var path: RelativePath { folder.appending(file.name) }
    }

    /// The row of a photo on a page.
    struct PageEntry {
        let id: Int64
        let name: [UInt8]
        let modified: Int64
        let format: ImageFormat?
        let position: Int64
        /// nil until the file was examined.
        let facts: PhotoFacts?
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

    /// The position of a walk was lost.
    struct StaleCursor: Error {}

    var photoCount: Int {
        get throws(StorageError) {
            try database.first("SELECT count(*) FROM file WHERE format > 0") { Int($0.integer(0)) }
                ?? 0
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

        /// True if the selection cannot contain a photo.
        var isEmpty: Bool { if case .rows(let rows) = self { rows.isEmpty } else { false } }
    }

    /// Returns the photos of a selection after a position, newest first.
    ///
    /// - Returns: The photos, the position after them, which is nil at the end, and the number of the last former
    ///   position when the walk began.
    /// - Throws: ``StaleCursor`` for a position that this index does not know, or has deleted.
    func page(
        _ selection: Selection, after position: IndexPosition?, count: Int
    ) throws -> (entries: [PageEntry], next: IndexPosition?, lastFormerPosition: Int64) {
        if let position {
            guard
                try lastDeletedFormerPosition()...lastFormerPosition()
                    ~= position.lastFormerPosition
            else { throw StaleCursor() }
        }
        let lastFormerPosition = try lastFormerPosition()
        let start =
            position
            ?? IndexPosition(
                position: Int64.max, id: Int64.max, lastFormerPosition: lastFormerPosition)
        // One more photo shows that there is a next page.
        var found = try photos(selection, start, limit: count + 1)
        if start.lastFormerPosition < lastFormerPosition {
            found += try formerEntries(selection, start, limit: count + 1)
            found.sort { ($0.position, $0.id) > ($1.position, $1.id) }
        }
        guard found.count > count, let last = found.prefix(count).last else {
            return (found, nil, start.lastFormerPosition)
        }
        return (
            Array(found.prefix(count)),
            IndexPosition(
                position: last.position, id: last.id, lastFormerPosition: start.lastFormerPosition),
            start.lastFormerPosition
        )
    }

    // Computed once, not for each page.
    static let photosOfAll = photosQuery("")
    static let photosOfFolder = photosQuery("AND folder = ?5")
    static let photosOfRows = photosQuery("AND id IN (SELECT value FROM json_each(?5))")
    private static let formerPositionsOfAll = formerPositionsQuery("")
    private static let formerPositionsOfFolder = formerPositionsQuery("AND file.folder = ?5")
    private static let formerPositionsOfRows = formerPositionsQuery(
        "AND file.id IN (SELECT value FROM json_each(?5))")

    /// Returns a query whose columns are all in one index, which `EXPLAIN QUERY PLAN` calls a covering index.
    private static func photosQuery(_ condition: String) -> String {
        """
        SELECT id, name, modified, format, position, examined, width, height, taken FROM file
        WHERE format > 0 \(condition)
            AND (position, id) < (?1, ?2) AND moved <= ?3
        ORDER BY position DESC, id DESC LIMIT ?4
        """
    }

    private static func formerPositionsQuery(_ condition: String) -> String {
        """
        SELECT file.id, file.name, file.modified, file.format, ghost.position, examined, width,
            height, taken
        FROM ghost JOIN file ON file.id = ghost.file
        WHERE ghost.number > ?3 AND format > 0 \(condition)
            AND (ghost.position, file.id) < (?1, ?2)
            AND NOT EXISTS (SELECT 1 FROM ghost AS earlier WHERE earlier.file = ghost.file
                AND earlier.number > ?3 AND earlier.number < ghost.number)
        ORDER BY ghost.position DESC, file.id DESC LIMIT ?4
        """
    }

    private func photos(
        _ selection: Selection, _ start: IndexPosition, limit: Int
    ) throws(StorageError) -> [PageEntry] {
        try entries(
            selection, start, limit, ofAll: Self.photosOfAll, ofFolder: Self.photosOfFolder,
            ofRows: Self.photosOfRows)
    }

    /// Returns the photos that have been repositioned since the walk began, at their positions at that time.
    private func formerEntries(
        _ selection: Selection, _ start: IndexPosition, limit: Int
    ) throws(StorageError) -> [PageEntry] {
        try entries(
            selection, start, limit, ofAll: Self.formerPositionsOfAll,
            ofFolder: Self.formerPositionsOfFolder, ofRows: Self.formerPositionsOfRows)
    }

    /// Runs the query for the kind of selection.
    private func entries(
        _ selection: Selection, _ start: IndexPosition, _ limit: Int, ofAll: String,
        ofFolder: String, ofRows: String
    ) throws(StorageError) -> [PageEntry] {
        switch selection {
        case .all: try entries(ofAll, nil, start, limit)
        case .folder(let folder): try entries(ofFolder, .integer(folder), start, limit)
        case .rows(let rows): try entries(ofRows, Self.list(rows), start, limit)
        }
    }

    /// Returns the parameter of `json_each`.
    private static func list(_ rows: [Int64]) -> SQLValue {
        .text("[" + rows.lazy.map { "\($0)" }.joined(separator: ",") + "]")
    }

    private func entries(
        _ query: String, _ selected: SQLValue?, _ start: IndexPosition, _ limit: Int
    ) throws(StorageError) -> [PageEntry] {
        var entries: [PageEntry] = []
        entries.reserveCapacity(limit)
        var values: [SQLValue] = [
            .integer(start.position), .integer(start.id), .integer(start.lastFormerPosition),
            .integer(limit),
        ]
        if let selected { values.append(selected) }
        try database.query(query, values) { row throws(StorageError) in
            entries.append(
                PageEntry(
                    id: row.integer(0), name: row.blob(1), modified: row.integer(2),
                    format: ImageFormat(rawValue: Int(row.integer(3))), position: row.integer(4),
                    facts: PhotoFacts(row, at: 5)))
        }
        return entries
    }

    /// Returns the folders below the pictures folder that contain photos, by path.
    func albums() throws(StorageError) -> [Album] {
        var albums: [Album] = []
        try database.query(
            """
            SELECT path, (SELECT count(*) FROM file WHERE folder = folder.id AND format > 0),
                (SELECT file.id FROM file WHERE folder = folder.id AND format > 0
                    ORDER BY position DESC, file.id DESC LIMIT 1) AS cover
            FROM folder WHERE path <> x'' AND cover IS NOT NULL ORDER BY path
            """
        ) { row throws(StorageError) in
            albums.append(
                Album(
                    path: RelativePath(bytes: row.blob(0)), count: Int(row.integer(1)),
                    cover: row.integer(2)))
        }
        return albums
    }

    /// Returns the row of an album: a folder with photos, other than the pictures folder itself.
    func albumID(_ path: RelativePath) throws(StorageError) -> Int64? {
        guard path != .root else { return nil }
        return try database.first(
            """
            SELECT id FROM folder WHERE path = ?
                AND EXISTS (SELECT 1 FROM file WHERE folder = folder.id AND format > 0)
            """, [.blob(path.bytes)]
        ) { $0.integer(0) }
    }

    func newestPhoto() throws(StorageError) -> Int64? {
        try database.first(
            "SELECT id FROM file WHERE format > 0 ORDER BY position DESC, id DESC LIMIT 1"
        ) { $0.integer(0) }
    }
}
