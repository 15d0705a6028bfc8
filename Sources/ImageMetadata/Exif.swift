internal import Web

/// The used properties of an EXIF block. The block is a TIFF table of fields; two fields refer to a table with details
/// and to a table with the location. Only these three tables are read, each once, so that reading always ends.
///
/// Source: CIPA DC-008 (EXIF 2.32), TIFF 6.0.
struct Exif {
    var orientation: ImageOrientation?
    var taken: CivilTime?
    /// The size in a TIFF file.
    var size: (width: Int, height: Int)?
    /// The camera, its settings and the place. Its numbers are positive.
    var details = CaptureDetails()

    /// The maximum length of the maker, and of the model, in bytes. A longer text counts as missing.
    private static let maximumNameBytes = 256

    /// Reads a block; nil if it is malformed.
    init?(_ source: some ByteSource) {
        guard let table = TIFFTable(firstOf: source) else { return nil }
        orientation = table.number(0x112).flatMap(ImageOrientation.init)
        if let width = table.number(0x100), let height = table.number(0x101) {
            size = (width, height)
        }
        details.camera = CaptureDetails.camera(
            make: Self.name(table, 0x10f), model: Self.name(table, 0x110))
        if let place = table.table(0x8825).flatMap(Self.location) {
            (details.latitude, details.longitude) = place
        }
        guard let settings = table.table(0x8769) else { return }
        details.lens = Self.name(settings, 0xa434)
        details.exposureTime = settings.positive(0x829a, atMost: 86_400)
        details.aperture = settings.positive(0x829d, atMost: 1000)
        details.iso = settings.number(0x8827).flatMap { $0 > 0 ? $0 : nil }
        let zone = settings.text(0x9010)
        func time(_ tag: Int, offset: Int, fraction: Int) -> CivilTime? {
            settings.text(tag).flatMap {
                CivilTime(
                    $0, offset: settings.text(offset) ?? zone, fraction: settings.text(fraction))
            }
        }
        taken =
            time(0x9003, offset: 0x9011, fraction: 0x9291)
            ?? time(0x9004, offset: 0x9012, fraction: 0x9292)
    }

    /// Reads a name up to its first zero byte. Text that is not UTF-8 counts as missing.
    private static func name(_ table: TIFFTable, _ tag: Int) -> String? {
        guard let bytes = table.text(tag, atMost: maximumNameBytes),
            let text = String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
        else { return nil }
        return ServiceText.line(text)
    }

    /// Reads the table of the location; nil if it is incomplete, malformed or not in WGS 84.
    private static func location(_ table: TIFFTable) -> (latitude: Double, longitude: Double)? {
        if let datum = table.text(0x12) {
            // `WGS-84` in the specification; `WGS84` and `WGS 84` occur as well.
            let name = datum.filter { 0x30...0x39 ~= $0 || 0x41...0x5a ~= $0 }
            guard name.isEmpty || name == Array("WGS84".utf8) else { return nil }
        }
        guard let latitude = coordinate(table, 1, positive: "N", negative: "S"),
            let longitude = coordinate(table, 3, positive: "E", negative: "W"),
            -90...90 ~= latitude, -180...180 ~= longitude
        else { return nil }
        return (latitude, longitude)
    }

    /// Reads the hemisphere in field `tag`, and the degrees, minutes and seconds in the next field.
    private static func coordinate(
        _ table: TIFFTable, _ tag: Int, positive: String, negative: String
    ) -> Double? {
        guard let hemisphere = table.text(tag), let parts = table.rationals(tag + 1, count: 3),
            0...180 ~= parts[0], 0...60 ~= parts[1], 0...60 ~= parts[2]
        else { return nil }
        let degrees = parts[0] + parts[1] / 60 + parts[2] / 3600
        if hemisphere.elementsEqual(positive.utf8) { return degrees }
        return hemisphere.elementsEqual(negative.utf8) ? -degrees : nil
    }
}

