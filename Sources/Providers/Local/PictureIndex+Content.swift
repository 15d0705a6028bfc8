internal import Storage

/// The search for files by content.
extension PictureIndex {
    /// A photo that may be a marked file.
    struct Candidate: Sendable {
        let row: Int64
        let path: RelativePath
        let stamp: FileStamp
        /// The content, if the file was read and has not changed since.
        let digest: FileDigest?
    }

    private static func candidates(_ condition: String) -> String {
        """
        SELECT file.id, folder.path, name, file.inode, file.size, file.modified, value, birth, digest.taken
        FROM file JOIN folder ON folder.id = file.folder
            LEFT JOIN content AS digest ON digest.file = file.id AND digest.inode = file.inode
                AND digest.size = file.size AND digest.modified = file.modified
        WHERE \(condition) AND format > 0
        """
    }

    private static let candidatesOfSize = candidates("file.size = ?") + " ORDER BY path, name"

    private static func candidate(_ row: borrowing Row) -> Candidate {
        let stamp = FileStamp(
            inode: row.integer(3), sizeBytes: row.integer(4), modified: row.integer(5))
        return Candidate(
            row: row.integer(0), path: RelativePath(bytes: row.blob(1)).appending(row.blob(2)),
            stamp: stamp,
            digest: row.isNull(6)
                ? nil
                : FileDigest(
                    bytes: row.blob(6), stamp: stamp, birth: row.optionalInteger(7),
                    taken: row.optionalText(8).flatMap(CaptureTime.init)))
    }

    /// Returns the photos of a size in bytes, by path.
    func photos(size: Int64) throws(StorageError) -> [Candidate] {
        var found: [Candidate] = []
        try database.query(Self.candidatesOfSize, [.integer(size)]) { row throws(StorageError) in
            found.append(Self.candidate(row))
        }
        return found
    }

    /// Stores the content of a file, so that it is not read again.
    func setContent(_ digest: FileDigest, of row: Int64) throws(StorageError) {
        try database.query(
            """
            INSERT OR REPLACE INTO content SELECT id, ?, ?, ?, ?, ?, ? FROM file WHERE id = ?
            """,
            [
                .integer(digest.stamp.inode), .integer(digest.stamp.sizeBytes),
                .integer(digest.stamp.modified), .integer(digest.birth), .text(digest.taken?.text),
                .blob(digest.bytes),
                .integer(row),
            ])
    }
}
