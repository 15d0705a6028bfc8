internal import ProviderKit
internal import Storage

/// The metadata of a photo; each property is nil if the file does not contain it.
struct PhotoFacts: Hashable, Sendable {
    var width: Int?
    var height: Int?
    var taken: Timestamp?
    var camera: String?
    /// The latitude in degrees of WGS 84; nil if the longitude is nil.
    var latitude: Double?
    var longitude: Double?
    var lens: String?
    var exposureTime: Double?
    var aperture: Double?
    var iso: Int?
    var isAnimated = false

    /// The columns from which ``init(_:at:)`` reads.
    static let columns = """
        examined, width, height, taken, camera, latitude, longitude, lens, exposure, aperture, iso,
        animated
        """

    init() {}

    init(_ facts: ImageFacts) {
        width = facts.width
        height = facts.height
        taken = facts.taken
        camera = facts.camera
        latitude = facts.latitude
        longitude = facts.longitude
        lens = facts.lens
        exposureTime = facts.exposureTime
        aperture = facts.aperture
        iso = facts.iso
        isAnimated = facts.isAnimated
    }

    /// Reads ``columns``; nil if the file was not examined.
    init?(_ row: borrowing Row, at column: Int32) {
        guard row.integer(column) != 0 else { return nil }
        let (width, height) = (Int(row.integer(column + 1)), Int(row.integer(column + 2)))
        if width > 0, height > 0 {
            self.width = width
            self.height = height
        }
        taken = row.optionalInteger(column + 3).map { Timestamp(secondsSince1970: $0) }
        camera = row.optionalText(column + 4)
        latitude = row.optionalReal(column + 5)
        longitude = row.optionalReal(column + 6)
        lens = row.optionalText(column + 7)
        exposureTime = row.optionalReal(column + 8)
        aperture = row.optionalReal(column + 9)
        iso = row.optionalInteger(column + 10).map { Int($0) }
        isAnimated = row.integer(column + 11) != 0
    }
}

extension PictureIndex {
    /// The value of the column `examined` of a file whose metadata was read completely. Earlier versions read less, and
    /// stored smaller values.
    static let metadataVersion: Int64 = 3

    /// The time of capture of a photo, by which `memories` are found and ordered.
    struct CaptureDate: Hashable, Sendable {
        let date: CalendarDate
        let taken: Timestamp

        init?(_ facts: ImageFacts) {
            guard let date = facts.takenOn, let taken = facts.taken else { return nil }
            self.date = date
            self.taken = taken
        }

        /// Reads the columns `year, day, taken`; nil if the date is unknown.
        init?(_ row: borrowing Row) {
            guard let year = row.optionalInteger(0), let day = row.optionalInteger(1),
                let taken = row.optionalInteger(2),
                let date = CalendarDate(
                    year: Int(year), month: Int(day / 100), day: Int(day % 100))
            else { return nil }
            self.date = date
            self.taken = Timestamp(secondsSince1970: taken)
        }
    }

    /// A change of a photo's date of capture.
    struct DateChange: Sendable {
        let before: CalendarDate?
        let after: CalendarDate?
    }

    /// Returns the photos whose metadata was not read or is incomplete, the newest first.
    func notExamined(limit: Int) throws(StorageError) -> [Int64] {
        var rows: [Int64] = []
        try database.query(
            """
            SELECT id FROM file WHERE format > 0 AND examined < \(Self.metadataVersion)
            ORDER BY position DESC LIMIT ?
            """, [.integer(limit)]
        ) { row throws(StorageError) in rows.append(row.integer(0)) }
        return rows
    }

    /// Stores the metadata of a file, unless the file has changed meanwhile. If its time of capture changes, the former
    /// one is stored, too.
    ///
    /// - Returns: The change of the date of capture; nil if it is the same.
    func setFacts(
        _ facts: PhotoFacts, _ captured: CaptureDate?, of file: File
    ) throws(StorageError) -> DateChange? {
        let identity: [SQLValue] = [
            .integer(file.id), .integer(file.stamp.inode), .integer(file.stamp.sizeBytes),
            .integer(file.stamp.modified),
        ]
        let former = try database.first(
            """
            SELECT year, day, taken FROM file
            WHERE id = ? AND inode = ? AND size = ? AND modified = ?
            """, identity
        ) { CaptureDate($0) }
        guard let former else { return nil }
        var formerPosition: Int64?
        if let former, former != captured {
            try database.query(
                "INSERT INTO ghost (file, position, year, day) VALUES (?, ?, ?, ?)",
                [
                    .integer(file.id), .integer(former.taken.secondsSince1970),
                    .integer(former.date.year), .integer(former.date.monthAndDay),
                ])
            formerPosition = try lastFormerPosition()
        }
        try database.query(
            """
            UPDATE file SET examined = \(Self.metadataVersion), width = ?, height = ?, taken = ?,
                camera = ?, latitude = ?, longitude = ?, lens = ?, exposure = ?, aperture = ?,
                iso = ?, animated = ?, year = ?, day = ?, redated = coalesce(?, redated)
            WHERE id = ? AND inode = ? AND size = ? AND modified = ?
            """,
            [
                .integer(facts.width ?? 0), .integer(facts.height ?? 0),
                .integer(facts.taken?.secondsSince1970), .text(facts.camera),
                .real(facts.latitude), .real(facts.longitude), .text(facts.lens),
                .real(facts.exposureTime), .real(facts.aperture), .integer(facts.iso),
                .bool(facts.isAnimated), .integer(captured?.date.year),
                .integer(captured?.date.monthAndDay), .integer(formerPosition),
            ] + identity)
        guard former?.date != captured?.date else { return nil }
        return DateChange(before: former?.date, after: captured?.date)
    }
}