/// A table of fields in a TIFF file.
private struct TIFFTable {
    private static let maximumFields = 1000

    private let isBigEndian: Bool
    /// Twelve bytes for each field: tag, type, count, and the value or its offset.
    private let fields: Bytes
    private let source: any ByteSource

    /// Reads the first table of a file.
    init?(firstOf source: some ByteSource) {
        guard let head = source.bytes(at: 0, 8) else { return nil }
        let isBigEndian = head.hasText("MM")
        guard isBigEndian || head.hasText("II"),
            head.number(at: 2, 2, isBigEndian: isBigEndian) == 42,
            let tableOffset = head.number(at: 4, 4, isBigEndian: isBigEndian)
        else { return nil }
        self.init(source, at: tableOffset, isBigEndian: isBigEndian)
    }

    init?(_ source: any ByteSource, at tableOffset: Int, isBigEndian: Bool) {
        guard let count = source.number(at: tableOffset, 2, isBigEndian: isBigEndian),
            count <= Self.maximumFields, let fields = source.bytes(at: tableOffset + 2, 12 * count)
        else { return nil }
        self.source = source
        self.isBigEndian = isBigEndian
        self.fields = fields
    }

    private func field(_ tag: Int) -> (type: Int, count: Int, offset: Int)? {
        for offset in stride(from: 0, to: fields.count, by: 12)
        where number(offset, 2) == tag {
            guard let type = number(offset + 2, 2), let count = number(offset + 4, 4) else {
                return nil
            }
            return (type, count, offset + 8)
        }
        return nil
    }

    private func number(_ offset: Int, _ count: Int) -> Int? {
        fields.number(at: offset, count, isBigEndian: isBigEndian)
    }

    /// Reads a single number of type SHORT or LONG.
    func number(_ tag: Int) -> Int? {
        guard let (type, count, offset) = field(tag), count == 1 else { return nil }
        switch type {
        case 3: return number(offset, 2)
        case 4: return number(offset, 4)
        default: return nil
        }
    }

    /// Reads the table that a field refers to.
    func table(_ tag: Int) -> TIFFTable? {
        number(tag).flatMap { TIFFTable(source, at: $0, isBigEndian: isBigEndian) }
    }

    /// Reads numbers of type RATIONAL; nil if their count differs, or a denominator is 0.
    func rationals(_ tag: Int, count: Int) -> [Double]? {
        guard let field = field(tag), field.type == 5, field.count == count,
            let bytes = number(field.offset, 4).flatMap({ source.bytes(at: $0, 8 * count) })
        else { return nil }
        var numbers: [Double] = []
        for offset in stride(from: 0, to: 8 * count, by: 8) {
            guard let numerator = bytes.number(at: offset, 4, isBigEndian: isBigEndian),
                let denominator = bytes.number(at: offset + 4, 4, isBigEndian: isBigEndian),
                denominator > 0
            else { return nil }
            numbers.append(Double(numerator) / Double(denominator))
        }
        return numbers
    }

    /// Reads a single positive number of type RATIONAL; nil if it is larger than `limit`.
    func positive(_ tag: Int, atMost limit: Double) -> Double? {
        rationals(tag, count: 1).flatMap { $0[0] > 0 && $0[0] <= limit ? $0[0] : nil }
    }

    /// Reads a text of at most `limit` bytes, without the zero bytes and spaces at its end.
    func text(_ tag: Int, atMost limit: Int = 64) -> [UInt8]? {
        guard let (type, count, offset) = field(tag), type == 2, count >= 1, count <= limit else {
            return nil
        }
        let bytes =
            count <= 4
            ? fields.bytes(at: offset, count)
            : number(offset, 4).flatMap { source.bytes(at: $0, count) }
        guard var text = bytes?.array else { return nil }
        while let last = text.last, last == 0 || last == 0x20 { text.removeLast() }
        return text
    }
}
