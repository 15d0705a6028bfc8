internal import ProviderKit
internal import Storage

/// The metadata of a photo; each property is nil if the file does not contain it.
struct PhotoFacts: Hashable, Sendable {
    var width: Int?
    var height: Int?
    var taken: Timestamp?

    init() {}

    init(_ facts: ImageFacts) {
        width = facts.width
        height = facts.height
        taken = facts.taken
    }

    /// Reads the columns `examined, width, height, taken`; nil if the file was not examined.
    init?(_ row: borrowing Row, at column: Int32) {
        guard row.integer(column) != 0 else { return nil }
        let (width, height) = (Int(row.integer(column + 1)), Int(row.integer(column + 2)))
        if width > 0, height > 0 {
            self.width = width
            self.height = height
        }
        if !row.isNull(column + 3) {
            taken = Timestamp(secondsSince1970: row.integer(column + 3))
        }
    }
}

extension PictureIndex {
    /// Returns the photos that were not examined yet, the newest first.
    func notExamined(limit: Int) throws(StorageError) -> [Int64] {
        var rows: [Int64] = []
        try database.query(
            """
            SELECT id FROM file WHERE format > 0 AND examined = 0 ORDER BY position DESC LIMIT ?
            """, [.integer(limit)]
        ) { row throws(StorageError) in rows.append(row.integer(0)) }
        return rows
    }

    /// Stores the metadata of a file, unless the file has changed meanwhile.
    func setFacts(_ facts: PhotoFacts, of file: File) throws(StorageError) {
        try database.query(
            """
            UPDATE file SET examined = 1, width = ?, height = ?, taken = ?
            WHERE id = ? AND inode = ? AND size = ? AND modified = ?
            """,
            [
                .integer(facts.width ?? 0), .integer(facts.height ?? 0),
                facts.taken.map { .integer($0.secondsSince1970) } ?? .null, .integer(file.id),
                .integer(file.stamp.inode), .integer(file.stamp.sizeBytes),
                .integer(file.stamp.modified),
            ])
    }
}
