import Contract
import DBus
import Foundation
import Glibc
import Logging
import ProviderKit
import TestSupport
import Testing

@testable import BusService

/// Tests of the files with the current photo of a slideshow.
@Suite @MainActor
struct SlideshowFilesTests {
    private let directory: TemporaryDirectory
    private let folder: String
    private let files: SlideshowFiles

    init() throws {
        directory = try TemporaryDirectory()
        folder = directory.appending("folder")
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        files = SlideshowFiles(folder: folder, name: "", logger: logger)
    }

    private func show(_ id: String) {
        files.update(PhotoEntry(Photo(id: PhotoID(id)), account: "/a"), image: "/images/\(id)")
    }

    private func expectFiles(of id: String) throws {
        let link = "\(folder)/current"
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "/images/\(id)")
        let document = try String(contentsOfFile: "\(link).json", encoding: .utf8)
        #expect(document.contains("\"id\":\"\(id)\""))
    }

    @Test func `files that cannot be written are removed and written at the next change`() throws {
        show("a")
        try expectFiles(of: "a")
        // The file in this folder makes it impossible to write the document.
        try directory.write("", to: "folder/current.json.new/file")
        show("b")
        let rest = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(rest == ["current.json.new"])
        try FileManager.default.removeItem(atPath: "\(folder)/current.json.new")
        show("b")
        try expectFiles(of: "b")
    }

    @Test func `a folder that exists becomes accessible only to the user`() throws {
        try directory.write("", to: "folder/file")
        chmod(folder, 0o755)
        show("a")
        try expectFiles(of: "a")
        var status = stat()
        #expect(stat(folder, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o700)
    }

    @Test func `files that were deleted are written at the next event`() throws {
        show("a")
        try FileManager.default.removeItem(atPath: folder)
        show("a")
        try expectFiles(of: "a")
    }

    @Test func `the files of slideshows that do not exist are deleted`() throws {
        for name in ["current", "current-a", "current-b"] {
            for suffix in ["", ".json", ".json.new"] {
                try directory.write("", to: "folder/\(name)\(suffix)")
            }
        }
        SlideshowFiles.delete(in: folder, besides: ["", "a"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == [
                "current", "current-a", "current-a.json", "current-a.json.new", "current.json",
                "current.json.new",
            ])
    }
}
