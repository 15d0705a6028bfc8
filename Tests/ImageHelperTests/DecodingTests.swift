import Foundation
import ImageMetadata
import ImageProtocol
import ProviderKit
import TestSupport
import Testing

@testable import ImageClient
@testable import ImageHelper

/// Every format with the real libraries, in the restricted helper.
///
/// Most samples have 48 x 32 pixels in four parts: red and green above blue and white. In a sample with the name "swapped",
/// the embedded profile exchanges red and green.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct DecodingTests {
    /// Blue, green, red and alpha of a pixel.
    typealias Pixel = SIMD4<UInt8>

    private static let red: Pixel = [0, 0, 255, 255]
    private static let green: Pixel = [0, 255, 0, 255]
    private static let blue: Pixel = [255, 0, 0, 255]
    private static let white: Pixel = [255, 255, 255, 255]
    private static let plainColors = [red, green, blue, white]

    nonisolated private static let plain = [
        "plain.jpg", "progressive.jpg", "srgb.jpg", "inks.jpg", "plain.png", "palette.png",
        "deep.png", "interlaced.png", "plain.webp", "lossless.webp", "animated.webp", "plain.gif",
        "interlaced.gif", "animated.gif", "plain.tiff", "lzw.tiff", "jpeg.tiff", "inks.tiff",
        "palette.tiff", "deep.tiff", "tiled.tiff", "tiled-inks.tiff", "plain.bmp", "palette.bmp",
        "alpha.bmp", "high.bmp", "plain.heic", "plain.avif", "plain.jxl", "lossy.jxl", "jpeg.jxl",
    ]

    @Test(arguments: plain) func `a sample has its colors`(name: String) async throws {
        try await expect(Self.plainColors, in: name, atMost: 40)
    }

    @Test(arguments: [
        "swapped.jpg", "swapped.png", "swapped.webp", "swapped.tiff", "swapped.avif", "swapped.bmp",
    ])
    func `the embedded profile of a sample is applied`(name: String) async throws {
        try await expect([Self.green, Self.red, Self.blue, Self.white], in: name, atMost: 40)
    }

    @Test(
        arguments: [
            // Encoded light of one half is 188 in sRGB.
            ("gamma.png", [188, 188, 188, 255]),
            // Red of Display P3 is a more intense red of sRGB.
            ("p3.png", [0, 0, 140, 255]),
            // One half with a profile of linear gray. The HEIC file has three channels.
            ("linear-gray.avif", [188, 188, 188, 255]), ("linear-gray.heic", [188, 188, 188, 255]),
            ("linear-gray.webp", [188, 188, 188, 255]),
        ] as [(String, Pixel)])
    func `the colors that a gamma or a profile describes are converted`(
        name: String, color: Pixel
    ) async throws { try await expect([color, color, color, color], in: name, atMost: 2) }

    @Test(arguments: [(31_270, true), (31_271, true), (34_570, false)] as [(UInt32, Bool)])
    func `a PNG file with the chromaticities and about the gamma of sRGB is sRGB`(
        whiteX: UInt32, isStandard: Bool
    ) {
        let points = [whiteX, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6_000]
        var file = Array(TestImages.png(1, 1)[..<33])
        for (type, numbers) in [("gAMA", [45_455]), ("cHRM", points)] {
            file += [0, 0, 0, UInt8(numbers.count * 4)] + Array(type.utf8)
            for number in numbers { withUnsafeBytes(of: number.bigEndian) { file += $0 } }
            file += [0, 0, 0, 0]
        }
        switch file.withUnsafeBytes({ ColorDescription.ofPNG($0) }) {
        case .sRGB?: #expect(isStandard)
        case .gamma?: #expect(!isStandard)
        default: Issue.record("The colors are not described.")
        }
    }

    @Test(arguments: ["alpha.png", "alpha.webp"])
    func `colors are multiplied by alpha`(name: String) async throws {
        try await expect(
            [[0, 0, 128, 128], [0, 128, 0, 128], [128, 0, 0, 128], [128, 128, 128, 128]], in: name,
            atMost: 1)
    }

    @Test func `a gray JPEG is gray`() async throws {
        try await expect(
            [[76, 76, 76, 255], [150, 150, 150, 255], [29, 29, 29, 255], Self.white],
            in: "gray.jpg", atMost: 4)
    }

    @Test(arguments: 1...8) func `the orientation is applied`(orientation: UInt16) async throws {
        let fixture = try ImageHelperFixture()
        let exif = TestImages.exif(orientation: orientation)
        let sample = try ImageHelperFixture.sample("plain.jpg")
        let file = try fixture.file(TestImages.adding(exif, to: sample))
        let (r, g, b, w) = (Self.red, Self.green, Self.blue, Self.white)
        let parts: [[Pixel]] = [
            [r, g, b, w], [g, r, w, b], [w, b, g, r], [b, w, r, g], [r, b, g, w], [b, r, w, g],
            [w, g, b, r], [g, w, r, b],
        ]
        let image = try await fixture.pixels(file)
        #expect(image.width == (orientation < 5 ? 48 : 32))
        Self.expect(parts[Int(orientation) - 1], in: image, atMost: 40, "\(orientation)")
    }

    @Test(arguments: [
        "plain.jpg", "plain.png", "plain.webp", "plain.gif", "plain.tiff", "plain.bmp",
        "plain.heic", "plain.jxl",
    ])
    func `an image is scaled to the requested size, and never enlarged`(name: String) async throws {
        let fixture = try ImageHelperFixture()
        let file = try fixture.file(sample: name)
        let small = try await fixture.pixels(file, width: 12, height: 100)
        #expect((small.width, small.height, small.fullWidth, small.fullHeight) == (12, 8, 48, 32))
        Self.expect(Self.plainColors, in: small, atMost: 40, "\(name)")
        let large = try await fixture.pixels(file, width: 1000, height: 1000)
        #expect(large.width == 48 && large.height == 32)
        try await fixture.scale(file, pixels: 24)
        #expect(try await fixture.outputSize == [24, 16])
        try await fixture.client.make(.square(pixels: 20), from: file, to: fixture.output)
        #expect(try await fixture.outputSize == [20, 20])
    }

    @Test func `a written PNG has the pixels of the image, also with alpha`() async throws {
        let fixture = try ImageHelperFixture()
        for name in ["plain.png", "alpha.png"] {
            let file = try fixture.file(sample: name)
            try await fixture.scale(file, pixels: 100, texts: ["Thumb::URI": "file:///a"])
            let original = try await fixture.pixels(file)
            let written = try await fixture.pixels(Array(fixture.output.utf8))
            #expect(written.bytes.elementsEqual(original.bytes), "\(name)")
        }
    }

    @Test func `the memory of pixels cannot be changed`() async throws {
        let fixture = try ImageHelperFixture()
        let image = try await fixture.pixels(try fixture.file(sample: "plain.png"))
        let memory = UnsafeMutableRawPointer(mutating: image.bytes.baseAddress)
        #expect(mprotect(memory, image.bytes.count, PROT_READ | PROT_WRITE) != 0)
    }

    @Test func `an image with more pixels than a window can show is reduced`() {
        let (width, height) = (16_000, 6_000)
        let factor = ImageLimits.factor(width, height)
        let (reducedWidth, reducedHeight) = (Double(width) * factor, Double(height) * factor)
        #expect((reducedWidth + 1) * (reducedHeight + 1) * 4 <= Double(PixelSize.maximumBytes))
        #expect(reducedWidth * reducedHeight * 4 > Double(PixelSize.maximumBytes) * 0.99)
    }

    @Test func `a process with libraries for a rare format also decodes common ones`() async throws
    {
        let fixture = try ImageHelperFixture()
        _ = try await fixture.pixels(try fixture.file(sample: "plain.jpg"))
        let first = try #require(fixture.client.processID)
        _ = try await fixture.pixels(try fixture.file(sample: "plain.heic"))
        let second = try #require(fixture.client.processID)
        #expect(second != first)
        _ = try await fixture.pixels(try fixture.file(sample: "plain.jpg"))
        #expect(fixture.client.processID == second)
    }

    @Test func `a file that is truncated during the call is not readable`() async throws {
        let fixture = try ImageHelperFixture()
        let path = try fixture.file(sample: "plain.jpg")
        // The kernel reports missing pages of a mapped file with this signal.
        _ = try await fixture.probe(path)
        let process = try #require(fixture.client.processID)
        kill(process, SIGSTOP)
        let job = Task { try await fixture.scale(path, pixels: 9) }
        try await poll { access("\(fixture.output).imagefeed-part", F_OK) == 0 }
        kill(process, SIGBUS)
        kill(process, SIGCONT)
        do { try await job.value } catch ImageProcessorError.notReadable {}
        // The file is not rejected afterwards.
        try await fixture.scale(path, pixels: 9)
    }

    @Test func `a missing library is reported with its package`() {
        #expect {
            try loadLibrary(["libnowhere.so.1"], package: "libnowhere1", 0) { _, _ in
                guard let text = strerror(ENOENT) else { return nil }
                return UnsafePointer(text)
            }
        } throws: { error in
            guard case ImageFailure.notSupported(let text) = error else { return false }
            return text.contains("install libnowhere1")
        }
    }

    // MARK: Samples

    private func expect(_ parts: [Pixel], in name: String, atMost difference: Int) async throws {
        let fixture = try ImageHelperFixture()
        let image = try await fixture.pixels(try fixture.file(sample: name))
        #expect(image.width == 48 && image.height == 32)
        Self.expect(parts, in: image, atMost: difference, name)
    }

    /// Compares the centers of the four parts of an image.
    private static func expect(
        _ parts: [Pixel], in image: DecodedPixels, atMost difference: Int, _ name: String
    ) {
        for (index, part) in parts.enumerated() {
            let x = image.width * (index % 2 * 2 + 1) / 4
            let y = image.height * (index / 2 * 2 + 1) / 4
            let offset = (y * image.width + x) * 4
            for channel in 0..<4 {
                let value = Int(image.bytes[offset + channel])
                #expect(
                    abs(value - Int(part[channel])) <= difference,
                    "\(name), part \(index), channel \(channel): \(value)")
            }
        }
    }
}
