internal import Web

/// The used properties of an EXIF block. The block is a TIFF table of fields; two fields refer to a table with details
/// and to a table with the location. Only these three tables are read, each once, so that reading always ends.
///
/// Source: CIPA DC-008 (EXIF 3.0), TIFF 6.0.
struct Exif {
    var orientation: ImageOrientation?
    var taken: CivilTime?
    /// The time of the location, in UTC.
    private(set) var located: CivilTime?
    /// The time of the last change. Scanners and some programs write only this one.
    private(set) var changed: CivilTime?
    /// The camera, its settings and the place. Its numbers are positive.
    var details = CaptureDetails()

    /// Reads a block, which may have the prefix that JPEG uses, whose last byte varies; nil if it is malformed.
    init?(_ source: some ByteSource) {
        let prefixBytes = source.hasText("Exif\0") ? 6 : 0
        guard
            let table = Part(source, prefixBytes, source.count).flatMap({ TIFFTable(firstOf: $0) })
        else { return nil }
        orientation = table.number(0x112).flatMap(ImageOrientation.init)
        details.camera = CaptureDetails.camera(
            make: Self.name(table, 0x10f), model: Self.name(table, 0x110))
        if let place = table.table(0x8825) {
            if let location = Self.location(place) {
                (details.latitude, details.longitude) = location
            }
            located = Self.time(place)
        }
        // Some programs write the details into the first table.
        let settings = table.table(0x8769)
        let tables = [settings, table].compactMap(\.self)
        details.lens = Self.name(tables[0], 0xa434)
        details.exposureTime = tables[0].positive(0x829a, atMost: 86_400)
        details.aperture = tables[0].positive(0x829d, atMost: 1000)
        details.iso = Self.sensitivity(tables[0])
        /// Returns the first plausible time, with its offset and fraction.
        func time(_ tag: Int, offset: Int, fraction: Int) -> CivilTime? {
            tables.lazy.compactMap { table in
                table.text(tag).flatMap { text in
                    CivilTime(
                        text, offset: tables[0].text(offset), fraction: tables[0].text(fraction))
                }
            }.first(where: \.isPlausible)
        }
        taken =
            time(0x9003, offset: 0x9011, fraction: 0x9291)
            ?? time(0x9004, offset: 0x9012, fraction: 0x9292)
        changed = time(0x132, offset: 0x9010, fraction: 0x9290)
    }

    /// Reads the sensitivity. Its field has 16 bits: of a larger one it has the limit, and other fields have the value.
    private static func sensitivity(_ table: TIFFTable) -> Int? {
        let number = table.numbers(0x8827, atMost: 1).first ?? 0
        // The recommended exposure index, the ISO speed, and the standard output sensitivity.
        let others = number == 0 || number == 65_535 ? [0x8832, 0x8833, 0x8831] : []
        let exact = others.lazy.compactMap { table.number($0) }.first { $0 > 0 }
        return exact ?? (number > 0 ? number : nil)
    }

    /// Reads the date and the time of a location.
    private static func time(_ table: TIFFTable) -> CivilTime? {
        guard let day = table.text(0x1d).flatMap({ CivilTime($0) })?.seconds else { return nil }
        let parts = (table.rationals(7, 3...3) ?? [0, 0, 0]).map { $0.isNaN ? 0 : $0 }
        guard zip(parts, [24, 60, 61]).allSatisfy({ 0..<$1 ~= $0 }) else { return nil }
        let seconds = parts[0] * 3600 + parts[1] * 60 + parts[2]
        return CivilTime(seconds: day + Int64(seconds), offset: 0)
    }

    /// Reads a name up to its first zero byte. Text that is not UTF-8, or is longer than 255 bytes, counts as missing.
    private static func name(_ table: TIFFTable, _ tag: Int) -> String? {
        guard let bytes = table.text(tag)?.prefix(while: { $0 != 0 }), bytes.count < 256,
            let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        return ServiceText.line(text)
    }

    /// Reads the table of the location.
    private static func location(_ table: TIFFTable) -> (latitude: Double, longitude: Double)? {
        validLocation(
            coordinate(table, 1, positive: "N", negative: "S"),
            coordinate(table, 3, positive: "E", negative: "W"),
            datum: String(decoding: table.text(0x12) ?? [], as: UTF8.self))
    }

