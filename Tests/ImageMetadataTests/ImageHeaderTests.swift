import TestSupport
import Testing
import Web

@testable import ImageMetadata

/// Sizes, orientations and dates in the headers of files.
struct ImageHeaderTests {
    private static let files: [(format: ImageFormat, bytes: [UInt8])] = [
        (.jpeg, Samples.jpeg), (.png, Samples.png), (.webP, Samples.webP("VP8X")),
        (.webP, Samples.webP("VP8L")), (.webP, Samples.webP("VP8 ")), (.gif, Samples.gif),
        (.bmp, Samples.bmp), (.tiff, Samples.exif), (.tiff, Samples.bigTIFF),
        (.heic, Samples.heif), (.jpegXL, Samples.jpegXL),
    ]

    @Test func `the size is read from every format`() throws {
        for (format, bytes) in Self.files {
            let header = try #require(ImageHeader(Bytes(bytes), format: format), "\(format)")
            #expect(header.shownSize == (300, 400), "\(format)")
        }
    }

    @Test func `stray bytes before a marker of a JPEG file are skipped`() throws {
        let many = [[0xff], [0xff, 0], Samples.segment(0xfe, [1, 2])].map {
            Array([[UInt8]](repeating: $0, count: 3000).joined())
        }
        let long = [UInt8](repeating: 0, count: 150_000)
        for stray in [[0], Array("abc".utf8), [1, 0xff, 0, 2], long] + many {
            // The marker of the frame header follows a fill byte.
            for marker in [[0xff, 0xe1], [0xff, 0xff], [0xff, 0xda]] as [[UInt8]] {
                var file = Samples.jpeg
                let place = try #require(file.firstRange(of: marker))
                file.insert(contentsOf: stray, at: place.lowerBound)
                let header = try #require(ImageHeader(Bytes(file), format: .jpeg))
                #expect(header.shownSize == (300, 400) && header.taken != nil)
                #expect(Bytes(file).number(at: header.pixelOffset, 2) == 0xffda)
            }
        }
    }

    @Test func `BigTIFF is read as TIFF`() throws {
        let file = Bytes(Samples.bigTIFF)
        #expect(ImageFormat(file) == .tiff)
        let header = try #require(ImageHeader(file, format: .tiff))
        #expect(header.orientation == .left)
        #expect((header.taken?.seconds, header.details.exposureTime) == (1_709_208_000, 1.0 / 250))
        #expect(ImageFormat.dataRanges(of: file) == [16..<20])
    }

    @Test func `a TIFF image with an impossible size is not read`() {
        let big = Samples.big
        func table(_ fields: [(tag: Int, value: Int)], next: Int) -> [UInt8] {
            let bytes = fields.flatMap { big($0.tag, 2) + big(4, 2) + big(1, 4) + big($0.value, 4) }
            return big(fields.count, 2) + bytes + big(next, 4)
        }
        // A preview, and an image that is listed several times.
        let preview = table([(0xfe, 1), (0x100, 1), (0x101, 1)], next: 50)
        let image = table([(0x100, 0xffff_ffff), (0x101, 0xffff_ffff)], next: 50)
        let file = Bytes(Array("MM\0*".utf8) + big(8, 4) + preview + image)
        #expect(ImageHeader(file, format: .tiff) == nil)
    }

    @Test func `the header of a JPEG XL image may be in several parts`() throws {
        let (box, big, image) = (Samples.box, Samples.big, Samples.jpegXL)
        let file =
            box("JXL ", [0x0d, 0x0a, 0x87, 0x0a]) + box("jxlp", big(0, 4))
            + box("jxlp", big(1, 4) + image[..<3]) + box("jxlp", big(0x8000_0002, 4) + image[3...])
        let header = try #require(ImageHeader(Bytes(file), format: .jpegXL))
        #expect(header.shownSize == (300, 400))
    }

    @Test func `the properties of a HEIF image may be in several tables`() throws {
        var file = Samples.heif
        // The first table has the size of the image, and the second one its rotation.
        let table = Array("ipma".utf8) + Samples.big(0, 4) + Samples.big(1, 4) + Samples.big(1, 2)
        let first = try #require(file.firstRange(of: table + [2, 0x81, 0x82]))
        let tables = table + [1, 0x81] + Samples.big(20, 4) + table + [1, 0x82]
        file.replaceSubrange(first, with: tables)
        file[first.lowerBound - 1] = 20
        try Self.lengthen(["iprp", "meta"], by: tables.count - first.count, in: &file)
        #expect(try #require(ImageHeader(Bytes(file), format: .heic)).shownSize == (300, 400))
    }

