internal import ImageMetadata
internal import ProviderKit
internal import Storage

extension ImageFacts {
    /// The columns from which ``init(_:at:)`` reads.
    static let columns = columns(of: "")

    /// Returns ``columns`` of a table, whose name with a dot is the prefix.
    static func columns(of table: String) -> String {
        [
            "examined", "width", "height", "taken", "camera", "latitude", "longitude", "lens",
            "exposure", "aperture", "iso", "animated",
        ].map { table + $0 }.joined(separator: ", ")
    }

    /// Reads ``columns``, which do not contain the date of capture; nil if the file was not examined, or is damaged.
    init?(_ row: borrowing Row, at column: Int32) {
        let (width, height) = (Int(row.integer(column + 1)), Int(row.integer(column + 2)))
        guard row.integer(column) != 0, width > 0, height > 0 else { return nil }
        self.init(
            width: width, height: height,
            taken: row.optionalInteger(column + 3).map { Timestamp(secondsSince1970: $0) })
        details.camera = row.optionalText(column + 4)
        details.latitude = row.optionalReal(column + 5)
        details.longitude = row.optionalReal(column + 6)
        details.lens = row.optionalText(column + 7)
        details.exposureTime = row.optionalReal(column + 8)
        details.aperture = row.optionalReal(column + 9)
        details.iso = row.optionalInteger(column + 10).map { Int($0) }
        isAnimated = row.integer(column + 11) != 0
    }
}

extension FileStamp {
    /// Reads the columns `inode, size, modified`.
    init(_ row: borrowing Row, at column: Int32) {
        self.init(
            inode: row.anyInteger(column), sizeBytes: row.anyInteger(column + 1),
            modified: row.integer(column + 2))
    }
}

extension PictureIndex {
    /// The value of the column `examined` of a file whose metadata was read completely. Earlier versions read less, and
    /// stored smaller values.
    static let metadataVersion: Int64 = 5

    /// Returns the photos whose metadata was not read or is incomplete, the newest first.
    func notExamined(limit: Int) throws(StorageError) -> [Int64] {
        try database.all(Self.notExamined, [.integer(limit)]) { $0.anyInteger(0) }
    }

    static let notExamined = """
        SELECT id FROM file INDEXED BY file_not_examined
        WHERE format > 0 AND examined < \(metadataVersion) ORDER BY position DESC LIMIT ?
        """

    /// Stores the metadata of a file, unless the file has changed meanwhile.
    ///
    /// A date of capture in the future, or the one to which clocks are reset, counts as unknown.
    ///
    /// - Returns: The former and the new date of capture, and true if the position in all photos and in the album has
    ///   changed; nil if there is no difference for sources.
    func setFacts(
        _ facts: ImageFacts?, of file: File
    ) throws(StorageError) -> (dates: (before: CalendarDate?, after: CalendarDate?), isMoved: Bool)?
    {
        var (date, taken) = (facts?.takenOn, facts?.taken?.secondsSince1970)
        if facts?.clockSeconds == 0 || taken ?? 0 > Timestamp.now.secondsSince1970 + 86_400 {
            (date, taken) = (nil, nil)
        }
        guard let present = try self.file(file.id), present.stamp == file.stamp else { return nil }
        let before = try database.first(
            "SELECT taken, year, day FROM file WHERE id = ?", [.integer(file.id)]
        ) { (taken: $0.optionalInteger(0), date: Self.captureDate($0)) }
        let position = try position(taken, file.stamp)
        let isMoved = position != present.position
        if isMoved || before?.taken != taken || before?.date != date {
            try recordFormerPosition(of: file.id)
        }
        try database.query(
            """
            UPDATE file SET examined = \(Self.metadataVersion), position = ?, taken = ?, year = ?,
                day = ?, width = ?, height = ?, camera = ?, latitude = ?, longitude = ?, lens = ?,
                exposure = ?, aperture = ?, iso = ?, animated = ?
            WHERE id = ?
            """,
            [
                .integer(position), .integer(taken), .integer(date?.year),
                .integer(date?.monthAndDay), .integer(facts?.width ?? 0),
                .integer(facts?.height ?? 0),
                .text(facts?.camera), .real(facts?.latitude), .real(facts?.longitude),
                .text(facts?.lens), .real(facts?.exposureTime), .real(facts?.aperture),
                .integer(facts?.iso), .bool(facts?.isAnimated == true), .integer(file.id),
            ])
        guard isMoved || before?.date != date else { return nil }
        return ((before?.date, date), isMoved)
    }

    /// Reads the columns `year, day` after the first one, by which `memories` are found; nil if the date is unknown.
    private static func captureDate(_ row: borrowing Row) -> CalendarDate? {
        guard let year = row.optionalInteger(1), let day = row.optionalInteger(2) else {
            return nil
        }
        return CalendarDate(year: Int(year), month: Int(day / 100), day: Int(day % 100))
    }
}
