import ImageMetadata

/// Minimal files of each format. They are 300 pixels wide and 400 high as shown, and were taken at noon of 29 February
/// 2024, one hour ahead of UTC, with a camera in Paris, if the format can store that.
enum Samples {
    static func big(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    private static func little(_ number: Int, _ count: Int) -> [UInt8] {
        big(number, count).reversed()
    }

    /// A segment of a JPEG file.
    static func segment(_ marker: UInt8, _ body: [UInt8]) -> [UInt8] {
        [0xff, marker] + big(body.count + 2, 2) + body
    }

    /// A chunk of a PNG file, without its checksum.
    static func chunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
        big(body.count, 4) + Array(type.utf8) + body + big(0, 4)
    }

    /// A box of an ISO base media file.
    static func box(_ type: String, _ body: [UInt8]) -> [UInt8] {
        big(body.count + 8, 4) + Array(type.utf8) + body
    }

    /// Stored as 400 by 300 pixels, with an orientation that rotates it.
    static let exif: [UInt8] = {
        var block = ExifBlock()
        block.image += [.short(0x100, 400), .long(0x101, 300), .short(0x112, 6)]
        block.details = [
            .text(0x9003, "2024:02:29 12:00:00"), .text(0x9011, "+01:00"),
            .text(0xa434, "RF35mm F1.8"), .rationals(0x829a, [(1, 250)]),
            .rationals(0x829d, [(28, 10)]), .short(0x8827, 800),
        ]
        block.setCamera("Canon", "Canon EOS R6")
        block.location = ExifBlock.paris
        return block.bytes
    }()

    /// A big-endian BigTIFF file. Four bytes of pixels and the time of the last change precede its table.
    static let bigTIFF: [UInt8] = {
        func field(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
            big(tag, 2) + big(type, 2) + big(count, 8) + value
                + [UInt8](repeating: 0, count: 8 - value.count)
        }
        let fields = [
            field(0x100, 3, 1, big(400, 2)), field(0x101, 4, 1, big(300, 4)),
            field(0x111, 16, 1, big(16, 8)), field(0x112, 3, 1, big(6, 2)),
            field(0x117, 16, 1, big(4, 8)), field(0x132, 2, 20, big(20, 8)),
            field(0x829a, 5, 1, big(1, 4) + big(250, 4)),
        ]
        let head = Array("MM\0+".utf8) + big(8, 2) + big(0, 2) + big(40, 8)
        let values = [1, 2, 3, 4] + Array("2024:02:29 12:00:00\0".utf8)
        return head + values + big(fields.count, 8) + Array(fields.joined()) + big(0, 8)
    }()

    static let jpeg =
        [0xff, 0xd8] + segment(0xe1, Array("Exif\0\0".utf8) + exif)
        + [0xff] + segment(0xc2, [8] + big(300, 2) + big(400, 2) + [1, 1, 0x11, 0])
        + segment(0xda, [1, 1, 0, 0, 63, 0]) + [1, 2, 3, 0xff, 0xd9]

    static let png =
        [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        + chunk("IHDR", big(400, 4) + big(300, 4) + [8, 2, 0, 0, 0]) + chunk("IDAT", [1, 2])
        + chunk("eXIf", exif) + chunk("IEND", [])

    static func webP(_ kind: String) -> [UInt8] {
        func chunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
            Array(type.utf8) + little(body.count, 4) + body + (body.count % 2 == 1 ? [0] : [])
        }
        let body: [UInt8]
        switch kind {
        case "VP8X":
            body =
                chunk("VP8X", [8, 0, 0, 0] + little(399, 3) + little(299, 3))
                + chunk("EXIF", Array("Exif\0\0".utf8) + exif)
        case "VP8L": body = chunk("VP8L", [0x2f] + little(299 | 399 << 14, 4))
        default: body = chunk("VP8 ", [0, 0, 0, 0x9d, 1, 0x2a] + little(300, 2) + little(400, 2))
        }
        return Array("RIFF".utf8) + little(body.count + 4, 4) + Array("WEBP".utf8) + body
    }

    static let gif = Array("GIF89a".utf8) + little(300, 2) + little(400, 2) + [0, 0, 0]

    /// A GIF with a table of colors, a loop, and frames with tables of their own.
    static func gif(frames: Int) -> [UInt8] {
        let loop: [UInt8] = [0x21, 0xff, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
        let frame: [UInt8] =
            [0x21, 0xf9, 4, 0, 10, 0, 0, 0, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0x80]
            + [UInt8](repeating: 7, count: 6) + [2, 2, 0x44, 0x2c, 1, 1, 0]
        return Array("GIF89a".utf8) + little(300, 2) + little(400, 2) + [0x81, 0, 0]
            + [UInt8](repeating: 0x2c, count: 12) + loop
            + [[UInt8]](repeating: frame, count: frames).joined() + [0x3b]
    }

    /// The negative height means that the top row comes first.
    static let bmp =
        Array("BM".utf8) + [UInt8](repeating: 0, count: 12) + little(40, 4)
        + little(300, 4) + little(-400, 4) + little(1, 2)

    static let heif: [UInt8] = {
        let version = [UInt8](repeating: 0, count: 4)
        let head = box("ftyp", Array("heic\0\0\0\0heic".utf8))
        let item = box("infe", [2, 0, 0, 0] + big(2, 2) + big(0, 2) + Array("Exif\0".utf8))
        let properties = box("ispe", version + big(400, 4) + big(300, 4)) + box("irot", [1])
        func meta(_ place: Int) -> [UInt8] {
            box(
                "meta",
                version + box("pitm", version + big(1, 2))
                    + box("iinf", version + big(1, 2) + item)
                    + box(
                        "iloc",
                        version + [0x44, 0] + big(1, 2) + big(2, 2) + big(0, 2) + big(1, 2)
                            + big(place, 4) + big(exif.count + 4, 4))
                    + box(
                        "iprp",
                        box("ipco", properties)
                            + box("ipma", version + big(1, 4) + big(1, 2) + [2, 0x81, 0x82])))
        }
        let place = head.count + meta(0).count + 8
        return head + meta(place) + box("mdat", big(0, 4) + exif)
    }()

    /// Not the small form. A height of nine bits, no ratio but a width of nine bits, all other fields at their
    /// defaults.
    static let jpegXL: [UInt8] = {
        var bits: [Int] = [0]
        func add(_ value: Int, _ count: Int) {
            for place in 0..<count { bits.append(value >> place & 1) }
        }
        add(0, 2)
        add(399, 9)
        add(0, 3)
        add(0, 2)
        add(299, 9)
        add(1, 1)
        add(0, 14)
        var bytes: [UInt8] = [0xff, 0x0a]
        for start in stride(from: 0, to: bits.count - 7, by: 8) {
            bytes.append(UInt8((0..<8).reduce(0) { $0 | bits[start + $1] << $1 }))
        }
        return bytes
    }()
}
