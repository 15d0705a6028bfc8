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

    /// A folder that has photos.
    struct Album {
        let path: RelativePath
        let count: Int
        let cover: Int64
    }

    /// A place in a source: after the photo `id` at `position`, for a walk that began after ghost `ghost`.
    struct Place {
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

    /// The photos of a folder, or of all, from `place` on: newest first.
    ///
    /// - Returns: The photos, and the place after them; nil at the end.
    /// - Throws: ``StaleCursor`` for a place that this index does not know, or has forgotten.
    func page(
        folder: Int64?, after place: Place?, count: Int
    ) throws -> (pictures: [Picture], next: Place?) {
        if let place {
            guard try lastForgottenGhost()...lastGhost() ~= place.ghost else { throw StaleCursor() }
        }
        let lastGhost = try lastGhost()
        let start =
            place ?? Place(position: Int64.max, id: Int64.max, ghost: lastGhost)
        // One more tells whether there is a next page.
        var found = try photos(folder, start, ignoringMovesSince: start.ghost, limit: count + 1)
        if start.ghost < lastGhost {
            found += try ghosts(folder, start, limit: count + 1)
            found.sort { ($0.file.position, $0.file.id) > ($1.file.position, $1.file.id) }
        }
        guard found.count > count, let last = found.prefix(count).last?.file else {
            return (found, nil)
        }
        return (
            Array(found.prefix(count)),
            Place(position: last.position, id: last.id, ghost: start.ghost)
        )
    }

    private static let pictureColumns = """
        file.id, file.folder, file.name, file.inode, file.size, file.modified, file.format
        """

    private static func picture(_ row: borrowing Row) -> Picture {
        Picture(file: file(row), folder: RelativePath(bytes: row.blob(8)))
    }

    private func photos(
        _ folder: Int64?, _ start: Place, ignoringMovesSince ghost: Int64, limit: Int
    ) throws(StorageError) -> [Picture] {
        var pictures: [Picture] = []
        try database.query(
            """
            SELECT \(Self.pictureColumns), file.position, folder.path
            FROM file JOIN folder ON folder.id = file.folder
            WHERE format > 0 \(folder == nil ? "" : "AND file.folder = ?5")
                AND (position, file.id) < (?1, ?2) AND moved <= ?3
            ORDER BY position DESC, file.id DESC LIMIT ?4
            """,
            [.integer(start.position), .integer(start.id), .integer(ghost), .integer(limit)]
                + (folder.map { [.integer($0)] } ?? [])
        ) { row throws(StorageError) in pictures.append(Self.picture(row)) }
        return pictures
    }

    /// Photos that have got another position since the walk began, where they stood when it did.
    private func ghosts(
        _ folder: Int64?, _ start: Place, limit: Int
    ) throws(StorageError) -> [Picture] {
        var pictures: [Picture] = []
        try database.query(
            """
            SELECT \(Self.pictureColumns), ghost.position, folder.path
            FROM ghost JOIN file ON file.id = ghost.file JOIN folder ON folder.id = file.folder
            WHERE ghost.number > ?3 AND format > 0 \(folder == nil ? "" : "AND file.folder = ?5")
                AND (ghost.position, file.id) < (?1, ?2)
                AND NOT EXISTS (SELECT 1 FROM ghost AS earlier WHERE earlier.file = ghost.file
                    AND earlier.number > ?3 AND earlier.number < ghost.number)
            ORDER BY ghost.position DESC, file.id DESC LIMIT ?4
            """,
            [.integer(start.position), .integer(start.id), .integer(start.ghost), .integer(limit)]
                + (folder.map { [.integer($0)] } ?? [])
        ) { row throws(StorageError) in pictures.append(Self.picture(row)) }
        return pictures
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