    /// Reads the hemisphere in field `tag`, and the degrees, minutes and seconds in the next field. The hemisphere may be
    /// a word or in lower case, and minutes and seconds may be missing.
    private static func coordinate(
        _ table: TIFFTable, _ tag: Int, positive: Unicode.Scalar, negative: Unicode.Scalar
    ) -> Double? {
        guard let hemisphere = table.text(tag)?.first.map({ $0 & ~0x20 }),
            var parts = table.rationals(tag + 1, 1...3)
        else { return nil }
        parts += [0, 0]
        // Some programs write 0/0 for minutes and seconds that are part of the degrees.
        for index in 1...2 where parts[index].isNaN { parts[index] = 0 }
        guard 0...180 ~= parts[0], 0...60 ~= parts[1], 0...60 ~= parts[2] else { return nil }
        let degrees = parts[0] + parts[1] / 60 + parts[2] / 3600
        if hemisphere == UInt8(ascii: positive) { return degrees }
        return hemisphere == UInt8(ascii: negative) ? -degrees : nil
    }
}

/// Returns a location; nil if it is incomplete, impossible, or in a datum that is known to differ from WGS 84.
func validLocation(
    _ latitude: Double?, _ longitude: Double?, datum: String
) -> (latitude: Double, longitude: Double)? {
    let name = datum.uppercased().filter { $0.isLetter || $0.isNumber }
    let others = ["TOKYO", "NAD27", "ED50", "OSGB36", "GCJ02"]
    guard !others.contains(where: name.hasPrefix), let latitude, let longitude,
        -90...90 ~= latitude, -180...180 ~= longitude,
        // Cameras without a fix write zeros.
        latitude != 0 || longitude != 0
    else { return nil }
    return (latitude, longitude)
}

/// A table of fields in a TIFF file.
///
/// Source: TIFF 6.0 §2; the BigTIFF file format of libtiff.
struct TIFFTable {
    private static let maximumFields = 1000

    /// The offset of the table in the file.
    let offset: Int
    let isBigEndian: Bool
    /// The number of bytes of an offset, a count and a short value: four, or eight in BigTIFF.
    private let offsetBytes: Int
    /// Twelve or twenty bytes for each field: tag, type, count, and the value or its offset.
    private let fields: Bytes
    private let source: any ByteSource

    /// Reads the first table of a file. Some raw files have a number of their own in place of 42.
    init?(firstOf source: some ByteSource) {
        guard let head = source.bytes(at: 0, 8) else { return nil }
        let isBigEndian = head.hasText("MM")
        let version = head.number(at: 2, 2, isBigEndian: isBigEndian)
        let offsetBytes = version == 43 ? 8 : 4
        guard isBigEndian || head.hasText("II"),
            [42, 43, 0x55, 0x4f52, 0x5352].contains(version),
            let tableOffset = source.number(
                at: offsetBytes, offsetBytes, isBigEndian: isBigEndian)
        else { return nil }
        self.init(source, at: tableOffset, isBigEndian: isBigEndian, offsetBytes: offsetBytes)
    }

    init?(
        _ source: any ByteSource, at tableOffset: Int, isBigEndian: Bool, offsetBytes: Int = 4
    ) {
        let countBytes = Self.countBytes(offsetBytes)
        guard let count = source.number(at: tableOffset, countBytes, isBigEndian: isBigEndian),
            count <= Self.maximumFields,
            let fields = source.bytes(at: tableOffset + countBytes, (4 + 2 * offsetBytes) * count)
        else { return nil }
        offset = tableOffset
        self.source = source
        self.isBigEndian = isBigEndian
        self.offsetBytes = offsetBytes
        self.fields = fields
    }

    /// Returns the number of bytes of the number of fields.
    private static func countBytes(_ offsetBytes: Int) -> Int { offsetBytes == 4 ? 2 : 8 }

    private func field(_ tag: Int) -> (type: Int, count: Int, offset: Int)? {
        for offset in stride(from: 0, to: fields.count, by: 4 + 2 * offsetBytes)
        where number(offset, 2) == tag {
            guard let type = number(offset + 2, 2), let count = number(offset + 4, offsetBytes)
            else { return nil }
            return (type, count, offset + 4 + offsetBytes)
        }
        return nil
    }

