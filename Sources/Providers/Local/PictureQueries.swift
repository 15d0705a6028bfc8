internal import ProviderKit
internal import Storage

/// What clients ask of the index.
extension PictureIndex {
    /// A file that is a photo, and the folder it lies in.
    struct Picture {
        let file: File
        let folder: RelativePath

        var path: RelativePath { folder.appending(file.name) }
    }

    /// What a page tells of a photo.
    struct PageEntry {
        let id: Int64
        let name: [UInt8]
        let modified: Int64
        let format: ImageFormat?
        let position: Int64
        /// nil until it was examined.
        let facts: PhotoFacts?
    }

    /// A folder that has photos.
    struct Album {
        let path: RelativePath
        let count: Int
        let cover: Int64
    }

    /// A place in a source: after the photo `id` at `position`, for a walk that began after ghost `ghost`.
    struct IndexPosition {
        let position: Int64
        let id: Int64
        let ghost: Int64
    }

    /// The place of a walk is lost.
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

    /// Which photos a page is of.
    enum Selection {
        case all
        case folder(Int64)
        /// Those of some rows.
        case rows([Int64])

        /// True if no photo can belong to it.
        var isEmpty: Bool { if case .rows(let rows) = self { rows.isEmpty } else { false } }
    }

    /// The photos of a selection from `place` on: newest first.
    ///
    /// - Returns: The photos, the place after them, which is nil at the end, and the ghost before which the walk began.
    /// - Throws: ``StaleCursor`` for a place that this index does not know, or has forgotten.
    func page(
        _ selection: Selection, after place: IndexPosition?, count: Int
    ) throws -> (entries: [PageEntry], next: IndexPosition?, ghost: Int64) {
        if let place {
            guard try lastForgottenGhost()...lastGhost() ~= place.ghost else { throw StaleCursor() }
        }
        let lastGhost = try lastGhost()
        let start =
            place ?? IndexPosition(position: Int64.max, id: Int64.max, ghost: lastGhost)
        // One more tells whether there is a next page.
        var found = try photos(selection, start, limit: count + 1)
        if start.ghost < lastGhost {
            found += try ghosts(selection, start, limit: count + 1)
            found.sort { ($0.position, $0.id) > ($1.position, $1.id) }
        }
        guard found.count > count, let last = found.prefix(count).last else {
            return (found, nil, start.ghost)
        }
        return (
            Array(found.prefix(count)),
            IndexPosition(position: last.position, id: last.id, ghost: start.ghost), start.ghost
        )
    }

    // Made once, and not for each page.
    static let photosOfAll = photosQuery("")
    static let photosOfFolder = photosQuery("AND folder = ?5")
    static let photosOfRows = photosQuery("AND id IN (SELECT value FROM json_each(?5))")
    private static let ghostsOfAll = ghostsQuery("")
    private static let ghostsOfFolder = ghostsQuery("AND file.folder = ?5")
    private static let ghostsOfRows = ghostsQuery(
        "AND file.id IN (SELECT value FROM json_each(?5))")

    /// All its columns are in an index; `EXPLAIN QUERY PLAN` calls that covering.
    private static func photosQuery(_ condition: String) -> String {
        """
        SELECT id, name, modified, format, position, examined, width, height, taken FROM file
        WHERE format > 0 \(condition)
            AND (position, id) < (?1, ?2) AND moved <= ?3
        ORDER BY position DESC, id DESC LIMIT ?4
        """
    }

    private static func ghostsQuery(_ condition: String) -> String {
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
        switch selection {
        case .all: try entries(Self.photosOfAll, nil, start, limit)
        case .folder(let folder):
            try entries(Self.photosOfFolder, .integer(folder), start, limit)
        case .rows(let rows): try entries(Self.photosOfRows, Self.list(rows), start, limit)
        }
    }

    /// Photos that have got another position since the walk began, where they stood when it did.
    private func ghosts(
        _ selection: Selection, _ start: IndexPosition, limit: Int
    ) throws(StorageError) -> [PageEntry] {
        switch selection {
        case .all: try entries(Self.ghostsOfAll, nil, start, limit)
        case .folder(let folder):
            try entries(Self.ghostsOfFolder, .integer(folder), start, limit)
        case .rows(let rows): try entries(Self.ghostsOfRows, Self.list(rows), start, limit)
        }
    }

    /// The parameter of `json_each`.
    private static func list(_ rows: [Int64]) -> SQLValue {
        .text("[" + rows.lazy.map { "\($0)" }.joined(separator: ",") + "]")
    }

    private func entries(
        _ query: String, _ selected: SQLValue?, _ start: IndexPosition, _ limit: Int
    ) throws(StorageError) -> [PageEntry] {
        var entries: [PageEntry] = []
        entries.reserveCapacity(limit)
        var values: [SQLValue] = [
            .integer(start.position), .integer(start.id), .integer(start.ghost), .integer(limit),
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

    /// The folders below the pictures folder that have photos, by path.
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

    /// The row of an album: a folder, other than the pictures folder itself, that has photos.
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
