import ImageMetadata
import Testing

@Suite struct ImageFormatTests {
    private static let samples: [(String, ImageFormat)] = [
        ("\u{ff}\u{d8}\u{ff}\u{e0}", .jpeg), ("\u{89}PNG\r\n\u{1a}\n", .png),
        ("RIFF\0\0\0\0WEBPVP8 ", .webP), ("GIF89a", .gif),
        ("II*\0\u{8}\0\0\0", .tiff), ("\0\0\0\u{18}ftypavif\0\0\0\0mif1", .avif),
        ("\0\0\0\u{18}ftypmif1\0\0\0\0heic", .heic), ("\0\0\0\u{18}ftypmif1\0\0\0\0miaf", .heic),
        ("\0\0\0\u{1c}ftypmif1\0\0\0\0miafavif", .avif), ("\u{ff}\n\0", .jpegXL),
    ]

    @Test(arguments: samples)
    func `a format is detected by the first bytes`(prefix: String, format: ImageFormat) {
        // Each character represents one byte.
        let bytes = prefix.unicodeScalars.map { UInt8($0.value) }
        #expect(ImageFormat(prefix: bytes) == format)
    }

    @Test(arguments: [
        "", "BM, dear diary", "<html>", "II*\0\u{10}\0\0\0CR", "\0\0\0\u{18}ftypisom\0\0\0\0mp42",
    ])
    func `a file without an image has no format`(text: String) {
        #expect(ImageFormat(prefix: Array(text.utf8)) == nil)
    }

    @Test(arguments: [
        "II*\0\u{10}\0\0\0CR\u{2}\0", "\0\0\0\u{18}ftypcrx \0\0\0\u{1}", "FUJIFILMCCD-RAW 0201",
        "IIRO\u{8}\0\0\0", "IIU\0\u{18}\0\0\0",
    ])
    func `a raw file is an original, but not an image that can be decoded`(text: String) {
        let bytes = text.unicodeScalars.map { UInt8($0.value) }
        #expect(ImageFormat(original: bytes) == .raw)
        #expect(ImageFormat(prefix: bytes) == nil)
        #expect(ImageFormat(original: Array("GIF89a".utf8)) == .gif)
        #expect(ImageFormat(original: Array("<html>".utf8)) == nil)
    }

    @Test(arguments: ImageFormat.allCases)
    func `a format is found by its media type and its extension`(format: ImageFormat) {
        #expect(ImageFormat(mediaType: format.mediaType) == format)
        #expect(ImageFormat(fileExtension: format.fileExtension) == format)
        #expect(ImageFormat(name: "a.b.\(format.fileExtension.uppercased())") == format)
    }

    @Test func `other names of a format are known, and other types have none`() {
        #expect(ImageFormat(mediaType: "image/heif")?.fileExtension == "heic")
        #expect(ImageFormat(name: "https://photos.test/1.jfif") == .jpeg)
        #expect(ImageFormat(name: "1.jpe") == .jpeg && ImageFormat(name: "1.HIF") == .heic)
        for name in ["jpg", "a.jpg/b", "a.svg", ""] { #expect(ImageFormat(name: name) == nil) }
        #expect(ImageFormat(mediaType: "image/svg+xml") == nil)
    }
}
