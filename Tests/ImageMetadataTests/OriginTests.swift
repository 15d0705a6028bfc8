import Testing
import Web

@testable import ImageMetadata

/// The camera and the location in EXIF.
struct OriginTests {
    private func camera(_ make: String?, _ model: String?) -> String? {
        var block = ExifBlock()
        block.setCamera(make, model)
        return Exif(Bytes(block.bytes))?.details.camera
    }

    /// The location in Paris, with other fields in place of those with the same tags, and without some fields.
    private func location(
        _ fields: [ExifBlock.Field], without tags: [Int] = []
    ) -> (latitude: Double, longitude: Double)? {
        var block = ExifBlock()
        let replaced = tags + fields.map(\.tag)
        block.location = ExifBlock.paris.filter { !replaced.contains($0.tag) } + fields
        let details = Exif(Bytes(block.bytes))?.details
        guard let latitude = details?.latitude, let longitude = details?.longitude else {
            return nil
        }
        return (latitude, longitude)
    }

    @Test(arguments: [
        (ImageFormat.jpeg, Samples.jpeg), (.png, Samples.png), (.webP, Samples.webP("VP8X")),
        (.tiff, Samples.exif), (.heic, Samples.heif),
    ])
    func `the capture time, the camera, its settings and the location are read from every format`(
        format: ImageFormat, bytes: [UInt8]
    ) throws {
        let header = try #require(ImageHeader(Bytes(bytes), format: format))
        #expect(header.taken == CivilTime(seconds: 1_709_208_000, offset: 3600))
        let details = header.details
        #expect([details.camera, details.lens] == ["Canon EOS R6", "RF35mm F1.8"])
        #expect((details.exposureTime, details.aperture, details.iso) == (0.004, 2.8, 800))
        #expect(abs((details.latitude ?? 0) - 48.858222) < 1e-6)
        #expect(abs((details.longitude ?? 0) - 2.294500) < 1e-6)
    }

    @Test(arguments: [
        """
        <x tiff:Make='Leica' tiff:Model="M10" plus:ModelReleaseStatus='x'
            exif:GPSLatitude='48,51,29.6N' exif:GPSLongitude='2,17.67W'/>
        """,
        """
        <tiff:Model>M10</tiff:Model><tiff:Make>Leica</tiff:Make>
        <exif:GPSLatitude>48,51.49333333N</exif:GPSLatitude>
        <exif:GPSLongitude>2.2945W</exif:GPSLongitude>
        """,
    ])
    func `the camera and the location are read from XMP if there is no EXIF`(
        packet: String
    ) throws {
        let details = try #require(self.details(nil, packet))
        #expect(details.camera == "Leica M10")
        #expect(abs((details.latitude ?? 0) - 48.858222) < 1e-6)
        #expect(abs((details.longitude ?? 0) + 2.294500) < 1e-6)
        #expect(self.details(Samples.exif, packet) == Exif(Bytes(Samples.exif))?.details)
    }

    /// The details in a JPEG file with EXIF and XMP.
    private func details(_ exif: [UInt8]?, _ packet: String) -> CaptureDetails? {
        let xmp = Array("http://ns.adobe.com/xap/1.0/\0\(packet)".utf8)
        let bodies = [exif.map { Array("Exif\0\0".utf8) + $0 }, xmp]
        let segments = bodies.compactMap(\.self).map { Samples.segment(0xe1, $0) }
        let frame = Samples.segment(
            0xc0, [8] + Samples.big(3, 2) + Samples.big(4, 2) + [1, 1, 0x11, 0])
        let file = [0xff, 0xd8] + segments.joined() + frame
        return ImageHeader(Bytes(file), format: .jpeg)?.details
    }

