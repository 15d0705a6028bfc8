/// A big-endian EXIF block with up to three tables, which may be malformed.
struct ExifBlock {
    /// A field of a table.
    struct Field {
        var tag: Int
        var type: Int
        var count: Int
        var data: [UInt8]

        static func short(_ tag: Int, _ value: Int) -> Field {
            Field(tag: tag, type: 3, count: 1, data: Samples.big(value, 2))
        }

        static func long(_ tag: Int, _ value: Int) -> Field {
            Field(tag: tag, type: 4, count: 1, data: Samples.big(value, 4))
        }

        static func text(_ tag: Int, _ text: String) -> Field { bytes(tag, Array(text.utf8) + [0]) }

        static func bytes(_ tag: Int, _ bytes: [UInt8]) -> Field {
            Field(tag: tag, type: 2, count: bytes.count, data: bytes)
        }

        static func rationals(_ tag: Int, _ numbers: [(Int, Int)], type: Int = 5) -> Field {
            Field(
                tag: tag, type: type, count: numbers.count,
                data: numbers.flatMap { Samples.big($0.0, 4) + Samples.big($0.1, 4) })
        }
    }

    var image: [Field] = []
    var details: [Field] = []
    var location: [Field] = []

    /// 48° 51' 29.6" N, 2° 17' 40.2" E.
    static let paris: [Field] = [
        .text(1, "N"), .rationals(2, [(48, 1), (51, 1), (296, 10)]),
        .text(3, "E"), .rationals(4, [(2, 1), (17, 1), (402, 10)]), .text(0x12, "WGS-84"),
    ]

    mutating func setCamera(_ make: String?, _ model: String?) {
        if let make { image.append(.text(0x10f, make)) }
        if let model { image.append(.text(0x110, model)) }
    }

    var bytes: [UInt8] {
        var links: [Field] = []
        if !details.isEmpty { links.append(.long(0x8769, 0)) }
        if !location.isEmpty { links.append(.long(0x8825, 0)) }
        let detailsOffset = 8 + Self.table(image + links, at: 8).count
        let locationOffset = detailsOffset + Self.table(details, at: 0).count
        for index in links.indices {
            let offset = links[index].tag == 0x8769 ? detailsOffset : locationOffset
            links[index].data = Samples.big(offset, 4)
        }
        return Array("MM".utf8) + Samples.big(42, 2) + Samples.big(8, 4)
            + Self.table(image + links, at: 8) + Self.table(details, at: detailsOffset)
            + Self.table(location, at: locationOffset)
    }

    private static func table(_ fields: [Field], at offset: Int) -> [UInt8] {
        var entries: [UInt8] = []
        var data: [UInt8] = []
        let dataOffset = offset + 2 + 12 * fields.count + 4
        for field in fields {
            entries += Samples.big(field.tag, 2) + Samples.big(field.type, 2)
            entries += Samples.big(field.count, 4)
            if field.data.count <= 4 {
                entries += field.data + [UInt8](repeating: 0, count: 4 - field.data.count)
            } else {
                entries += Samples.big(dataOffset + data.count, 4)
                data += field.data
            }
        }
        return Samples.big(fields.count, 2) + entries + Samples.big(0, 4) + data
    }
}
