import Glibc
import TestSupport
import Testing
import Toolkit

@testable import Viewer

@Suite final class UserFileTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test func `the file that was deleted last at a path is restored`() throws {
        let folder = directory.path
        let (trash, path) = ("\(folder)/Trash", "\(folder)/Sea 100 %.jpg")
        let stored = "\(folder)/Sea%20100%20%25.jpg"
        for (name, date, path) in [
            ("a.jpg", "2026-01-01T10:00:00", stored), ("b.jpg", "2026-01-02T10:00:00", stored),
            ("c.jpg", "2026-01-03T10:00:00", "\(folder)/other.jpg"),
        ] {
            try directory.write(name, to: "Trash/files/\(name)")
            try directory.write(
                "[Trash Info]\nPath=\(path)\nDeletionDate=\(date)\n",
                to: "Trash/info/\(name).trashinfo")
        }
        #expect(UserFile.restore(path, home: trash))
        #expect(directory.has("Sea 100 %.jpg"))
        #expect(!directory.has("Trash/files/b.jpg") && !directory.has("Trash/info/b.jpg.trashinfo"))
        #expect(directory.has("Trash/files/a.jpg"))
        // The place is taken.
        #expect(!UserFile.restore(path, home: trash))
        #expect(directory.has("Trash/files/a.jpg"))
    }

    @Test func `a file on another disk is restored from the trash of the disk`() throws {
        let folder = directory.path
        let trash = ".Trash-\(getuid())"
        try directory.write("", to: "2026/Other.jpg")
        try directory.write("", to: "\(trash)/files/Sea.jpg")
        try directory.write(
            "[Trash Info]\nPath=2026/Sea.jpg\nDeletionDate=2026-01-01T10:00:00\n",
            to: "\(trash)/info/Sea.jpg.trashinfo")
        #expect(UserFile.restore("\(folder)/2026/Sea.jpg", home: "\(folder)/none"))
        #expect(directory.has("2026/Sea.jpg"))
    }
}