    @Test(
        arguments: [
            [], [.rationals(2, [(0, 1)]), .rationals(4, [(0, 1)])], [.text(0x12, "TOKYO")],
        ] as [[ExifBlock.Field]])
    func `XMP completes the camera and the location of EXIF`(location: [ExifBlock.Field]) {
        let packet = "<x tiff:Model='M10' exif:GPSLatitude='48,30N' exif:GPSLongitude='2,30E'/>"
        var block = ExifBlock()
        block.details = [.text(0x9003, "2024:02:29 12:00:00")]
        let tags = location.map(\.tag)
        if !tags.isEmpty {
            block.location = ExifBlock.paris.filter { !tags.contains($0.tag) } + location
        }
        var known = details(block.bytes, packet)
        #expect(known?.camera == "M10" && known?.latitude == 48.5 && known?.longitude == 2.5)
        block.setCamera("Canon", "EOS")
        known = details(block.bytes, packet)
        #expect(known?.camera == "Canon EOS" && known?.latitude == 48.5 && known?.longitude == 2.5)
        // The latitude and the longitude are from the same metadata.
        block.location = ExifBlock.paris
        #expect(abs((details(block.bytes, packet)?.longitude ?? 0) - 2.2945) < 1e-6)
    }

    @Test(arguments: [
        """
        <x exifEX:LensModel='RF35mm' exif:ExposureTime='1/250' exif:FNumber='18/10'
            exifEX:PhotographicSensitivity='400' aux:LensID='7' aux:Lens='35 mm'/>
        """,
        """
        <aux:Lens>RF35mm</aux:Lens><exif:ExposureTime>0.004</exif:ExposureTime>
        <exif:FNumber>1.8</exif:FNumber>
        <exif:ISOSpeedRatings><rdf:Seq><rdf:li>400</rdf:li></rdf:Seq></exif:ISOSpeedRatings>
        """,
    ])
    func `the lens and the settings of the camera are read from XMP`(packet: String) throws {
        var block = ExifBlock()
        block.details = [.text(0x9003, "2024:02:29 12:00:00")]
        block.location = ExifBlock.paris
        block.setCamera("Canon", "EOS")
        let details = try #require(self.details(block.bytes, packet))
        #expect(details.lens == "RF35mm" && details.exposureTime == 0.004)
        #expect(details.aperture == 1.8 && details.iso == 400)
    }

    @Test(arguments: [
        "exif:ExposureTime='1/0'", "exif:ExposureTime='0/1'", "exif:ExposureTime='100000'",
        "exif:ExposureTime='1/2/3'", "exif:ExposureTime='/'", "exif:FNumber='f/1.8'",
        "exif:FNumber='nan'", "exif:ISOSpeedRatings='0'", "exif:ISOSpeedRatings='1e3'",
        "exif:GPSLongitude='2,17W'", "exif:GPSLatitude='48,51N'",
        "exif:GPSLatitude='48,61N' exif:GPSLongitude='2,17W'",
        "exif:GPSLatitude='48,51X' exif:GPSLongitude='2,17W'",
        "exif:GPSLatitude='' exif:GPSLongitude='2,17W'",
        "exif:GPSLatitude='N' exif:GPSLongitude='2,17W'",
        "exif:GPSLatitude='nan,51N' exif:GPSLongitude='2,17W'",
        "exif:GPSLatitude='91,0N' exif:GPSLongitude='2,17W'",
        "exif:GPSLatitude='0,0N' exif:GPSLongitude='0,0W'",
        "exif:GPSLatitude='48,51N' exif:GPSLongitude='2,17W' exif:GPSMapDatum='Tokyo'",
        "tiff:Make='Leica'", "tiff:Model='&#32;'", "tiff:Model=",
    ])
    func `a malformed camera, setting or location in XMP is left out`(packet: String) {
        #expect(XMP(Bytes(Array("<x \(packet)/>".utf8)))?.details == CaptureDetails())
    }

    @Test func `character references in XMP are resolved`() {
        let packet = "<x tiff:Model='A&amp;B&#x43; &lt;D>&quot;&apos;'/>"
        #expect(details(nil, packet)?.camera == "A&BC <D>\"'")
    }

