import Contract
import DBus
import Dispatch
import FoundationEssentials
import Glibc
import ImageMetadata
import System
import TestSupport
import Testing

struct DownloadFileTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func path(_ name: String) -> PathBytes { PathBytes(directory.appending("tmp/\(name)")) }

    private func file(_ name: String, _ conflict: DownloadFile.Conflict) throws -> DownloadFile {
        let file = try DownloadFile(at: path(name), conflict)
        #expect(write(file.descriptor.rawValue, "new", 3) == 3)
        return file
    }

    /// Returns the files with their contents.
    private func contents() throws -> [String: String] {
        let folder = directory.appending("tmp")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        return try Dictionary(
            uniqueKeysWithValues: names.map {
                ($0, try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8))
            })
    }

    @Test(arguments: [DownloadFile.Conflict.refuse, .replace, .number])
    func `an incomplete file has no name`(conflict: DownloadFile.Conflict) throws {
        let complete = try file("photo.jpg", conflict)
        #expect(try contents() == [:])
        #expect(try complete.finish() == path("photo.jpg"))
        #expect(try contents() == ["photo.jpg": "new"])
        let discarded = try file("second.jpg", conflict)
        discarded.discard()
        #expect(try contents() == ["photo.jpg": "new"])
    }

    @Test(arguments: [
        ("photo", "photo.heic"), ("photo.jpg", "photo.heic"), ("photo.v1", "photo.v1.heic"),
        ("photo.heic", "photo.heic"),
    ])
    func `the content determines the extension of a generated name`(
        expected: String, name: String
    ) throws {
        let file = try DownloadFile(at: path(expected), .refuse, isNamedByContent: true)
        let content = "\u{0}\u{0}\u{0}\u{18}ftypheic"
        #expect(write(file.descriptor.rawValue, content, 12) == 12)
        #expect(try file.finish() == path(name))
        #expect(try contents().keys.sorted() == [name])
    }

    @Test(
        arguments: [
            (
                Array("II*\0".utf8) + [8, 0, 0, 0, 1, 0, 0x12, 0xc6, 1, 0, 4, 0, 0, 0, 1, 4, 0, 0],
                "dng"
            ),
            (Array("II*\0".utf8) + [16, 0, 0, 0] + Array("CR\u{2}\0".utf8), "cr2"),
            (
                Array("MM\0*".utf8) + [
                    0, 0, 0, 8, 0, 2, 1, 0x0f, 0, 2, 0, 0, 0, 6, 0, 0, 0, 34, 1, 0x4a,
                ]
                    + [0, 4, 0, 0, 0, 1, 0, 0, 0, 0] + Array("NIKON\0".utf8), "nef"
            ),
            (Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 0], "tif"), (Array("II*\0".utf8), "tif"),
            ([0, 0, 0, 0x18] + Array("ftypcrx ".utf8), "cr3"),
            (Array("FUJIFILMCCD-RAW 0201".utf8), "raf"),
            (Array("RIFF\u{1}\0\0\0WEBPVP8 ".utf8), "webp"), ([0xff, 0x0a, 0], "jxl"),
            (Array("BM".utf8) + [UInt8](repeating: 0, count: 12) + [40, 0, 0, 0], "bmp"),
            (Array("<html>".utf8), nil), ([], nil),
        ] as [([UInt8], String?)])
    func `the type of an image is detected`(bytes: [UInt8], nameExtension: String?) {
        #expect(ImageFormat.fileExtension(of: Bytes(bytes)) == nameExtension)
        // No prefix of a file reads outside of it.
        for count in 0..<bytes.count {
            _ = ImageFormat.fileExtension(of: Bytes(Array(bytes[..<count])))
        }
    }

    @Test func `a file that exists remains if it must not be replaced`() throws {
        let late = try file("photo.jpg", .refuse)
        try directory.write("old", to: "tmp/photo.jpg")
        #expect(throws: DownloadFileError.self) { try file("photo.jpg", .refuse) }
        #expect(throws: DownloadFileError.self) { try late.finish() }
        #expect(try contents() == ["photo.jpg": "old"])
    }

    @Test func `a replaced file remains until the new one is complete, and keeps its mode`() throws
    {
        try directory.write("old", to: "tmp/photo.jpg")
        #expect(chmod(directory.appending("tmp/photo.jpg"), 0o604) == 0)
        let file = try file("photo.jpg", .replace)
        #expect(try contents() == ["photo.jpg": "old"])
        try file.finish()
        #expect(try contents() == ["photo.jpg": "new"])
        var status = stat()
        #expect(stat(directory.appending("tmp/photo.jpg"), &status) == 0)
        #expect(status.st_mode & 0o777 == 0o604)
    }

    @Test(arguments: [
        ("photo.jpg", "photo (2).jpg", "photo (3).jpg"), ("photo", "photo (2)", "photo (3)"),
        (".jpg", ".jpg (2)", ".jpg (3)"), ("a.b.jpg", "a.b (2).jpg", "a.b (3).jpg"),
    ])
    func `a number precedes the extension`(name: String, second: String, third: String) throws {
        let files = try (0..<3).map { _ in try file(name, .number) }
        #expect(try files.map { try $0.finish() } == [name, second, third].map(path))
        #expect(try contents() == [name: "new", second: "new", third: "new"])
    }

    @Test func `files that replace others at the same time keep their contents`() throws {
        let files = try (0..<10).map { number in
            let file = try DownloadFile(at: path("\(number)"), .replace)
            #expect(write(file.descriptor.rawValue, "\(number)", 1) == 1)
            return file
        }
        DispatchQueue.concurrentPerform(iterations: files.count) { number in
            #expect(throws: Never.self) { try files[number].finish() }
        }
        #expect(
            try contents() == Dictionary(uniqueKeysWithValues: (0..<10).map { ("\($0)", "\($0)") }))
    }
}
