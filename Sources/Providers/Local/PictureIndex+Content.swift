internal import Storage

/// Finding files by what they hold.
extension PictureIndex {
    /// A photo that may be the one that is looked for.
    struct Candidate: Sendable {
        let row: Int64
        let path: RelativePath
        let stamp: FileStamp
        /// If it was read before and has not changed since.
        let digest: [UInt8]?
    }

    /// The photos of a size in bytes.
    func photos(size: Int64) throws(StorageError) -> [Candidate] {
        var found: [Candidate] = []
        try database.query(
            """
            SELECT file.id, folder.path, name, file.inode, size, file.modified, value
            FROM file JOIN folder ON folder.id = file.folder
                LEFT JOIN digest ON digest.file = file.id AND digest.modified = file.modified
            WHERE size = ? AND format > 0
            """, [.integer(size)]
        ) { row throws(StorageError) in
            found.append(
                Candidate(
                    row: row.integer(0),
                    path: RelativePath(bytes: row.blob(1)).appending(row.blob(2)),
                    stamp: FileStamp(
                        inode: row.integer(3), sizeBytes: row.integer(4), modified: row.integer(5)),
                    digest: row.isNull(6) ? nil : row.blob(6)))
        }
        return found
    }

    /// The photo at a path.
    func picture(at path: RelativePath) throws(StorageError) -> Picture? {
        guard let (parent, name) = path.split, let folder = try folderID(parent),
            let file = try file(folder: folder, name: name), file.format != nil
        else { return nil }
        return Picture(file: file, folder: parent)
    }

    /// Notes what a file holds, so that it is not read again.
    func note(_ digest: FileDigest, of row: Int64) throws(StorageError) {
        try database.query(
            "INSERT OR REPLACE INTO digest SELECT id, ?, ? FROM file WHERE id = ?",
            [.integer(digest.modified), .blob(digest.bytes), .integer(row)])
    }
}