    @Test(
        arguments: [
            ("Canon", "Canon EOS R6", "Canon EOS R6"), ("SONY", "ILCE-7M3", "SONY ILCE-7M3"),
            ("NIKON CORPORATION", "NIKON D750", "NIKON D750"),
            ("EASTMAN KODAK COMPANY", "KODAK DX6490", "KODAK DX6490"),
            ("CANON", "Canon EOS R6", "Canon EOS R6"), (nil, "Pixel 8", "Pixel 8"),
            ("Google  ", " Pixel\n8\0garbage", "Google Pixel 8"), ("Canon", nil, nil),
            ("Canon", "  ", nil), ("", "X100V", "X100V"), (nil, nil, nil),
            ("Fuji\u{202e}film", "X\u{1b}[2J", "Fujifilm X[2J"),
        ] as [(String?, String?, String?)])
    func `the camera is the model, with the maker if it is missing`(
        make: String?, model: String?, camera: String?
    ) { #expect(self.camera(make, model) == camera) }

    @Test func `a name that is too long or not UTF-8 is left out`() {
        #expect(camera(nil, String(repeating: "x", count: 255))?.count == 255)
        #expect(camera(nil, String(repeating: "x", count: 256)) == nil)
        for field in [
            ExifBlock.Field.bytes(0x110, [0xff, 0xfe, 0x41]),
            .init(tag: 0x110, type: 2, count: Int(UInt32.max), data: [0, 0, 0, 8]),
            .init(tag: 0x110, type: 2, count: 0, data: []),
        ] { #expect(Exif(Bytes(ExifBlock(image: [field]).bytes))?.details.camera == nil) }
    }

    @Test(arguments: [
        ExifBlock.Field.rationals(0x829a, [(0, 250)]), .rationals(0x829a, [(1, 0)]),
        .rationals(0x829a, [(100_000, 1)]), .rationals(0x829a, [(1, 250), (1, 250)]),
        .rationals(0x829d, [(0, 1)]), .rationals(0x829d, [(0xffff_ffff, 1)]),
        .rationals(0x829d, []), .short(0x8827, 0),
    ])
    func `a setting of the camera that is not possible is left out`(field: ExifBlock.Field) {
        #expect(Exif(Bytes(ExifBlock(details: [field]).bytes))?.details == CaptureDetails())
    }

    @Test(
        arguments: [
            ([.short(0x8827, 65_535), .long(0x8832, 102_400)], 102_400),
            ([.short(0x8827, 65_535), .long(0x8833, 102_400)], 102_400),
            ([.short(0x8827, 65_535)], 65_535), ([.long(0x8832, 3200)], 3200),
            ([.long(0x8832, 0), .long(0x8831, 80)], 80),
            ([.short(0x8827, 400), .long(0x8832, 3200)], 400),
            ([.init(tag: 0x8827, type: 3, count: 2, data: [1, 0x90, 0, 0])], 400),
        ] as [([ExifBlock.Field], Int)])
    func `the sensitivity may be in another field`(fields: [ExifBlock.Field], iso: Int) {
        #expect(Exif(Bytes(ExifBlock(details: fields).bytes))?.details.iso == iso)
    }

    private static let north = 48 + 51.0 / 60 + 29.6 / 3600
    private static let east = 2 + 17.0 / 60 + 40.2 / 3600

    @Test(
        arguments: [
            ([.text(1, "S"), .text(3, "W")], -north, -east),
            // Seconds of 0/0 are part of the minutes.
            ([.rationals(2, [(48, 1), (3000, 100), (0, 0)])], 48.5, east),
            ([.text(1, "s")], -north, east), ([.text(1, "South")], -north, east),
            ([.text(1, "south ")], -north, east),
            // Minutes and seconds are missing.
            (
                [.rationals(2, [(485, 10)]), .rationals(4, [(2, 1), (301_200, 10_000)])], 48.5,
                2.502
            ),
            (
                [
                    .rationals(2, [(485, 10)], type: 10),
                    .rationals(4, [(2, 1), (301_200, 10_000)], type: 10),
                ], 48.5, 2.502
            ),
            (
                [
                    .rationals(2, [(48_500_000, 1_000_000), (0, 1), (0, 1)]),
                    .rationals(4, [(2, 1), (301_200, 10_000), (0, 1)]),
                ], 48.5, 2.502
            ),
        ] as [([ExifBlock.Field], Double, Double)])
    func `the forms of coordinates are read`(
        fields: [ExifBlock.Field], latitude: Double, longitude: Double
    ) throws {
        let found = try #require(location(fields))
        #expect(abs(found.latitude - latitude) < 1e-9)
        #expect(abs(found.longitude - longitude) < 1e-9)
    }

    @Test func `a location of zeros is left out`() {
        let zeros = [(0, 1), (0, 1), (0, 1)]
        #expect(location([.rationals(2, zeros), .rationals(4, zeros)]) == nil)
        #expect(location([.rationals(2, zeros)]) != nil)
    }

    @Test(arguments: [
        ExifBlock.Field.rationals(2, [(48, 0), (0, 1), (0, 1)]),
        .rationals(2, [(48, 1), (51, 1), (1, 0)]), .rationals(2, [(0, 0), (0, 0), (0, 0)]),
        .rationals(2, [(91, 1), (0, 1), (0, 1)]), .rationals(2, [(90, 1), (0, 1), (1, 100)]),
        .rationals(2, [(48, 1), (61, 1), (0, 1)]), .rationals(2, [(48, 1), (0, 1), (4_000, 1)]),
        .rationals(2, [(4_294_967_295, 1), (0, 1), (0, 1)]),
        .rationals(2, [(48, 1), (51, 1), (0, 1), (0, 1)]), .rationals(2, []),
        .rationals(2, [(-48, 1), (51, 1), (0, 1)], type: 10),
        .rationals(2, [(-48, -1), (51, 1), (0, 1)], type: 10),
        .rationals(2, [(48, 1), (51, 1), (0, 1)], type: 4),
        // Doubles, of which the first is not a number.
        .init(
            tag: 2, type: 12, count: 3,
            data: [0x7f, 0xf8, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 16)),
        .init(tag: 2, type: 5, count: 3, data: [0xff, 0xff, 0xff, 0xff]),
        .init(tag: 2, type: 5, count: Int(UInt32.max), data: [0, 0, 0, 8]),
        .text(1, "X"), .text(1, ""), .text(1, "East"), .text(1, "E"),
        .text(0x12, "TOKYO"), .text(0x12, "Tokyo-97"), .text(0x12, "NAD-27"),
    ])
    func `a malformed location is left out`(field: ExifBlock.Field) throws {
        #expect(location([field]) == nil)
    }

    @Test(arguments: [1, 2, 3, 4])
    func `an incomplete location is left out`(tag: Int) {
        #expect(location([], without: [tag]) == nil)
    }

    @Test(arguments: ["WGS-84", "WGS84", "WGS 84", "WGS-1984", "wgs-84", "N/A", "unknown", ""])
    func `a location in WGS 84 or in an unknown datum is accepted`(datum: String) {
        #expect(location([.text(0x12, datum)]) != nil)
    }

    @Test(arguments: [0, 1, 8, 9, 0x7fff_ffff, 0xffff_fffe, 0xffff_ffff])
    func `a table of the location that refers elsewhere does not end the reader`(offset: Int) {
        var block = ExifBlock()
        block.setCamera(nil, "Pixel 8")
        block.image.append(.long(0x8825, offset))
        let details = Exif(Bytes(block.bytes))?.details
        #expect(details?.camera == "Pixel 8" && details?.latitude == nil)
    }
}
