import FoundationEssentials
import Glibc
import System
import TestSupport
import Testing

@testable import LocalProvider

/// Changing the files.
extension FolderHistory {
    private func tick() -> Int {
        if number(0, 20) == 0 { clock -= 3600 }
        // Times have a granularity: files that are written at the same time have equal times.
        if number(0, 2) > 0 { clock += 1 }
        return clock
    }

    /// The bytes of a content. Many contents have the same size.
    private func bytes(_ content: Int) -> [UInt8] {
        let pixels =
            [UInt8](repeating: 7, count: content % 3) + Array("\(1_000_000 + content)".utf8)
        let taken = content + versions[content, default: 0] * 7
        let zone = hasMoreSteps && versions[content, default: 0] % 2 == 1 ? "+01:00" : ""
        let time =
            "2020:01:01 \(10 + taken / 3600):\(10 + taken / 60 % 50):\(10 + taken % 50)\(zone)"
        return PhotosFixture.jpeg(taken: time, fraction: "\(100 + taken % 900)", pixels)
    }

    func write(_ content: Int, to path: String, isInPlace: Bool) throws {
        let target = absolute(path)
        if isInPlace {
            try PhotosFixture.write(bytes(content), to: target)
            PhotosFixture.touch(target, seconds: tick())
        } else {
            let staged = directory.appending("staged")
            try PhotosFixture.write(bytes(content), to: staged)
            PhotosFixture.touch(staged, seconds: tick())
            try check(rename(staged, target))
        }
    }

    /// Moves a file, also to another file system.
    ///
    /// - Returns: True if it was copied.
    private func moveFile(_ from: String, _ to: String) throws -> Bool {
        let disk = absolute("d/")
        guard from.hasPrefix(disk) != to.hasPrefix(disk), readTarget(Array(from.utf8)) == nil
        else {
            try check(rename(from, to))
            return false
        }
        let status = try #require(FileStatus(Array(from.utf8)))
        let staged = directory.appending("copied")
        try Data(contentsOf: URL(filePath: from)).write(to: URL(filePath: staged))
        PhotosFixture.touch(staged, seconds: Int(status.stamp.modified / 1_000_000_000))
        try check(rename(staged, to))
        keepInode(from)
        try check(unlink(from))
        return true
    }

    /// Changes the date of a file that would have the path or the inode, the size and the date of another content,
    /// because it counts as that one. A new file would also count as a deleted copy, whose time of creation it does not
    /// have.
    func settle(_ path: String, isNew: Bool = false) throws {
        guard let content = files[path] else { return }
        while true {
            let file = try #require(FileStatus(Array(absolute(path).utf8))).stamp
            let keys = [Self.key(path, file), "\(file)"]
            let isKnown = isNew && contents["\(file)"] != nil
            if !isKnown, keys.allSatisfy({ contents[$0, default: content] == content }) {
                for key in keys { contents[key] = content }
                return
            }
            PhotosFixture.touch(absolute(path), seconds: Int(file.modified / 1_000_000_000) + 1)
        }
    }

    private static func key(_ path: String, _ file: FileStamp) -> String {
        "\(path) \(file.sizeBytes) \(file.modified)"
    }

    func create(at path: String) throws {
        lastContent += 1
        record("create \(path): \(lastContent)")
        try write(lastContent, to: path, isInPlace: number(0, 1) == 0)
        files[path] = lastContent
        replaced.insert(path)
        try settle(path, isNew: true)
    }

    func delete(_ path: String) throws {
        record("delete \(path)")
        replaced.insert(path)
        keepInode(absolute(path))
        try check(unlink(absolute(path)))
        files[path] = nil
        links[path] = nil
    }

    /// Prevents that the inode number of a file is used again: a new file with it would be an edit while no events are
    /// recorded.
    func keepInode(_ path: String) {
        deleted += 1
        link(path, directory.appending("trash/\(deleted)"))
    }

    func move(_ from: String, _ to: String) throws {
        guard from != to, let content = files[from] else { return }
        // Two names of one file: rename(2) does nothing.
        let (a, b) = (FileStatus(Array(absolute(from).utf8)), FileStatus(Array(absolute(to).utf8)))
        guard a?.stamp.inode != b?.stamp.inode else { return }
        // The name is free for a moment, as it is while files are renumbered: a file that replaces another would be an
        // edit, which ``edit()`` makes.
        if files[to] != nil { try delete(to) }
        record("move \(from) → \(to)")
        replaced.formUnion([from, to])
        let isCopied = try moveFile(absolute(from), absolute(to))
        files[from] = nil
        files[to] = content
        links[to] = links.removeValue(forKey: from)
        try settle(to, isNew: isCopied)
    }

    private func copy(_ from: String, _ to: String, keepsTime: Bool) throws {
        guard let content = files[from], from != to else { return }
        let status = try #require(FileStatus(Array(absolute(from).utf8)))
        // Otherwise it would be an edit, see ``move(_:_:)``.
        if files[to] != nil { try delete(to) }
        replaced.insert(to)
        record("copy \(from) → \(to)")
        try write(content, to: to, isInPlace: false)
        if keepsTime {
            PhotosFixture.touch(absolute(to), seconds: Int(status.stamp.modified / 1_000_000_000))
        }
        files[to] = content
        try settle(to, isNew: true)
    }