    /// Reads the first `count` of the `total` bytes of a value, which is in its field or at the offset there.
    private func value(_ offset: Int, _ count: Int, of total: Int) -> Bytes? {
        total <= offsetBytes
            ? fields.bytes(at: offset, count)
            : number(offset, offsetBytes).flatMap { source.bytes(at: $0, count) }
    }

    private func table(at offset: Int) -> TIFFTable? {
        TIFFTable(source, at: offset, isBigEndian: isBigEndian, offsetBytes: offsetBytes)
    }

    private func number(_ offset: Int, _ count: Int) -> Int? {
        fields.number(at: offset, count, isBigEndian: isBigEndian)
    }

    /// Returns true if the table has a field.
    func has(_ tag: Int) -> Bool { field(tag) != nil }

    /// Reads a single number of type SHORT, LONG, IFD, LONG8 or IFD8.
    func number(_ tag: Int) -> Int? { field(tag)?.count == 1 ? numbers(tag).first : nil }

    /// Reads at most `limit` numbers of type SHORT, LONG, IFD, LONG8 or IFD8.
    func numbers(_ tag: Int, atMost limit: Int = 8) -> [Int] {
        guard let (type, count, offset) = field(tag),
            let width = [3: 2, 4: 4, 13: 4, 16: 8, 18: 8][type]
        else { return [] }
        let read = min(count, limit)
        let bytes = value(offset, read * width, of: count * width)
        return (0..<read).compactMap {
            bytes?.number(at: $0 * width, width, isBigEndian: isBigEndian)
        }
    }

    /// Returns the range of the value of a field with bytes of no type, or of type LONG, as some programs write IPTC; nil
    /// for a value in the field.
    func range(_ tag: Int) -> Range<Int>? {
        guard let field = field(tag), let width = [1: 1, 4: 4, 7: 1][field.type],
            field.count * width > offsetBytes, let start = number(field.offset, offsetBytes)
        else { return nil }
        return start..<start + field.count * width
    }

    /// The next table of the file; nil after the last one.
    var next: TIFFTable? {
        let place = offset + Self.countBytes(offsetBytes) + fields.count
        return source.number(at: place, offsetBytes, isBigEndian: isBigEndian).flatMap {
            $0 == 0 ? nil : table(at: $0)
        }
    }

    /// Reads tables that a field refers to.
    func tables(_ tag: Int) -> [TIFFTable] { numbers(tag).compactMap { table(at: $0) } }

    /// Reads the table that a field refers to.
    func table(_ tag: Int) -> TIFFTable? { number(tag).flatMap { table(at: $0) } }

    /// Reads numbers of type RATIONAL or SRATIONAL, with NaN for 0/0; nil if their count differs, or another denominator
    /// is not positive.
    func rationals(_ tag: Int, _ counts: ClosedRange<Int>) -> [Double]? {
        guard let (type, count, offset) = field(tag), type == 5 || type == 10, counts ~= count,
            let bytes = value(offset, 8 * count, of: 8 * count)
        else { return nil }
        func number(_ offset: Int) -> Int? {
            let number = bytes.number(at: offset, 4, isBigEndian: isBigEndian)
            return type == 5 ? number : number.map { Int(Int32(truncatingIfNeeded: $0)) }
        }
        var numbers: [Double] = []
        for offset in stride(from: 0, to: 8 * count, by: 8) {
            guard let numerator = number(offset), let denominator = number(offset + 4),
                denominator > 0 || numerator == 0
            else { return nil }
            numbers.append(Double(numerator) / Double(denominator))
        }
        return numbers
    }

    /// Reads a single positive number of type RATIONAL or SRATIONAL; nil if it is larger than `limit`.
    func positive(_ tag: Int, atMost limit: Double) -> Double? {
        rationals(tag, 1...1).flatMap { $0[0] > 0 && $0[0] <= limit ? $0[0] : nil }
    }

    /// Reads the first 256 bytes of a text, without the zero bytes and spaces at their end.
    func text(_ tag: Int) -> [UInt8]? {
        // Some programs write bytes, 1, or bytes of no type, 7. Type 129 is UTF-8.
        guard let (type, count, offset) = field(tag), [1, 2, 7, 129].contains(type), count > 0,
            var text = value(offset, min(count, 256), of: count)?.array
        else { return nil }
        while let last = text.last, last == 0 || last == 0x20 { text.removeLast() }
        return text
    }
}
