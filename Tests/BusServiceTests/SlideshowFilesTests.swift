import Contract
import DBus
import Foundation
import Logging
import ProviderKit
import TestSupport
import Testing

@testable import BusService

/// Tests of the files with the current photo of a slideshow.
@Suite @MainActor
struct SlideshowFilesTests {
    @Test func `files that cannot be written are removed and written at the next change`() throws {
        let directory = try TemporaryDirectory()
        let folder = directory.appending("current")
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let files = SlideshowFiles(folder: folder, name: "", logger: logger)
        func show(_ id: String) {
            files.update(PhotoEntry(Photo(id: PhotoID(id)), account: "/a"), image: "/images/\(id)")
        }
        func expectFiles(of id: String) throws {
            let link = "\(folder)/current"
            #expect(
                try FileManager.default.destinationOfSymbolicLink(atPath: link) == "/images/\(id)")
            let document = try String(contentsOfFile: "\(link).json", encoding: .utf8)
            #expect(document.contains("\"id\":\"\(id)\""))
        }
        show("a")
        try expectFiles(of: "a")
        // The file in this folder makes it impossible to write the document.
        try directory.write("", to: "current/current.json.new/file")
        show("b")
        let rest = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(rest == ["current.json.new"])
        try FileManager.default.removeItem(atPath: "\(folder)/current.json.new")
        show("b")
        try expectFiles(of: "b")
    }

    @Test func `the files of slideshows that do not exist are deleted`() throws {
        let directory = try TemporaryDirectory()
        for name in ["current", "current-a", "current-b"] {
            for suffix in ["", ".json", ".json.new"] {
                try directory.write("", to: "folder/\(name)\(suffix)")
            }
        }
        let folder = directory.appending("folder")
        SlideshowFiles.delete(in: folder, besides: ["", "a"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == [
                "current", "current-a", "current-a.json", "current-a.json.new", "current.json",
                "current.json.new",
            ])
    }
}