    /// Gives a file another inode number.
    func renew(_ path: String) throws {
        guard let content = files[path], links[path] == nil else { return }
        let status = try #require(FileStatus(Array(absolute(path).utf8)))
        keepInode(absolute(path))
        try write(content, to: path, isInPlace: false)
        PhotosFixture.touch(absolute(path), seconds: Int(status.stamp.modified / 1_000_000_000))
        try settle(path, isNew: true)
    }

    func step() async throws {
        switch number(0, 20) {
        case 0, 1: try create(at: files.count < 10 ? freePath() : replacedPath())
        case 2, 3: if let path = usedPath() { try delete(path) }
        // Another photo reuses the name.
        case 4, 5:
            if let path = usedPath() {
                try delete(path)
                try create(at: path)
            }
        case 6, 7: if let path = usedPath() { try move(path, anyPath()) }
        case 8: if let path = usedPath() { try copy(path, anyPath(), keepsTime: number(0, 1) == 0) }
        case 9: if files.count < 12, let path = usedPath() { try copyAway(path) }
        case 10: try renumber()
        case 11: try moveFolder()
        case 12: if let path = usedPath() { try touch(path) }
        case 13: try swap()
        case 14:
            if hasMoreSteps, number(0, 1) == 0 {
                deleteUsedIndex()
            } else {
                try await restart(wipe: false)
            }
        case 15: try await restart(wipe: number(0, 1) == 0)
        case 16: try await setPlugged(!isPlugged)
        case 17: if files.count < 12, let path = usedPath() { try hardLink(path) }
        case 18: if files.count < 12 { try makeLink() }
        case 19: changeAttributes()
        default: addOther()
        }
    }

    private func replacedPath() throws -> String {
        let path = anyPath()
        if files[path] != nil { try delete(path) }
        return path
    }

    /// Moves a file by copying it, as programs do between disks.
    private func copyAway(_ path: String) throws {
        try copy(path, freePath(), keepsTime: true)
        try delete(path)
    }

    private func touch(_ path: String) throws {
        // A file that replaced another since the last scan, also under another name, would be an edit with another date.
        let inode = FileStatus(Array(absolute(path).utf8))?.stamp.inode
        let isMoved = replaced.contains { path in
            files[path] != nil && FileStatus(Array(absolute(path).utf8))?.stamp.inode == inode
        }
        guard !isMoved else { return }
        record("touch \(path)")
        PhotosFixture.touch(absolute(path), seconds: tick())
        for path in files.keys.sorted() where isPlugged || !path.hasPrefix("d/") {
            try settle(path)
        }
    }

    /// Closes the gaps in the numbers of a folder.
    private func renumber() throws {
        let folder = Self.folders[number(0, 2)]
        var next = 1
        for number in 1...4 {
            let prefix = folder.isEmpty ? "" : folder + "/"
            let from = "\(prefix)IMG_\(number).jpg"
            guard files[from] != nil else { continue }
            if number != next { try move(from, "\(prefix)IMG_\(next).jpg") }
            next += 1
        }
    }

    private func moveFolder() throws {
        for number in 1...4 {
            let (from, to) = ("x/IMG_\(number).jpg", "y/IMG_\(number).jpg")
            if files[from] != nil, files[to] == nil { try move(from, to) }
        }
    }

    private func swap() throws {
        guard let a = usedPath(), let b = usedPath(), a != b else { return }
        record("swap \(a) \(b)")
        replaced.formUnion([a, b])
        let kept = directory.appending("kept")
        // Both files may be on the disk, and the third path is not.
        var isNew = try moveFile(absolute(a), kept)
        let isCopied = try moveFile(absolute(b), absolute(a))
        if try moveFile(kept, absolute(b)) { isNew = true }
        (files[a], files[b]) = (files[b], files[a])
        (links[a], links[b]) = (links[b], links[a])
        try settle(a, isNew: isCopied)
        try settle(b, isNew: isNew)
    }

    private func hardLink(_ path: String) throws {
        let other = freePath()
        guard links[path] == nil, path.hasPrefix("d/") == other.hasPrefix("d/") else { return }
        record("hard link \(path) → \(other)")
        replaced.insert(other)
        try check(link(absolute(path), absolute(other)))
        files[other] = files[path]
        try settle(other)
        try settle(path)
    }

    /// Adds a link to a new file outside of the pictures folder.
    private func makeLink() throws {
        lastContent += 1
        let path = freePath()
        record("link \(path): \(lastContent)")
        replaced.insert(path)
        let target = directory.appending("outside/\(lastContent).jpg")
        try PhotosFixture.write(bytes(lastContent), to: target)
        PhotosFixture.touch(target, seconds: tick())
        try check(symlink(target, absolute(path)))
        files[path] = lastContent
        links[path] = target
        try settle(path)
    }

    /// Changes the attributes of all folders and files, as `chmod -R` does.
    private func changeAttributes() {
        record("attributes")
        for path in ["", "x", "y"] + files.keys.sorted() where isPlugged || !path.hasPrefix("d/") {
            chmod(
                absolute(path), path.hasSuffix("jpg") ? 0o600 + mode_t(number(0, 1) * 0o44) : 0o700)
        }
    }

    /// Adds an entry that is no photo, and is never closed.
    private func addOther() {
        record("pipe")
        mkfifo(absolute("pipe-\(number(1, 3))"), 0o600)
        symlink("nowhere", absolute("x/broken-\(number(1, 3)).jpg"))
    }
}
