import Glibc
import TestSupport
import Testing

@testable import Viewer

@Suite final class TrashTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// Writes a file, with its folders.
    private func write(_ path: String, _ text: String) {
        var folder = ""
        for part in path.split(separator: "/").dropLast() {
            folder += "/\(part)"
            mkdir(folder, 0o700)
        }
        guard let file = fopen(path, "w") else { return }
        fputs(text, file)
        fclose(file)
    }

    private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    @Test func `the file that was deleted last at a path is restored`() throws {
        let folder = directory.path
        let (trash, path) = ("\(folder)/Trash", "\(folder)/Sea 100 %.jpg")
        let stored = "\(folder)/Sea%20100%20%25.jpg"
        for (name, date, path) in [
            ("a.jpg", "2026-01-01T10:00:00", stored), ("b.jpg", "2026-01-02T10:00:00", stored),
            ("c.jpg", "2026-01-03T10:00:00", "\(folder)/other.jpg"),
        ] {
            write("\(trash)/files/\(name)", name)
            write(
                "\(trash)/info/\(name).trashinfo",
                "[Trash Info]\nPath=\(path)\nDeletionDate=\(date)\n")
        }
        #expect(Trash.restore(path, home: trash))
        #expect(exists(path))
        #expect(!exists("\(trash)/files/b.jpg") && !exists("\(trash)/info/b.jpg.trashinfo"))
        #expect(exists("\(trash)/files/a.jpg"))
        // The place is taken.
        #expect(!Trash.restore(path, home: trash))
        #expect(exists("\(trash)/files/a.jpg"))
    }

    @Test func `a file on another disk is restored from the trash of the disk`() throws {
        let folder = directory.path
        let (trash, path) = ("\(folder)/.Trash-\(getuid())", "\(folder)/2026/Sea.jpg")
        write("\(folder)/2026/Other.jpg", "")
        write("\(trash)/files/Sea.jpg", "")
        write(
            "\(trash)/info/Sea.jpg.trashinfo",
            "[Trash Info]\nPath=2026/Sea.jpg\nDeletionDate=2026-01-01T10:00:00\n")
        #expect(Trash.restore(path, home: "\(folder)/none"))
        #expect(exists(path))
    }
}
