import Testing
import Web

@testable import ImageMetadata

/// The time of capture in all kinds of metadata. It is 04:05:06 on 3 February 2001.
struct DateTests {
    private static let text = "2001:02:03 04:05:06"
    private static let time = CivilTime(seconds: 981_173_106, offset: nil)
    private static let utc = CivilTime(seconds: 981_173_106, offset: 0)

    private static func exif(
        _ details: [ExifBlock.Field] = [], image: [ExifBlock.Field] = [],
        location: [ExifBlock.Field] = []
    ) -> [UInt8] { ExifBlock(image: image, details: details, location: location).bytes }

    /// The time in a JPEG file with segments of metadata.
    private static func taken(_ segments: [UInt8]...) -> CivilTime? {
        let segment = Samples.segment
        let iptc = Array("Photoshop 3.0".utf8)
        let file =
            [0xff, 0xd8] + segments.flatMap { segment($0.starts(with: iptc) ? 0xed : 0xe1, $0) }
            + segment(0xc0, [8] + Samples.big(3, 2) + Samples.big(4, 2) + [1, 1, 0x11, 0])
        return ImageHeader(Bytes(file), format: .jpeg)?.taken
    }

    private static func xmp(_ packet: String) -> [UInt8] {
        Array("http://ns.adobe.com/xap/1.0/\0\(packet)".utf8)
    }

    private static func inJPEG(_ block: [UInt8]) -> CivilTime? {
        taken(Array("Exif\0\0".utf8) + block)
    }

