import EngineModel
import FoundationEssentials
import Glibc
import ProviderKit
import TestSupport
import Testing

@testable import LocalProvider

/// The rule by which likes follow files, see `PhotoFile`.
@Suite(.timeLimit(.minutes(10))) struct MarkedFileTests {
    /// The state of the daemon while files are changed.
    enum Daemon: CaseIterable {
        case running
        /// Running, and each change is scanned before the next.
        case refreshing
        case stopped
        /// Stopped, and the cache is deleted.
        case wiped
    }

    /// Scans everything.
    func scan(_ fixture: PhotosFixture) async throws { _ = try await fixture.session.refresh(.all) }

    /// Changes files, and returns a fixture that has scanned them.
    func change(
        _ fixture: PhotosFixture, _ daemon: Daemon, _ steps: (() throws -> Void)...
    ) async throws -> PhotosFixture {
        var fixture = fixture
        switch daemon {
        case .running: for step in steps { try step() }
        case .refreshing:
            for step in steps {
                try step()
                try await scan(fixture)
            }
        case .stopped, .wiped:
            fixture = try await fixture.restarted(withCache: daemon == .stopped) {
                for step in steps { try step() }
            }
        }
        try await scan(fixture)
        return fixture
    }

    /// The photos with a like in all photos and in the source of likes, by title.
    func liked(_ fixture: PhotosFixture) async throws -> [String] {
        try await likedIDs(fixture).flatMap { title, ids in ids.map { _ in title } }.sorted()
    }

    /// Their IDs, by title.
    func likedIDs(_ fixture: PhotosFixture) async throws -> [String: [PhotoID]] {
        let marked = try await fixture.photos().filter(\.isLiked)
        #expect(try await fixture.titles(.likes) == marked.map { $0.title ?? "" })
        return Dictionary(grouping: marked) { $0.title ?? "" }.mapValues { $0.map(\.id) }
    }

    /// A JPEG file with a capture time.
    func jpeg(_ taken: String, fraction: String = "", _ pixels: [UInt8]) -> [UInt8] {
        PhotosFixture.jpeg(taken: taken, fraction: fraction, pixels)
    }

    /// A folder with photos, of which the user likes `a`, and its ID.
    func likedPhoto(among photos: [String]) async throws -> (PhotosFixture, PhotoID) {
        let folder = try await PhotosFixture.scanned(photos, liking: "a")
        return (folder, try await folder.id("a"))
    }

    /// A folder with the liked photo `a.jpg`, and its ID.
    private func likedPhoto(_ bytes: [UInt8]) async throws -> (PhotosFixture, PhotoID) {
        // A pictures folder that is created later ends the knowledge about names until the next scan.
        let folder = try await PhotosFixture.scanned(["a.jpg"])
        try folder.add("a.jpg", seconds: 1_000_000, bytes: bytes)
        try await scan(folder)
        try await folder.like("a")
        return (folder, try await folder.id("a"))
    }

    /// A folder with the photos `a.jpg` and `b.jpg`, which have the same content.
    func copies() async throws -> PhotosFixture {
        let folder = try await PhotosFixture.scanned([])
        PhotosFixture.makeFolder(folder.root)
        for name in ["a.jpg", "b.jpg"] { try folder.overwrite(name, PhotosFixture.jpeg + [1]) }
        try await folder.become { try await folder.titles().count == 2 }
        return folder
    }

    // MARK: Names

    /// A stopped daemon does not know that the name was free: the new photo counts as an edit, also without the cache.
    @Test(arguments: Daemon.allCases)
    func `a photo with the name of a deleted one is not liked`(_ daemon: Daemon) async throws {
        let folder = try await PhotosFixture.scanned(
            ["IMG_0001.jpg", "IMG_0002.jpg"], liking: "IMG_0001")
        let again = try await change(
            folder, daemon,
            {
                // The inode number is not reused: a new file with it would be an edit while no events are recorded.
                link(folder.path("IMG_0001.jpg"), folder.directory.appending("tmp/deleted"))
                unlink(folder.path("IMG_0001.jpg"))
            },
            { try folder.add("IMG_0001.jpg", seconds: 7_000_000, bytes: PhotosFixture.jpeg + [7]) })
        #expect(try await again.titles() == ["IMG_0001", "IMG_0002"])
        let isUnknown = [.stopped, .wiped].contains(daemon)
        #expect(try await liked(again) == (isUnknown ? ["IMG_0001"] : []))
    }

    @Test(arguments: [Daemon.running, .wiped])
    func `a hidden photo does not lose its like to a copy`(_ daemon: Daemon) async throws {
        let (folder, id) = try await likedPhoto(among: ["x/a.jpg", "y/b.jpg"])
        try FileManager.default.copyItem(
            atPath: folder.path("x/a.jpg"), toPath: folder.path("y/copy.jpg"))
        let again = try await change(folder, daemon) { try folder.overwrite("x/.nomedia", []) }
        #expect(try await Set(again.titles()) == ["b", "copy"])
        #expect(try await liked(again) == [])
        unlink(folder.path("x/.nomedia"))
        try await again.become { try await again.titles(.likes) == ["a"] }
        #expect(try await again.id("a") == id)
    }

    @Test(arguments: [Daemon.running, .refreshing, .stopped])
    func `a photo that is edited while it is hidden keeps its like`(_ daemon: Daemon) async throws {
        let (folder, id) = try await likedPhoto(among: ["x/a.jpg", "b.jpg"])
        let marker = folder.path("x/.nomedia")
        let again = try await change(
            folder, daemon, { try PhotosFixture.write([], to: marker) },
            { try folder.add("x/a.jpg", seconds: 8_000_000, bytes: PhotosFixture.jpeg + [8]) },
            { unlink(marker) })
        try await again.become { try await again.titles().contains("a") }
        #expect(try await likedIDs(again) == ["a": [id]])
    }

    @Test func `a photo that returns with another name and metadata is liked`() async throws {
        let (folder, id) = try await likedPhoto()
        unlink(folder.path("a.jpg"))
        try await scan(folder)
        #expect(try await liked(folder) == [])
        try folder.overwrite("c.jpg", jpeg("2024:05:06 10:00:00+01:00", [1]))
        try await scan(folder)
        #expect(try await likedIDs(folder) == ["c": [id]])
    }

    /// Without the cache, nothing shows that the photo at the name of the deleted one is another one.
    @Test(arguments: Daemon.allCases)
    func `the likes of renumbered photos stay with their photos`(_ daemon: Daemon) async throws {
        let folder = try await PhotosFixture.scanned(
            (1...5).map { "IMG_000\($0).jpg" }, liking: "IMG_0001", "IMG_0003")
        func move(_ from: Int, _ to: Int) throws {
            try folder.move("IMG_000\(from).jpg", to: "IMG_000\(to).jpg")
        }
        let again = try await change(
            folder, daemon,
            { unlink(folder.path("IMG_0001.jpg")) }, { try move(2, 1) }, { try move(3, 2) },
            { try move(4, 3) }, { try move(5, 4) })
        #expect(try await again.titles().count == 4)
        #expect(
            try await liked(again)
                == (daemon == .wiped ? ["IMG_0001", "IMG_0002"] : ["IMG_0002"]))
    }

    @Test(arguments: [true, false])
    func `a photo that replaces a liked one is an edit of it`(hasOtherName: Bool) async throws {
        let folder = try await PhotosFixture.scanned(["x/a.jpg", "b.jpg"], liking: "a")
        try folder.move("b.jpg", to: "x/a.jpg")
        if hasOtherName {
            try check(link(folder.path("x/a.jpg"), folder.path("c.jpg")))
        } else {
            try folder.add("b.jpg", seconds: 9_000_000, bytes: PhotosFixture.jpeg + [9])
        }
        try await scan(folder)
        #expect(try await folder.titles().count == 2)
        #expect(try await liked(folder) == ["a"])
    }

    @Test(arguments: ["a", "b"])
    func `a photo at the path of a deleted one keeps its like`(name: String) async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg", "b.jpg"])
        let (path, other) = (folder.path("\(name).jpg"), name == "a" ? "b" : "a")
        // The first photo stays marked, because it is hidden, but it is gone.
        let first = try await folder.id(name)
        try await folder.session.setMarked([first], .hidden)
        unlink(path)
        try check(rename(folder.path("\(other).jpg"), path))
        try await scan(folder)
        try await folder.like(name)
        let second = try await folder.id(name)
        #expect(first != second)
        try folder.overwrite("\(name).jpg", PhotosFixture.jpeg + [9, 9])
        try await scan(folder)
        #expect(try await likedIDs(folder) == [name: [second]])
    }

    @Test(arguments: Daemon.allCases)
    func `a link that leads to another photo is not liked`(_ daemon: Daemon) async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg"])
        let paths = ["first", "second"].map(folder.directory.appending)
        for (index, path) in paths.enumerated() {
            try PhotosFixture.write(PhotosFixture.jpeg + [UInt8(index)], to: path)
            PhotosFixture.touch(path, seconds: 1_000_000)
        }
        symlink(paths[0], folder.path("link.jpg"))
        _ = try await folder.session.refresh(.all)
        try await folder.like("link")
        let again = try await change(folder, daemon) {
            symlink(paths[1], folder.directory.appending("tmp/new"))
            try check(rename(folder.directory.appending("tmp/new"), folder.path("link.jpg")))
        }
        #expect(try await liked(again) == [])
    }

    @Test(arguments: [Daemon.running, .refreshing], [true, false])
    func `a photo in a replaced folder is not liked`(_ daemon: Daemon, isLink: Bool) async throws {
        let folder = try await PhotosFixture.scanned(["b.jpg"])
        let paths = ["first", "second", "former"].map(folder.directory.appending)
        for (index, path) in paths.prefix(2).enumerated() {
            PhotosFixture.makeFolder(path)
            try PhotosFixture.write(PhotosFixture.jpeg + [UInt8(index)], to: "\(path)/a.jpg")
        }
        let place = folder.path("x")
        func insert(_ path: String) throws {
            try check(isLink ? symlink(path, place) : rename(path, place))
        }
        try insert(paths[0])
        try await scan(folder)
        try await folder.like("a")
        let again = try await change(folder, daemon) {
            try check(isLink ? unlink(place) : rename(place, paths[2]))
            try insert(paths[1])
        }
        #expect(try await again.titles().sorted() == ["a", "b"])
        #expect(try await liked(again) == [])
    }

    @Test(arguments: [Daemon.running, .refreshing, .stopped])
    func `a photo of equal size and date gets no like of another`(_ daemon: Daemon) async throws {
        let folder = try await PhotosFixture.scanned([])
        PhotosFixture.makeFolder(folder.root)
        for (index, name) in ["a.jpg", "b.jpg"].enumerated() {
            try folder.overwrite(name, PhotosFixture.jpeg + [UInt8(index)])
            PhotosFixture.touch(folder.path(name), seconds: 1_000_000)
        }
        try await folder.become { try await folder.titles().count == 2 }
        try await folder.like("a")
        let again = try await change(
            folder, daemon,
            { unlink(folder.path("a.jpg")) },
            { try folder.move("b.jpg", to: "a.jpg") })
        #expect(try await again.titles() == ["a"])
        #expect(try await liked(again) == [])
    }

    // MARK: Edits

    /// Edits the photo `a.jpg`, in place or by replacing it.
    private func edit(_ fixture: PhotosFixture, isInPlace: Bool, _ byte: UInt8 = 9) throws {
        let bytes = PhotosFixture.jpeg + [byte]
        if isInPlace { return try fixture.overwrite("a.jpg", bytes) }
        try fixture.add("a.jpg", seconds: 5_000_000 + Int(byte), bytes: bytes)
    }

    @Test(arguments: Daemon.allCases, [true, false])
    func `an edited photo keeps its like`(_ daemon: Daemon, isInPlace: Bool) async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg", "b.jpg"], liking: "a")
        let again = try await change(
            folder, daemon, { try edit(folder, isInPlace: isInPlace) },
            { if !isInPlace { try edit(folder, isInPlace: false, 10) } })
        #expect(try await liked(again) == ["a"])
    }

    /// A save on a full disk leaves an empty file, and is repeated later.
    @Test(arguments: Daemon.allCases, ["a", "m"])
    func `a like survives a file that is no image`(_ daemon: Daemon, title: String) async throws {
        var folder = try await PhotosFixture.scanned(["a.jpg", "b.jpg"], liking: "a")
        let id = try await folder.id("a")
        try folder.overwrite("a.jpg", [])
        PhotosFixture.touch(folder.path("a.jpg"), seconds: 1_000_000)
        try await scan(folder)
        #expect(try await folder.titles() == ["b"])
        #expect(try await liked(folder) == [])
        if title != "a" {
            folder = try await folder.restarted { [folder] in
                try folder.move("a.jpg", to: "\(title).jpg")
            }
        }
        let again = try await change(folder, daemon) {
            try folder.overwrite("\(title).jpg", PhotosFixture.jpeg + [9])
        }
        #expect(try await likedIDs(again) == [title: [id]])
    }

    @Test(arguments: [true, false])
    func `a new photo at the name of a non-image is not liked`(isMoved: Bool) async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg", "b.jpg"], liking: "a")
        try folder.overwrite("a.jpg", [])
        PhotosFixture.touch(folder.path("a.jpg"), seconds: 1_000_000)
        try await scan(folder)
        let again = try await change(
            folder, .refreshing,
            {
                if isMoved { return try folder.move("a.jpg", to: "m.jpg") }
                unlink(folder.path("a.jpg"))
            },
            { try folder.add("a.jpg", seconds: 5_000_000, bytes: PhotosFixture.jpeg + [9]) })
        #expect(try await again.titles().contains("a"))
        #expect(try await liked(again) == [])
    }

    /// Programs exchange the names of a photo and its edit, so that both always exist, and delete the former file.
    @Test(arguments: Daemon.allCases, ["t.jpg", ".a.jpg.tmp"])
    func `a photo exchanged with its edit is liked`(_ daemon: Daemon, name: String) async throws {
        let (folder, id) = try await likedPhoto(among: ["a.jpg", "b.jpg"])
        let again = try await change(
            folder, daemon,
            {
                try folder.overwrite(name, PhotosFixture.jpeg + [9])
                try folder.exchange("a.jpg", name)
            },
            { unlink(folder.path(name)) })
        #expect(try await likedIDs(again) == ["a": [id]])
    }

    @Test(arguments: Daemon.allCases)
    func `the like of a photo that is exchanged follows it`(_ daemon: Daemon) async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg", "b.jpg"], liking: "a")
        let again = try await change(folder, daemon) { try folder.exchange("a.jpg", "b.jpg") }
        #expect(try await again.titles().count == 2)
        #expect(try await liked(again) == ["b"])
    }

    /// Programs rename the photo to a backup, which any name may have, and write the edit under its name.
    @Test(arguments: Daemon.allCases)
    func `a photo with edited metadata and a backup keeps its like`(_ daemon: Daemon) async throws {
        let (folder, id) = try await likedPhoto(jpeg("2026:05:01 10:00:00", [1]))
        var again = try await change(folder, daemon) {
            try folder.move("a.jpg", to: "a.jpg.bak")
            // The file size is another one.
            try folder.add(
                "a.jpg", seconds: 5_000_000,
                bytes: jpeg("2026:05:01 11:00:00", fraction: "25", [1]))
        }
        #expect(try await again.titles().count == 2)
        again = try await change(again, .running) { unlink(folder.path("a.jpg.bak")) }
        #expect(try await likedIDs(again) == ["a": [id]])
    }

    /// Programs write the edit under another name, which a scan may find before they rename it.
    @Test(arguments: Daemon.allCases, [true, false])
    func `a photo whose metadata is edited keeps its like if its new file was a photo before`(
        _ daemon: Daemon, isDeleted: Bool
    ) async throws {
        let (folder, id) = try await likedPhoto(jpeg("2026:05:01 10:00:00", [1]))
        let edit = jpeg("2026:05:01 11:00:00+01:00", [1]) + Array("a.jpg".utf8)
        try folder.overwrite("t.jpg", edit)
        try await scan(folder)
        let again = try await change(folder, daemon) {
            if isDeleted { unlink(folder.path("a.jpg")) }
            try folder.move("t.jpg", to: "a.jpg")
        }
        #expect(try await again.titles() == ["a"])
        #expect(try await likedIDs(again) == ["a": [id]])
    }

    /// One scan finds the edit and the moves.
    @Test(arguments: [true, false], [["m.jpg"], ["x/m.jpg", "m.jpg"], [".m", "x/m.jpg"]])
    func `a photo edited and moved stays liked`(isInPlace: Bool, paths: [String]) async throws {
        let (folder, id) = try await likedPhoto(among: ["a.jpg", "x/b.jpg"])
        let again = try await change(folder, .running) {
            try edit(folder, isInPlace: isInPlace)
            for (from, to) in zip(["a.jpg"] + paths, paths) { try folder.move(from, to: to) }
        }
        #expect(try await likedIDs(again) == ["m": [id]])
    }

    @Test func `an edited photo keeps its like if its folder is then moved`() async throws {
        let (folder, id) = try await likedPhoto(among: ["x/a.jpg", "b.jpg"])
        let again = try await change(folder, .running) {
            try folder.overwrite("x/a.jpg", PhotosFixture.jpeg + [9])
            try folder.move("x", to: "y")
        }
        #expect(try await likedIDs(again) == ["a": [id]])
    }

    @Test(arguments: [true, false])
    func `an edited photo with the name of a deleted one is liked`(isReplaced: Bool) async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg", "m.jpg"], liking: "a", "m")
        let id = try await folder.id("a")
        let again = try await change(folder, .running) {
            unlink(folder.path("m.jpg"))
            try folder.overwrite("a.jpg", PhotosFixture.jpeg + [9])
            try folder.move("a.jpg", to: "m.jpg")
            // Another photo gets the former name.
            if isReplaced {
                try folder.add("a.jpg", seconds: 5_000_000, bytes: PhotosFixture.jpeg + [7])
            }
        }
        #expect(try await likedIDs(again) == ["m": [id]])
    }

    /// The new photo is moved, not the liked one.
    @Test func `a new photo at the name of a deleted one is not liked after a move`() async throws {
        let folder = try await PhotosFixture.scanned(["a.jpg", "b.jpg"], liking: "a")
        let again = try await change(folder, .running) {
            unlink(folder.path("a.jpg"))
            try folder.add("a.jpg", seconds: 5_000_000, bytes: PhotosFixture.jpeg + [9])
            try folder.move("a.jpg", to: "m.jpg")
        }
        #expect(try await again.titles().sorted() == ["b", "m"])
        #expect(try await liked(again) == [])
    }

    /// Capture times do not show that a photo at a name that was free is the same: those of a burst are equal. A stopped daemon does not know that the name was free.
    @Test(arguments: [Daemon.running, .refreshing], [true, false])
    func `equal image data at a free name is liked`(_ daemon: Daemon, isEqual: Bool) async throws {
        let (folder, _) = try await likedPhoto(jpeg("2026:05:01 10:00:00", fraction: "25", [1]))
        let again = try await change(folder, daemon) {
            unlink(folder.path("a.jpg"))
            try folder.add(
                "a.jpg", seconds: 5_000_000,
                bytes: isEqual
                    ? jpeg("2026:05:01 11:00:00", [1])
                    : jpeg("2026:05:01 10:00:00", fraction: "25", [2]))
        }
        #expect(try await again.titles() == ["a"])
        #expect(try await liked(again) == (isEqual ? ["a"] : []))
    }

    @Test(arguments: Daemon.allCases)
    func `likes follow a chain of moves through names`(_ daemon: Daemon) async throws {
        let names = ["a", "b", "c", "d"]
        let folder = try await PhotosFixture.scanned(["e.jpg"])
        /// Writes new files, as programs do that move files between disks.
        func write(first: UInt8) throws {
            for (index, name) in names.enumerated() {
                unlink(folder.path("\(name).jpg"))
                try folder.overwrite(
                    "\(name).jpg", PhotosFixture.jpeg + [(UInt8(index) + first) % 4])
            }
        }
        try write(first: 0)
        try await scan(folder)
        for name in ["a", "b", "c"] { try await folder.like(name) }
        let again = try await change(folder, daemon) { try write(first: 3) }
        #expect(try await Set(liked(again)) == ["b", "c", "d"])
    }

    @Test func `a file with other image data loses the like to one with equal data`() async throws {
        let (folder, _) = try await likedPhoto(PhotosFixture.jpeg + [1])
        // A stopped daemon does not know if the inode number belongs to another file now.
        let again = try await change(folder, .stopped) {
            try folder.overwrite("a.jpg", PhotosFixture.jpeg + [2])
            try folder.overwrite("c.jpg", PhotosFixture.jpeg + [1] + Array("a.jpg".utf8))
        }
        #expect(try await liked(again) == ["c"])
    }

    /// A corrected clock of a camera is the most usual edit.
    @Test(arguments: Daemon.allCases, [("10:00:01", "25"), ("10:00:00", "50")])
    func `a photo that is written in place with another capture time keeps its like`(
        _ daemon: Daemon, _ time: (String, String)
    ) async throws {
        let (folder, _) = try await likedPhoto(jpeg("2026:05:01 10:00:00", fraction: "25", [1]))
        let again = try await change(folder, daemon) {
            try folder.overwrite("a.jpg", jpeg("2026:05:01 \(time.0)", fraction: time.1, [2]))
        }
        #expect(try await again.titles() == ["a"])
        #expect(try await liked(again) == ["a"])
    }

    /// A file that is written in place is an edit, whatever its size, its dates and its image data are.
    @Test func `a photo written in place keeps its like with any size and date`() async throws {
        let (folder, _) = try await likedPhoto(jpeg("2026:05:01 10:00:00", [1]))
        // The content of a file is read and stored because its date has changed.
        PhotosFixture.touch(folder.path("a.jpg"), seconds: 2_000_000)
        try await scan(folder)
        #expect(try await liked(folder) == ["a"])
        let again = try await change(folder, .stopped) {
            try folder.overwrite("a.jpg", jpeg("2026:05:01 11:00:00", [2]))
            PhotosFixture.touch(folder.path("a.jpg"), seconds: 2_000_000)
        }
        #expect(try await again.titles() == ["a"])
        #expect(try await liked(again) == ["a"])
    }
}
