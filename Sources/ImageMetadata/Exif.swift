/// The used properties of an EXIF block. The block is a TIFF table of fields; one field refers to a second table. Only
/// these two tables are read, each once, so that reading always ends.
///
/// Source: CIPA DC-008 (EXIF 2.32), TIFF 6.0.
struct Exif {
    var orientation: ImageOrientation?
    var taken: CivilTime?
    /// The size in a TIFF file.
    var size: (width: Int, height: Int)?

    private static let maximumFields = 1000

    /// Reads a block; nil if it is malformed.
    init?(_ source: some ByteSource) {
        guard let table = TIFFTable.first(of: source, maximumFields: Self.maximumFields) else {
            return nil
        }
        orientation = table.number(0x112).flatMap(ImageOrientation.init)
        if let width = table.number(0x100), let height = table.number(0x101) {
            size = (width, height)
        }
        guard let tableOffset = table.number(0x8769),
            let details = TIFFTable(
                source, at: tableOffset, isBigEndian: table.isBigEndian,
                maximumFields: Self.maximumFields)
        else { return }
        let zone = details.text(0x9010)
        taken =
            details.text(0x9003).flatMap {
                CivilTime(
                    $0, offset: details.text(0x9011) ?? zone, fraction: details.text(0x9291))
            }
            ?? details.text(0x9004).flatMap {
                CivilTime(
                    $0, offset: details.text(0x9012) ?? zone, fraction: details.text(0x9292))
            }
    }
}

/// A table of fields in a TIFF file.
private struct TIFFTable {
    let isBigEndian: Bool
    /// Twelve bytes for each field: tag, type, count, and the value or its offset.
    private let fields: Bytes
    private let source: any ByteSource

    /// Reads the first table of a file.
    static func first(of source: some ByteSource, maximumFields: Int) -> TIFFTable? {
        guard let head = source.bytes(at: 0, 8) else { return nil }
        let isBigEndian = head.hasText("MM")
        guard isBigEndian || head.hasText("II"),
            head.number(at: 2, 2, isBigEndian: isBigEndian) == 42,
            let tableOffset = head.number(at: 4, 4, isBigEndian: isBigEndian)
        else { return nil }
        return TIFFTable(
            source, at: tableOffset, isBigEndian: isBigEndian, maximumFields: maximumFields)
    }

    init?(_ source: some ByteSource, at tableOffset: Int, isBigEndian: Bool, maximumFields: Int) {
        guard
            let count = source.bytes(at: tableOffset, 2)?.number(
                at: 0, 2, isBigEndian: isBigEndian),
            count <= maximumFields, let fields = source.bytes(at: tableOffset + 2, 12 * count)
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

    /// Reads a text of at most 64 bytes, without the zero bytes and spaces at its end.
    func text(_ tag: Int) -> [UInt8]? {
        guard let (type, count, offset) = field(tag), type == 2, 1...64 ~= count else { return nil }
        let bytes =
            count <= 4
            ? fields.bytes(at: offset, count)
            : number(offset, 4).flatMap { source.bytes(at: $0, count) }
        guard var text = bytes?.array else { return nil }
        while let last = text.last, last == 0 || last == 0x20 { text.removeLast() }
        return text
    }
}
