import Glibc
import Logging
import ProviderKit
import Storage
import Synchronization
import System
import TestSupport
import Testing

@testable import LocalProvider

/// Changing the files of the simulated disk.
extension LikeHistory {
    func tick() -> Int64 {
        if number(0, 20) == 0 { clock -= 3_600_000_000_000 }
        // Times have a granularity: files that are written at the same time have equal times.
        if number(0, 2) > 0 { clock += 1_000_000_007 }
        return clock
    }

    func inode() -> Int64 {
        // Some file systems reuse the inodes of deleted files immediately.
        if let free = freeInodes.popLast(), number(0, 1) == 0 {
            // A file is not created at the same time as the former one.
            clock += 1_000_000_007
            return free
        }
        lastInode += 1
        return lastInode
    }

    private func newFile(_ content: Int, taken: Int64?) -> SimulatedFile {
        let inode = inode()
        let now = tick()
        return SimulatedFile(
            content: content, inode: inode, birth: now, modified: now, changed: now, taken: taken)
    }

    private func newContent() -> (content: Int, taken: Int64?) {
        lastContent += 1
        // Some photos have no capture time.
        return (lastContent, lastContent % 3 == 0 ? nil : Int64(lastContent))
    }

    private func free(_ path: RelativePath) {
        freed.insert(path)
        touched.insert(path)
    }

    func create(at path: RelativePath) {
        record("create", path)
        let (content, taken) = newContent()
        files[path] = newFile(content, taken: taken)
        free(path)
    }

    func delete(_ path: RelativePath) {
        record("delete", path)
        if let file = files.removeValue(forKey: path) {
            if !files.values.contains(where: { $0.inode == file.inode }) {
                freeInodes.append(file.inode)
            }
        }
        free(path)
    }

    func move(_ from: RelativePath, _ to: RelativePath) {
        guard from != to, var file = files[from] else { return }
        record("move", from, to)
        // The name is free for a moment, as it is while files are renumbered.
        if files[to] != nil { delete(to) }
        file.changed = tick()
        files[from] = nil
        files[to] = file
        free(from)
        free(to)
    }

    private func copy(_ from: RelativePath, _ to: RelativePath, keepsTime: Bool) {
        guard let file = files[from], from != to else { return }
        record("copy", from, to)
        if files[to] != nil { delete(to) }
        var copy = newFile(file.content, taken: file.taken)
        if keepsTime { copy.modified = file.modified }
        // A file with the inode, size and date of an earlier one counts as that file, see `LikedFile`.
        while stamps.contains(copy.stamp) { copy.modified += 1 }
        files[to] = copy
        free(to)
    }

    func step() async throws {
        switch number(0, 15) {
        case 0, 1: create(at: files.count < 10 ? freePath() : anyPathReplaced())
        case 2, 3: if let path = usedPath() { delete(path) }
        // Another photo reuses the name.
        case 4, 5:
            if let path = usedPath() {
                delete(path)
                create(at: path)
            }
        case 6, 7: if let path = usedPath() { move(path, anyPath()) }
        case 8: if let path = usedPath() { copy(path, anyPath(), keepsTime: number(0, 1) == 0) }
        case 9: if files.count < 12, let path = usedPath() { copyAway(path) }
        case 10: renumber()
        case 11: moveFolder()
        case 12: if let path = usedPath() { touch(path) }
        case 13: swap()
        case 14: try await restart(wipe: false)
        default: try await restart(wipe: number(0, 1) == 0)
        }
    }

    private func anyPathReplaced() -> RelativePath {
        let path = anyPath()
        if files[path] != nil { delete(path) }
        return path
    }

    /// Moves a file by copying it, as programs do between disks.
    private func copyAway(_ path: RelativePath) {
        copy(path, freePath(), keepsTime: true)
        delete(path)
    }

    private func touch(_ path: RelativePath) {
        record("touch", path)
        files[path]?.modified = tick()
        touched.insert(path)
    }

    /// Closes the gaps in the numbers of a folder.
    private func renumber() {
        let folder = Self.folders[number(0, 2)]
        var next = 1
        for number in 1...4 {
            let prefix = folder.isEmpty ? "" : folder + "/"
            let from = path("\(prefix)IMG_\(number).jpg")
            guard files[from] != nil else { continue }
            if number != next { move(from, path("\(prefix)IMG_\(next).jpg")) }
            next += 1
        }
    }

    private func moveFolder() {
        for number in 1...4 {
            let (from, to) = (path("x/IMG_\(number).jpg"), path("y/IMG_\(number).jpg"))
            if files[from] != nil, files[to] == nil { move(from, to) }
        }
    }

    private func swap() {
        guard let a = usedPath(), let b = usedPath(), a != b else { return }
        record("swap", a, b)
        (files[a], files[b]) = (files[b], files[a])
        free(a)
        free(b)
    }
}