    @Test func `the time in EXIF may be in the first table, or have another type or prefix`() {
        let block = Self.exif([.text(0x9003, Self.text)])
        #expect(Self.inJPEG(Self.exif(image: [.text(0x9003, Self.text)])) == Self.time)
        #expect(Self.taken(Array("Exif\0".utf8) + [0xff] + block) == Self.time)
        var fields: [ExifBlock.Field] = [.text(0x9003, Self.text), .text(0x9004, Self.text)]
        fields += [1, 7, 129].map { type in
            .init(tag: 0x9003, type: type, count: fields[0].count, data: fields[0].data)
        }
        fields.append(.bytes(0x9003, Array(Self.text.utf8) + [UInt8](repeating: 0, count: 500)))
        for field in fields { #expect(Self.inJPEG(Self.exif([field])) == Self.time, "\(field)") }
    }

    @Test func `each time has its own offset`() {
        let later = ExifBlock.Field.text(0x9010, "+05:00")
        #expect(Self.inJPEG(Self.exif([.text(0x9003, Self.text), later])) == Self.time)
        let own = ExifBlock.Field.text(0x9011, "+02:00")
        #expect(Self.inJPEG(Self.exif([.text(0x9003, Self.text), later, own]))?.offset == 7200)
        #expect(Self.inJPEG(Self.exif([.text(0x9004, Self.text), own]))?.offset == nil)
    }

    @Test(arguments: ["0000:00:00 00:00:00", "1970:01:01 00:00:00", "2999:01:01 00:00:00"])
    func `the next time follows one that is not plausible`(text: String) {
        let block = Self.exif([.text(0x9003, text), .text(0x9004, Self.text)])
        #expect(Self.inJPEG(block) == Self.time)
        #expect(Self.inJPEG(Self.exif([.text(0x9003, text)])) == nil)
        let packet = Self.xmp("<rdf:Description xmp:CreateDate='\(text.prefix(10))'/>")
        #expect(Self.taken(packet) == nil)
    }

    @Test func `the time of the location is in UTC`() {
        let date = ExifBlock.Field.text(0x1d, "2001:02:03")
        let parts = ExifBlock.Field.rationals(7, [(4, 1), (5, 1), (65, 10)])
        #expect(Self.inJPEG(Self.exif(location: [date, parts])) == Self.utc)
        let block = Self.exif([.text(0x9003, Self.text)], location: [date, parts])
        #expect(Self.inJPEG(block) == Self.time)
    }

    @Test func `the time of the last change is used if there is no other time`() {
        let fields: [ExifBlock.Field] = [
            .short(0x100, 3), .short(0x101, 4), .text(0x132, Self.text), .text(0x9010, "+02:00"),
        ]
        let block = Self.exif(image: fields)
        let time = CivilTime(seconds: Self.time.seconds, offset: 7200)
        #expect(ImageHeader(Bytes(block), format: .tiff)?.taken == time)
        #expect(Self.inJPEG(block) == time)
        let date = ExifBlock.Field.text(0x1d, "2011:02:03")
        #expect(Self.inJPEG(Self.exif(image: fields, location: [date]))?.offset == 0)
        // A receiver without a fix.
        let reset = ExifBlock.Field.text(0x1d, "2080:01:06")
        #expect(Self.inJPEG(Self.exif(image: fields, location: [reset])) == time)
        let packet = Self.xmp("<x xmp:CreateDate='2001-02-03T04:05:06Z'/>")
        #expect(Self.taken(Array("Exif\0\0".utf8) + block, packet) == Self.utc)
    }

    @Test(arguments: [
        "<x exif:DateTimeOriginal=\"2001-02-03T04:05:06Z\"/>",
        "<x xmp:CreateDate='2001-02-03T04:05:06.00Z'/>",
        "<x xmp:CreateDate='2001-02-03T04&#58;05&#x3a;06Z'/>",
        "<photoshop:DateCreated>2001-02-03T04:05:06+00:00</photoshop:DateCreated>",
        "<x xmp:CreateDate='2011-01-01' photoshop:DateCreated = '2001-02-03T04:05:06Z'/>",
        "<x xmp:CreateDate=''/><photoshop:DateCreated>\n2001-02-03T04:05:06Z\n<",
        "<x exif:DateTimeDigitized=\"2001-02-03T04:05:06Z\"/>",
        "<xap:CreateDate>2001-02-03T04:05:06Z</xap:CreateDate>",
        "<xmpMM:DerivedFrom stRef:CreateDate='2011-01-01'/><x xmp:CreateDate='2001-02-03T04:05:06Z'/>",
        "<!-- <x> a:CreateDate='2011-01-01' --><x a:CreateDate='2001-02-03T04:05:06Z'/>",
        """
        <xmpMM:DerivedFrom rdf:parseType='Resource'><a:CreateDate>2011-01-01</a:CreateDate>
        </xmpMM:DerivedFrom><a:CreateDate>2001-02-03T04:05:06Z</a:CreateDate>
        """,
        """
        <xmpMM:DocumentID>7</xmpMM:DocumentID><xmpMM:DerivedFrom stRef:filePath='a>b'/>
        <x a:CreateDate='2001-02-03T04:05:06Z'/>
        <!--a--><xapMM:Pantry><x a:DateTimeOriginal='2011-01-01'/><b></b></xapMM:Pantry>
        """,
        "<a:CreateDate xml:lang='x-default'>2001-02-03T04:05:06Z</a:CreateDate>",
        "<a:CreateDate rdf:parseType='Resource'>\n<rdf:value>2001-02-03T04:05:06Z</rdf:value>",
        "<a:CreateDate\n><rdf:Alt><rdf:li xml:lang='de'>2001-02-03T04:05:06Z</rdf:li></rdf:Alt>",
        "<a:CreateDate rdf:value='2001-02-03T04:05:06Z' x:y='1'/>",
        "<a:CreateDate><rdf:Description x:y='1' rdf:value = \"2001-02-03T04:05:06Z\"/></a:CreateDate>",
        "<a:CreateDate><rdf:Description><x:y>1</x:y><rdf:value>2001-02-03T04:05:06Z</rdf:value>",
        "<a:CreateDate/><b:z rdf:value='2011-01-01'/><x a:CreateDate='2001-02-03T04:05:06Z'/>",
        "<a:CreateDate>2001-02-03T04:05:06Z</a:CreateDate><b:z><rdf:value>2011-01-01</rdf:value>",
        "<a:CreateDate x='1'/><rdf:li>2011-01-01</rdf:li><x a:CreateDate='2001-02-03T04:05:06Z'/>",
        "<a:CreateDateZone>2011-01-01</a:CreateDateZone><x a:CreateDate='2001-02-03T04:05:06Z'/>",
        "<x a:CreateDate='2011-01-01' b:DateTimeOriginal='2001-02-03T04:05:06Z'/>",
    ])
    func `the time is read from XMP`(packet: String) {
        let time = Self.taken(Self.xmp(packet))
        #expect(time?.seconds == Self.utc.seconds && time?.offset == 0)
        #expect(Self.taken(Self.xmp(packet), Self.exifSegment) == Self.time)
    }

    @Test(arguments: ["2001-02-03T04:05:06Z", "2001-02-03T04:05:06"])
    func `the time of the location in XMP is used if there is no other time`(text: String) {
        let packet = "<x exif:GPSTimeStamp='\(text)'"
        #expect(Self.taken(Self.xmp("\(packet)/>")) == Self.utc)
        let other = "xmp:CreateDate='2001-02-03'"
        #expect(Self.taken(Self.xmp("\(packet) \(other)/>"))?.seconds == 981_158_400)
    }

    @Test(arguments: [("2001-02", 980_985_600), ("2001", 978_307_200)])
    func `a date in XMP may lack the day and the month`(text: String, seconds: Int64) {
        let time = CivilTime(seconds: seconds, offset: nil)
        #expect(Self.taken(Self.xmp("<x xmp:CreateDate='\(text)'/>")) == time)
        #expect(Self.taken(Self.xmp("<xmp:CreateDate>\(text)</xmp:CreateDate>")) == time)
    }

    @Test func `the time may be in any of several packets of XMP or segments of EXIF`() {
        let packet = Self.xmp("<x xmp:CreateDate='2001-02-03T04:05:06Z'/>")
        let other = Self.xmp("<x xmp:Rating='5'/>")
        #expect([Self.taken(packet, other), Self.taken(other, packet)] == [Self.utc, Self.utc])
        var first = ExifBlock()
        first.setCamera("Canon", "EOS")
        #expect(Self.taken(Array("Exif\0\0".utf8) + first.bytes, Self.exifSegment) == Self.time)
    }

    private static let iptcDate = [0x1c, 2, 55, 0, 8] + Array("20010203".utf8)
    private static let iptcTime = [0x1c, 2, 60, 0, 11] + Array("040506+0000".utf8)

    @Test func `the time is read from IPTC`() {
        let head = Array("Photoshop 3.0\08BIM".utf8) + [4, 4, 0, 0, 0, 0, 0, 32]
        let (date, time) = (Self.iptcDate, Self.iptcTime)
        #expect([date + time, time + date].map { Self.taken(head + $0) } == [Self.utc, Self.utc])
        #expect(Self.taken(head + date)?.seconds == 981_158_400)
        #expect(Self.taken(head + time) == nil)
        let short = [0x1c, 2, 60, 0, 6] + Array("040506".utf8) + [0x1c, 2, 5, 0, 2, 0x31, 0x32]
        #expect(Self.taken(head + date + short) == Self.time)
        #expect(Self.taken(head + date + time, Self.exifSegment) == Self.time)
    }

    @Test(arguments: [[], [0x1c, 2, 55, 0, 8] + Array("00000000".utf8)])
    func `the time of the digital image is read from IPTC if there is no other`(other: [UInt8]) {
        let head = Array("Photoshop 3.0\0".utf8) + other
        var (date, time) = (Self.iptcDate, Self.iptcTime)
        (date[2], time[2]) = (62, 63)
        #expect(Self.taken(head + date + time) == Self.utc)
        let later = [0x1c, 2, 62, 0, 8] + Array("20110203".utf8)
        let creation = Self.iptcDate + Self.iptcTime
        #expect(Self.taken(Array("Photoshop 3.0\0".utf8) + later + creation) == Self.utc)
    }

    @Test(arguments: [1, 4, 7]) func `the time is read from IPTC of a TIFF file`(type: Int) {
        let data = Self.iptcDate + Self.iptcTime + [0x1c, 2, 0]
        let count = type == 4 ? data.count / 4 : data.count
        let block = Self.exif(image: [
            .short(0x100, 3), .short(0x101, 4), .text(0x132, "2011:01:01 00:00:00"),
            .init(tag: 0x83bb, type: type, count: count, data: data),
        ])
        #expect(ImageHeader(Bytes(block), format: .tiff)?.taken == Self.utc)
    }

    @Test func `the time is read from XMP of a GIF file`() {
        let packet = "<x xmp:CreateDate='2001-02-03T04:05:06Z'/>"
        let size: [UInt8] = [4, 0, 3, 0, 0, 0, 0]
        let head = Array("GIF89a".utf8) + size + [0x21, 0xff, 11]
        let file = head + Array("XMP DataXMP\(packet)".utf8) + [1, 0xff, 0xfe, 0]
        #expect(ImageHeader(Bytes(file), format: .gif)?.taken == Self.utc)
    }

    private static let exifSegment = Array("Exif\0\0".utf8) + exif([.text(0x9003, text)])

    @Test func `the time is read from texts of a PNG file`() {
        func taken(_ type: String, _ data: [UInt8]) -> CivilTime? {
            let chunk = Samples.chunk
            let file =
                Samples.png[..<8] + chunk("IHDR", Samples.big(4, 4) + Samples.big(3, 4) + [8])
                + chunk("IDAT", [UInt8](repeating: 0, count: 100_000)) + chunk(type, data)
                + chunk("IEND", [])
            return ImageHeader(Bytes(Array(file)), format: .png, { _, bytes in bytes.reversed() })?
                .taken
        }
        let block = Self.exif([.text(0x9003, Self.text)])
        func profile(_ name: String, _ bytes: [UInt8]) -> String {
            let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            return "\n\(name)\n      \(bytes.count)\n\(digits.joined())\n"
        }
        let packet = "<x xmp:CreateDate='2001-02-03T04:05:06Z'/>"
        let (exif, iptc) = (profile("exif", block), profile("iptc", Self.iptcDate + Self.iptcTime))
        for (type, head, text, time) in [
            ("tEXt", "Creation Time\0", Self.text, Self.time),
            ("tEXt", "Software\0", Self.text, nil),
            ("tEXt", "Creation Time\0", "Sat, 3 Feb 2001 04:05:06 GMT", Self.utc),
            ("tEXt", "creation time\0", "Sat Feb  3 04:05:06 2001", Self.time),
            ("tEXt", "Raw profile type exif\0", exif, Self.time),
            ("tEXt", "Raw profile type iptc\0", iptc, Self.utc),
            ("tEXt", "Raw profile type APP1\0", profile("generic", Self.xmp(packet)), Self.utc),
            ("iTXt", "XML:com.adobe.xmp\0\0\0\0\0", packet, Self.utc),
        ] { #expect(taken(type, Array((head + text).utf8)) == time, "\(type) \(head)") }
        // Compressed texts.
        for (type, head, text, time) in [
            ("zTXt", "Raw profile type APP1\0\0", exif, Self.time),
            ("iTXt", "XML:com.adobe.xmp\0\u{1}\0\0\0", packet, Self.utc),
        ] { #expect(taken(type, Array(head.utf8) + text.utf8.reversed()) == time, "\(head)") }
        for prefix in ["", "Exif\0\0"] {
            #expect(taken("eXIf", Array(prefix.utf8) + block) == Self.time)
        }
    }

    @Test func `metadata after the parts of a large PNG image is read, and the parts are not`() {
        let chunk = Samples.chunk
        let part = chunk("IDAT", [UInt8](repeating: 0, count: 8192))
        let preview = ExifBlock.Field.bytes(0x9999, [UInt8](repeating: 0, count: 24_000))
        for count in [1, 2, 99, 100] {
            let image = [[UInt8]](repeating: part, count: count).joined()
            let file =
                Samples.png[..<33] + image + chunk("IDAT", [1, 2, 3])
                + chunk("eXIf", Self.exif([.text(0x9003, Self.text), preview])) + chunk("IEND", [])
            #expect(ImageHeader(Bytes(Array(file)), format: .png)?.taken == Self.time)
            #expect(PNGFile.metadata(Bytes(Array(file))).count == 4)
        }
        // Parts of different lengths.
        let parts = (0..<12_000).flatMap { chunk("IDAT", [UInt8](repeating: 0, count: 1 + $0 % 2)) }
        let file = Samples.png[..<33] + parts + chunk("eXIf", Self.exif([.text(0x9003, Self.text)]))
        #expect(ImageHeader(Bytes(Array(file)), format: .png)?.taken == Self.time)
    }

    @Test func `the prefix of EXIF in HEIF may have any length`() {
        for prefix in [
            [0, 0, 0, 6] + Array("Exif\0\0".utf8), [0, 0, 0, 0] + Array("Exif\0\0".utf8),
        ] {
            let block = prefix + Self.exif([.text(0x9003, Self.text)])
            for isInBox in [false, true] {
                #expect(Self.inHEIF([("Exif\0", 1, block)], isInBox: isInBox) == Self.time)
            }
        }
    }

    @Test func `the metadata of the primary image in HEIF is read`() {
        let (exif, xmp) = ("Exif\0", "mime\0application/rdf+xml\0")
        let block = Samples.big(0, 4) + Self.exif([.text(0x9003, Self.text)])
        let packet = Array("<x xmp:CreateDate='2001-02-03T04:05:06Z'/>".utf8)
        let other = Samples.big(0, 4) + Self.exif([.text(0x9003, "2011:01:01 00:00:00")])
        let otherPacket = Array("<x xmp:CreateDate='2011-01-01T00:00:00Z'/>".utf8)
        #expect(Self.inHEIF([(exif, 3, other), (exif, 1, block)]) == Self.time)
        #expect(Self.inHEIF([(xmp, 3, otherPacket), (xmp, 1, packet)]) == Self.utc)
        let text = "mime\0text/plain\0"
        #expect(Self.inHEIF([(text, 1, otherPacket), (xmp, 1, packet)]) == Self.utc)
        // No metadata refers to the primary image.
        #expect(Self.inHEIF([(exif, 4, block), (exif, 3, other)]) == Self.time)
    }

    /// The time in a HEIF file with items of metadata: a type, the image that it describes, and contents.
    ///
    /// - Parameters:
    ///   - items: The items.
    ///   - isInBox: True if the contents are in the box `idat`, false if they are elsewhere in the file; nil if they are
    ///     in two extents of the file, whose places have an older form.
    /// - Returns: The time; nil if there is none.
    private static func inHEIF(
        _ items: [(type: String, image: Int, block: [UInt8])], isInBox: Bool? = nil
    ) -> CivilTime? {
        let (box, big, contents) = (Samples.box, Samples.big, items.flatMap(\.block))
        let head = box("ftyp", Array("heic".utf8) + big(0, 4))
        func meta(_ place: Int) -> [UInt8] {
            var place = isInBox == true ? 0 : place
            var (entries, locations, references): ([UInt8], [UInt8], [UInt8]) = ([], [], [])
            for (index, item) in items.enumerated() {
                let id = big(10 + index, 2)
                entries += box("infe", [2, 0, 0, 0] + id + big(0, 2) + Array(item.type.utf8))
                references += box("cdsc", id + big(1, 2) + big(item.image, 2))
                let half = isInBox == nil ? item.block.count / 2 : item.block.count
                let parts = [item.block[..<half], item.block[half...]].filter { !$0.isEmpty }
                locations += id + (isInBox.map { big($0 ? 1 : 0, 2) } ?? [])
                locations += big(0, 2) + big(parts.count, 2)
                for part in parts {
                    locations += big(place, 4) + big(part.count, 4)
                    place += part.count
                }
            }
            let sizes = box("ipco", box("ispe", big(0, 4) + big(4, 4) + big(3, 4)))
            let uses = box("ipma", big(0, 4) + big(1, 4) + big(1, 2) + [1, 0x81])
            let form: [UInt8] = [isInBox == nil ? 0 : 1, 0, 0, 0, 0x44, 0]
            let boxes =
                box("pitm", big(0, 4) + big(1, 2))
                + box("iinf", big(0, 4) + big(items.count, 2) + entries)
                + box("iloc", form + big(items.count, 2) + locations)
                + box("iprp", sizes + uses) + box("iref", big(0, 4) + references)
            return box("meta", big(0, 4) + boxes + (isInBox == true ? box("idat", contents) : []))
        }
        let end = box("mdat", isInBox == true ? [] : contents)
        let file = head + meta(head.count + meta(0).count + 8) + end
        return ImageHeader(Bytes(file), format: .heic)?.taken
    }
}