    @Test func `a size that is cropped to half a pixel is rounded up`() throws {
        var file = Samples.heif
        // In place of the rotation, 599.5 by 300 pixels.
        let rotation = Samples.big(9, 4) + Array("irot".utf8) + [1]
        let crop = [(1199, 2), (300, 1), (0, 1), (0, 1)]
        let box = Array("clap".utf8) + crop.flatMap { Samples.big($0.0, 4) + Samples.big($0.1, 4) }
        let place = try #require(file.firstRange(of: rotation))
        file.replaceSubrange(place, with: Samples.big(40, 4) + box)
        try Self.lengthen(["ipco", "iprp", "meta"], by: 31, in: &file)
        #expect(try #require(ImageHeader(Bytes(file), format: .heic)).shownSize == (600, 300))
    }

    /// Adds a number to the lengths of boxes.
    private static func lengthen(_ names: [String], by count: Int, in file: inout [UInt8]) throws {
        for name in names {
            let start = try #require(file.firstRange(of: Array(name.utf8))).lowerBound - 4
            let length = file[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            file.replaceSubrange(start..<start + 4, with: Samples.big(length + count, 4))
        }
    }

    @Test func `a file with several frames is animated`() throws {
        func isAnimated(_ file: some Sequence<UInt8>, _ format: ImageFormat) -> Bool? {
            ImageHeader(Bytes(Array(file)), format: format)?.isAnimated
        }
        for frames in 0...3 {
            let gif = Samples.gif(frames: frames)
            #expect(isAnimated(gif, .gif) == (frames > 1), "\(frames)")
            // Stray bytes before the first frame.
            var odd = gif
            let start = gif.firstRange(of: [0x21, 0xf9])?.lowerBound ?? gif.count - 1
            odd.insert(contentsOf: [0, 0, 7], at: start)
            #expect(isAnimated(odd, .gif) == (frames > 1), "\(frames)")
            // A file that ends before its second frame.
            #expect(isAnimated(gif.prefix(60), .gif) == false)
        }
        // A first frame of 300 blocks.
        let blocks = [[UInt8]](repeating: [1, 0], count: 300).joined()
        for frames in 1...2 {
            var gif = Samples.gif(frames: frames)
            let start = try #require(gif.firstRange(of: [2, 2, 0x44])).upperBound - 2
            gif.insert(contentsOf: blocks, at: start)
            #expect(isAnimated(gif, .gif) == (frames == 2))
        }
        for frames in 0...2 {
            let control = Samples.big(8, 4) + Array("acTL".utf8) + Samples.big(frames, 4)
            let png = Samples.png[..<33] + control + Samples.big(0, 8) + Samples.png[33...]
            #expect(isAnimated(png, .png) == (frames == 2))
            // The chunk has no effect after the pixels.
            let late = Samples.png[..<47] + control + Samples.big(0, 8) + Samples.png[47...]
            #expect(isAnimated(late, .png) == false)
            let frame = Array("ANMF".utf8) + [24, 0, 0, 0] + [UInt8](repeating: 0, count: 24)
            var webP = Samples.webP("VP8X")
            // The flag of an animation, which may have a single frame.
            webP[20] |= 2
            webP += [[UInt8]](repeating: frame, count: frames).joined()
            #expect(isAnimated(webP, .webP) == (frames == 2))
        }
    }

    @Test func `a truncated file is not whole`() throws {
        func isWhole(_ files: [[UInt8]], _ format: ImageFormat) -> [Bool?] {
            files.map { ImageHeader(Bytes($0), format: format)?.isWhole(Bytes($0), format) }
        }
        // Some cameras append data.
        let (jpeg, png) = (Samples.jpeg, Samples.png)
        let long = jpeg + [UInt8](repeating: 7, count: 300_000)
        #expect(isWhole([jpeg, jpeg.dropLast(2), long], .jpeg) == [true, false, true])
        #expect(isWhole([png, png.dropLast(12), png + [1, 2, 3]], .png) == [true, false, true])
    }

    @Test func `reading a damaged file ends`() {
        let seed = Simulation.seed
        var random = SeededRandom(seed: seed)
        for (format, bytes) in Self.files {
            for _ in 0..<400 {
                var broken = bytes
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    let place = Int.random(in: 0..<broken.count, using: &random)
                    switch Int.random(in: 0...3, using: &random) {
                    case 0: broken[place] = 0xff
                    case 1: broken[place] = 0
                    case 2: broken = Array(broken[...place])
                    default: broken[place] = UInt8.random(in: 0...255, using: &random)
                    }
                }
                if let header = ImageHeader(Bytes(broken), format: format) {
                    #expect(
                        header.width > 0 && header.height > 0
                            && header.details.latitude.map { -90...90 ~= $0 } ?? true
                            && header.details.longitude.map { -180...180 ~= $0 } ?? true,
                        "IMAGEFEED_SEED=\(seed) \(format) \(broken)")
                }
            }
            for count in bytes.indices {
                _ = ImageHeader(Bytes(Array(bytes[..<count])), format: format)
            }
        }
    }

    @Test func `few bytes of a GIF file with many extensions are read`() {
        let packet: [UInt8] = [0x21, 0xff, 11] + Array("XMP DataXMP".utf8) + [0]
        for block in [[0x21, 0xfe, 0], packet] as [[UInt8]] {
            let file = CountedBytes(
                Samples.gif + Array([[UInt8]](repeating: block, count: 100_000).joined()))
            #expect(ImageHeader(file, format: .gif)?.width == 300)
            #expect(file.readCount < 1 << 20)
        }
    }

    @Test func `reading a written PNG file returns its size and texts`() throws {
        let texts = ["Thumb::URI": "file:///a%20b", "Thumb::MTime": "7"]
        for (width, height) in [(1, 1), (1000, 700)] {
            let file = Bytes(PNGFile.plain(0x123456, width: width, height: height, texts: texts))
            #expect(PNGFile.texts(file) == texts)
            let header = try #require(ImageHeader(file, format: .png))
            #expect(header.shownSize == (width, height))
            #expect(PNGFile.texts(Bytes(file.array.dropLast(12))) == nil)
            // The Adler-32 of the uncompressed bytes, all zeros, precedes the checksum of the chunk and the last chunk.
            // Source: RFC 1950, §8.2.
            var sums = (low: 1, high: 0)
            for _ in 0..<height * (1 + (width + 7) / 8) {
                sums.high = (sums.high + sums.low) % 65_521
            }
            let adler = [sums.high >> 8, sums.high & 0xff, sums.low >> 8, sums.low & 0xff]
            #expect(file.array.dropLast(16).suffix(4).map(Int.init) == adler)
        }
        #expect(PNGFile.texts(Bytes(Samples.jpeg)) == nil)
    }

    @Test func `the preview in old notes of Olympus is found`() {
        let big = Samples.big
        let frame =
            [0xff, 0xd8, 0xff, 0xc0, 0, 11, 8] + big(800, 2) + big(1000, 2) + [1, 1, 0x11, 0]
        let preview = frame + [0xff, 0xda, 0, 2, 0xff, 0xd9]
        func notes(at start: Int) -> [UInt8] {
            func field(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) -> [UInt8] {
                big(tag, 2) + big(type, 2) + big(count, 4) + big(value, 4)
            }
            let camera = field(0x101, 4, 1, start + 56) + field(0x102, 4, 1, preview.count)
            return Array("OLYMP\0\u{1}\0".utf8) + big(1, 2) + field(0x2020, 7, 30, start + 26)
                + big(0, 4) + big(2, 2) + camera + big(0, 4) + preview
        }
        var block = ExifBlock()
        block.details = [.bytes(0x927c, notes(at: 0))]
        block.details[0].type = 7
        let start = block.bytes.firstRange(of: Array("OLYMP".utf8))?.lowerBound ?? 0
        block.details[0].data = notes(at: start)
        let file = Array("MMOR".utf8) + block.bytes.dropFirst(4)
        let header = ImageHeader(Bytes(file), format: .raw)
        #expect(header?.preview == start + 56..<start + 56 + preview.count)
    }
}

/// Bytes that count those that are read.
private final class CountedBytes: ByteSource {
    private let source: Bytes
    private(set) var readCount = 0

    init(_ bytes: [UInt8]) { source = Bytes(bytes) }

    var count: Int { source.count }

    func bytes(at offset: Int, _ count: Int) -> Bytes? {
        let bytes = source.bytes(at: offset, count)
        readCount += bytes?.count ?? 0
        return bytes
    }
}
