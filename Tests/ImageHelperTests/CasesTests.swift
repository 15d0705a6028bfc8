import Foundation
import ImageMetadata
import TestSupport
import Testing

@testable import ImageClient

/// The pictures of the folders `Samples/Cases` and `Samples/Raw`, each of which failed in a program.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct CasesTests {
    /// The pictures with four colors that are shown whole.
    nonisolated private static let whole = [
        "alpha-zero.bmp", "animated.avif", "animated.jxl", "animated.png", "b-os2-16.bmp",
        "big.tiff", "compressed-exif.png", "d-dashes.jpg", "d-png-exif-prefixed.png",
        "e-icc-gray-in-rgb.jpg", "g-screen0.gif", "h-brand-late.heic", "inks-2x2.jpg", "j-brob.jxl",
        "o6-tiled.tif", "o8-planar.tif", "offset-zero.bmp", "one-byte-short.bmp",
        "orientation-5-planar.tiff", "orientation-6-palette.tiff", "orientation-7-tiled.tiff",
        "orientation-8-jpeg.tiff", "os2-64.bmp", "p-noeoi.jpg", "reduced-first.tiff", "rle4.bmp",
        "rle8.bmp", "small-screen.gif", "subsampled.jpg", "t-a98-tiled.tif", "t-rgba-assoc.tif",
        "tiled-16-bits.tiff", "tiled-palette.tiff",
    ]

    @Test(arguments: whole) func `a picture has its colors`(name: String) async throws {
        try await expect(
            [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0]], in: name, atMost: 60)
    }

    @Test(arguments: [
        "swapped-inks-planar.tiff", "swapped-jpeg.tiff", "swapped-planar.tiff",
        "swapped-tiled.tiff",
    ])
    func `the profile of a TIFF image is applied`(name: String) async throws {
        try await expect([[0, 255, 0], [255, 0, 0]], in: name, atMost: 40)
    }

    @Test(arguments: [
        "associated.avif", "associated.jxl", "associated-16-bits.tiff", "associated-tiled.tiff",
    ])
    func `colors that are multiplied by alpha stay so`(name: String) async throws {
        try await expect([[128, 0, 0], nil, nil, [128, 128, 0]], 128, in: name, atMost: 1)
    }

    @Test(
        arguments: [
            ("inks-alpha.tiff", 128), ("inks-alpha-planar-16-bits.tiff", 128),
            ("inks-associated.tiff", 128), ("palette-2-bits-alpha.tiff", 170),
            ("palette-alpha.tiff", 128), ("palette-alpha-planar.tiff", 128),
        ] as [(String, Int)])
    func `the alpha of palettes and inks is applied`(name: String, alpha: Int) async throws {
        let colors = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]].map { $0.map { $0 * alpha } }
        try await expect(colors, alpha, in: name, atMost: 1)
    }

    @Test(arguments: ["white-zero-alpha.tiff", "white-zero-alpha-16-bits.tiff"])
    func `the alpha of an image in which zero is white is applied`(name: String) async throws {
        try await expect([[43, 43, 43], nil, nil, [85, 85, 85]], 128, in: name, atMost: 1)
    }

    @Test func `gray of CIE L*a*b* is gray`() async throws {
        let colors = [[255, 0, 0], [127, 127, 127], [64, 64, 64], [255, 255, 255]]
        try await expect(colors, in: "lab.tiff", atMost: 6)
    }

    @Test(arguments: [[0], [1, 2, 3], [UInt8](repeating: 0, count: 5000)] as [[UInt8]])
    func `stray bytes between the blocks of a GIF are skipped`(stray: [UInt8]) async throws {
        var bytes = try ImageHelperFixture.sample("Cases/small-screen.gif")
        let tableBytes = bytes[10] & 0x80 == 0 ? 0 : 3 << (Int(bytes[10] & 7) + 1)
        bytes.insert(contentsOf: stray, at: 13 + tableBytes)
        let image = try await pixels(bytes)
        #expect(image.width == 48)
        #expect([0, 3].map { color(of: image, $0) } == [[255, 0, 0, 255], [255, 255, 0, 255]])
    }

    @Test func `the first frame of an animation is on its canvas`() async throws {
        let image = try await pixels("small-first-frame.webp")
        #expect((image.width, image.height) == (48, 32))
        #expect([0, 3].map { color(of: image, $0) } == [[255, 0, 0, 255], [0, 0, 0, 0]])
        #expect(try await pixels("e-first-1x1.webp").width == 300)
    }

    @Test(
        arguments: [
            ("compressed-exif.png", [48, 32], false), ("o-clap.heic", [200, 100], false),
            ("animated.png", [48, 32], true),
            ("g-screen0.gif", [300, 200], false), ("small-screen.gif", [48, 32], false),
            ("animated.avif", [96, 64], true), ("animated.jxl", [96, 64], true),
            ("e-first-1x1.webp", [300, 200], true), ("reduced-first.tiff", [48, 32], false),
        ] as [(String, [Int], Bool)])
    func `a picture has its size`(name: String, size: [Int], isAnimated: Bool) async throws {
        let facts = try await facts(name)
        #expect([facts.width, facts.height] == size && facts.isAnimated == isAnimated)
    }

    @Test(arguments: [
        "big.tiff", "d-dashes.jpg", "d-gps-only.jpg", "d-ifd0-original.jpg",
        "d-png-exif-prefixed.png", "d-png-xmp.png", "d-suffix-zone.jpg", "d-xmp-create.jpg",
        "j-brob.jxl",
    ])
    func `a picture has its date`(name: String) async throws {
        #expect(try await facts(name).clockSeconds == 981_173_106)
    }

    @Test(arguments: [
        ("p-12bit.jpg", "12 bits per color"), ("float.tiff", "floating-point samples"),
        ("cgbi.png", "CgBI"), ("two-bits.bmp", "2 bits per pixel"),
    ])
    func `a kind of image that no library decodes is not supported`(
        name: String, reason: String
    ) async throws {
        await #expect { _ = try await pixels(name) } throws: { error in
            guard case ImageProcessorError.notSupported(let message) = error else { return false }
            return "\(message)".contains(reason) && "\(message)".contains("not supported")
        }
    }

    @Test(arguments: ["48-ll.jxl", "96.heic"])
    func `a large picture is decoded`(name: String) async throws {
        let image = try await pixels(name, size: 1024)
        #expect(image.width == 1024 && image.fullWidth * image.fullHeight > 48_000_000)
    }

    @Test(
        arguments: [
            ("Cases/p-noeoi.jpg", 0, [64, 43]), ("Cases/cut.bmp", 0, [48, 32]),
            ("Cases/d-png-xmp.png", 12, [64, 43]), ("plain.webp", 4, [48, 32]),
            ("lossless.webp", 4, [48, 32]), ("Cases/strip-lzw.tiff", nil, [48, 32]),
            ("Cases/strip-deflate.tiff", nil, [48, 32]), ("Cases/strip-jpeg.tiff", 100, [48, 32]),
            ("Cases/d-dashes.jpg", nil, [64, 43]),
            ("Cases/j-brob.jxl", nil, [64, 43]), ("Cases/rle4.bmp", nil, [64, 43]),
        ] as [(String, Int?, [Int])])
    func `a truncated picture is shown as far as it goes after a minute`(
        name: String, missing: Int?, size: [Int]
    ) async throws {
        let fixture = try ImageHelperFixture()
        let bytes = try ImageHelperFixture.sample(name)
        let file = try fixture.file(bytes.dropLast(missing ?? bytes.count / 3))
        await #expect(throws: ImageProcessorError.damaged) { try await fixture.scale(file) }
        Self.rest(file)
        try await fixture.scale(file, pixels: 64)
        #expect(try await fixture.outputSize == size)
    }

    @Test(
        arguments: [
            ("Cases/d-dashes.jpg", [0xff, 0xda], 13), ("Cases/g-screen0.gif", [0x2c], 11),
            ("Cases/j-brob.jxl", [0xff, 0x0a], 40), ("plain.heic", Array("mdat".utf8), 40),
            ("plain.avif", Array("mdat".utf8), 40),
        ] as [(String, [UInt8], Int)])
    func `a picture without pixels is damaged`(
        name: String, start: [UInt8], byteCount: Int
    ) async throws {
        let fixture = try ImageHelperFixture()
        let bytes = try ImageHelperFixture.sample(name)
        let end = try #require(bytes.firstRange(of: start)).upperBound + byteCount
        let file = try fixture.file(Array(bytes[..<end]))
        Self.rest(file)
        await #expect(throws: ImageProcessorError.damaged) { try await fixture.scale(file) }
    }

    @Test func `a truncated PNG is shown up to its last byte`() async throws {
        // Three quarters of the rows, in a single chunk.
        let image = try await pixels(Array(ImageHelperFixture.sample("plain.png")[..<100]))
        let opaque = stride(from: 3, to: image.bytes.count, by: 4).filter { image.bytes[$0] == 255 }
        #expect(22...24 ~= opaque.count / image.width)
        #expect(color(of: image, 0) == [255, 0, 0, 255] && color(of: image, 3) == [0, 0, 0, 0])
    }

    @Test(arguments: ["arw", "cr2", "cr3", "dng", "nef", "orf", "pef", "raf", "rw2"])
    func `a raw file is shown by its preview`(ending: String) async throws {
        let fixture = try ImageHelperFixture()
        let file = try fixture.file(sample: "Raw/preview.\(ending)")
        let facts = try await fixture.probe(file)
        // All but one state that they are rotated.
        let size = ending == "raf" ? [1000, 16] : [16, 1000]
        #expect([facts.width, facts.height] == size)
        #expect(facts.clockSeconds == 1_083_827_289 && facts.camera != nil)
        try await fixture.scale(file, pixels: 500)
        let half = [size[0] / 2, size[1] / 2]
        #expect(try await fixture.outputSize == half)
    }

    @Test(arguments: ["Raw/none.dng", "Raw/small.nef", "Raw/small.cr3", "Cases/t-dng.dng"])
    func `a raw file without a large preview has no image`(name: String) async throws {
        let fixture = try ImageHelperFixture()
        let file = try fixture.file(sample: name)
        await #expect(throws: ImageProcessorError.damaged) { try await fixture.probe(file) }
    }

    @Test func `a large JPEG is scaled while it is decoded`() async throws {
        let fixture = try ImageHelperFixture()
        // The header states 200 megapixels. The missing pixels are gray.
        var bytes = try ImageHelperFixture.sample("Cases/d-dashes.jpg")
        let frame = try #require(bytes.firstRange(of: [0xff, 0xc0, 0, 17, 8]))
        bytes.replaceSubrange(frame.upperBound..<frame.upperBound + 4, with: [47, 208, 63, 192])
        let large = try fixture.file(bytes, "large")
        try await fixture.scale(large, pixels: 1024)
        #expect(try await fixture.outputSize == [1024, 768])
    }

    // MARK: Files

    /// Sets the modification time of a file to two minutes ago.
    private static func rest(_ file: [UInt8]) {
        var times = [timeval(tv_sec: time(nil) - 120, tv_usec: 0)]
        times.append(times[0])
        utimes(file.map(CChar.init(bitPattern:)) + [0], times)
    }

    private func facts(_ name: String) async throws -> ImageFacts {
        let fixture = try ImageHelperFixture()
        return try await fixture.probe(try fixture.file(sample: "Cases/\(name)"))
    }

    private func pixels(_ name: String, size: Int = 4000) async throws -> DecodedPixels {
        try await pixels(ImageHelperFixture.sample("Cases/\(name)"), size: size)
    }

    private func pixels(_ bytes: [UInt8], size: Int = 4000) async throws -> DecodedPixels {
        let fixture = try ImageHelperFixture()
        let file = try fixture.file(bytes)
        Self.rest(file)
        return try await fixture.pixels(file, width: size, height: size)
    }

    /// Returns red, green, blue and alpha at the center of one of four parts.
    private func color(of image: DecodedPixels, _ part: Int) -> [Int] {
        let x = image.width * (part % 2 * 6 + 1) / 8
        let y = image.height * (part / 2 * 6 + 1) / 8
        let offset = (y * image.width + x) * 4
        return [2, 1, 0, 3].map { Int(image.bytes[offset + $0]) }
    }

    /// Compares the colors of the four parts of a picture, of which those that are nil may be any.
    private func expect(
        _ colors: [[Int]?], _ alpha: Int = 255, in name: String, atMost difference: Int
    ) async throws {
        let image = try await pixels(name)
        for (part, expected) in colors.enumerated() {
            guard let expected else { continue }
            let found = color(of: image, part)
            let isClose = zip(found, expected + [alpha]).allSatisfy { abs($0 - $1) <= difference }
            #expect(isClose, "\(name), part \(part): \(found)")
        }
    }
}
